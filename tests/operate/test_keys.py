"""The keys that the house makes for itself."""

from pathlib import Path

import pytest
from nacl.public import PrivateKey

from web.operate import secrets
from web.operate.addresses import completed
from web.operate.complaint import Complaint


def keys(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_each_role_gets_its_keys_and_no_other(tmp_path: Path) -> None:
    """What a role does not need, it does not hold: the grader cannot open a case that it sealed."""
    secrets.distribute(tmp_path)
    held = {name for role, name in (key.split("/") for key in keys(tmp_path)) if role == "grader"}
    assert held == {"case_public_key", "report_key", "seed_key", "redis_password"}


def test_keys_outlive_a_second_start(tmp_path: Path) -> None:
    """Starting again changes nothing: sessions and sealed cases stay readable."""
    secrets.distribute(tmp_path)
    before = keys(tmp_path)
    secrets.distribute(tmp_path)
    assert keys(tmp_path) == before


def test_a_lost_copy_is_made_from_the_other(tmp_path: Path) -> None:
    """A role's folder that was lost gets the same shared key again."""
    secrets.distribute(tmp_path)
    kept = (tmp_path / "recorder" / "report_key").read_bytes()
    (tmp_path / "grader" / "report_key").unlink()
    secrets.distribute(tmp_path)
    assert (tmp_path / "grader" / "report_key").read_bytes() == kept


def test_the_public_key_belongs_to_the_private_one(tmp_path: Path) -> None:
    """What the grader seals, the web can open."""
    secrets.distribute(tmp_path)
    private = PrivateKey(secrets.read(tmp_path, "case_private_key"))
    assert (tmp_path / "grader" / "case_public_key").read_bytes() == bytes(private.public_key)


def test_only_the_owner_reads_a_key(tmp_path: Path) -> None:
    """Mode 0600 for each key, 0700 for each folder."""
    secrets.distribute(tmp_path)
    assert {file.stat().st_mode & 0o777 for file in tmp_path.rglob("*") if file.is_file()} == {0o600}
    assert {folder.stat().st_mode & 0o777 for folder in tmp_path.iterdir()} == {0o700}


def test_an_address_may_name_a_key(tmp_path: Path) -> None:
    """Compose holds no password: the address names the file."""
    (tmp_path / "redis_password").write_text("opensesame\n")
    env = {"PREFILL_SECRETS": str(tmp_path), "PREFILL_REDIS_URL": "redis://:{redis_password}@redis:6379/0"}
    assert completed(env)["PREFILL_REDIS_URL"] == "redis://:opensesame@redis:6379/0"


def test_a_key_that_is_missing_is_named(tmp_path: Path) -> None:
    """Which file, and what makes it."""
    env = {"PREFILL_SECRETS": str(tmp_path), "PREFILL_REDIS_URL": "redis://:{redis_password}@redis:6379/0"}
    with pytest.raises(Complaint, match="redis_password cannot be read"):
        completed(env)
