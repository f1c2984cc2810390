"""A workspace never loses a file of the user's and never writes outside its folder."""

import json

import pytest

from web.client import workspace
from web.client.trouble import Trouble

BUNDLE = {
    "slug": "block-allocator",
    "revision": "abc",
    "title": "Block allocator",
    "files": {"README.md": "Read me", "solution.py": "stub", "tests/test_visible.py": "pass\n"},
}
HOST = "http://127.0.0.1:1"


def test_a_bundle_becomes_a_folder_that_knows_its_drill(tmp_path):
    workspace.write(tmp_path / "any-name", HOST, BUNDLE)
    found = workspace.find(tmp_path / "any-name" / "tests")
    assert (found.drill, found.revision, found.host) == ("block-allocator", "abc", HOST)
    assert found.read_solution() == "stub"


def test_a_second_start_keeps_the_users_solution_and_says_so(tmp_path):
    workspace.write(tmp_path, HOST, BUNDLE)
    (tmp_path / "solution.py").write_text("mine")
    kept = workspace.write(tmp_path, HOST, BUNDLE | {"revision": "def"})
    assert kept == ["solution.py"]
    assert (tmp_path / "solution.py").read_text() == "mine"
    assert workspace.find(tmp_path).revision == "def"


@pytest.mark.parametrize("name", ["../outside.py", "/tmp/prefill-outside.py", "tests/../../outside.py"])
def test_a_judge_cannot_write_outside_the_folder(tmp_path, name):
    with pytest.raises(Trouble, match="outside the folder"):
        workspace.write(tmp_path / "inside", HOST, BUNDLE | {"files": {name: "x"}})
    assert not (tmp_path / "outside.py").exists()


def test_outside_any_workspace_the_message_names_the_next_command(tmp_path):
    with pytest.raises(Trouble, match="prefill start SLUG") as trouble:
        workspace.find(tmp_path)
    assert trouble.value.exit_code == 2


def test_a_damaged_mark_is_named(tmp_path):
    (tmp_path / ".prefill.json").write_text("{")
    with pytest.raises(Trouble, match="is damaged"):
        workspace.find(tmp_path)


def test_a_solution_that_is_not_utf8_is_refused_before_it_is_sent(tmp_path):
    workspace.write(tmp_path, HOST, BUNDLE)
    (tmp_path / "solution.py").write_bytes(b"x = '\xff'")
    with pytest.raises(Trouble, match="not UTF-8 at byte 5"):
        workspace.find(tmp_path).read_solution()


def test_the_mark_is_plain_json(tmp_path):
    workspace.write(tmp_path, HOST, BUNDLE)
    assert json.loads((tmp_path / ".prefill.json").read_text()) == {
        "host": HOST,
        "drill": "block-allocator",
        "revision": "abc",
    }
