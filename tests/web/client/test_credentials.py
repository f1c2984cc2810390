"""Tokens: where they come from, how they are kept, and that they are never shown."""

import json
import stat

import pytest

from web.client import credentials
from web.client.trouble import Trouble

CANARY = "pfl_canary7f3a"


@pytest.fixture(autouse=True)
def _own_config(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("PREFILL_HOST", "PREFILL_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def test_the_environment_wins_over_the_file(monkeypatch):
    credentials.remember("http://a", "pfl_file")
    monkeypatch.setenv("PREFILL_HOST", "http://b/")
    monkeypatch.setenv("PREFILL_TOKEN", CANARY)
    assert (credentials.find().host, credentials.find().token) == ("http://b", CANARY)


def test_the_last_judge_signed_in_to_is_the_default_and_others_are_kept():
    credentials.remember("http://a", "pfl_a")
    credentials.remember("http://b", "pfl_b")
    assert credentials.find().host == "http://b"
    assert credentials.find("http://a").token == "pfl_a"


def test_the_file_is_for_its_owner_alone():
    path = credentials.remember("http://a", CANARY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["hosts"]["http://a"]["token"] == CANARY


def test_a_token_never_shows_in_a_repr():
    assert CANARY not in repr(credentials.Credentials("http://a", CANARY))


def test_without_a_judge_the_message_says_how_to_get_one():
    with pytest.raises(Trouble, match="make run") as trouble:
        credentials.find()
    assert trouble.value.exit_code == 4


def test_a_broken_file_is_named_and_not_overwritten():
    path = credentials.hosts_file()
    path.parent.mkdir(parents=True)
    path.write_text("not json")
    with pytest.raises(Trouble, match=str(path)):
        credentials.remember("http://a", CANARY)
    assert path.read_text() == "not json"


def test_a_folder_of_this_machine_follows_its_judge_to_another_port():
    credentials.remember("http://127.0.0.1:8000", "pfl_old")
    credentials.remember("http://127.0.0.1:8001", "pfl_new")
    assert credentials.find_for("http://127.0.0.1:8000").host == "http://127.0.0.1:8001"


def test_a_folder_of_another_machine_stays_with_its_judge():
    credentials.remember("https://prefill.example.org", "pfl_theirs")
    credentials.remember("http://127.0.0.1:8001", "pfl_here")
    assert credentials.find_for("https://prefill.example.org").token == "pfl_theirs"
