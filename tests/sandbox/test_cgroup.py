"""Control groups of version 2, told apart from version 1 by nothing but files: a folder stands in for the kernel."""

from pathlib import Path

import pytest

from sandbox import cgroup
from sandbox.box import Usage


@pytest.fixture
def group(tmp_path: Path) -> cgroup.Group:
    """What a kernel with version 2 shows of one group."""
    for name, text in {
        "cpu.stat": "usage_usec 1500000\nuser_usec 1\nsystem_usec 2\n",
        "memory.current": f"{3 << 20}\n",
        "memory.peak": f"{5 << 20}\n",
        "memory.events": "low 0\noom 3\noom_kill 2\noom_group_kill 0\n",
        "memory.swap.max": "max\n",
        "cgroup.procs": "",
    }.items():
        (tmp_path / name).write_text(text, encoding="ascii")
    return cgroup.Group(dict.fromkeys(cgroup.WANTED, tmp_path), unified=True)


def test_usage_is_read_from_version_2(group: cgroup.Group) -> None:
    """CPU time, peak and the kills for memory come from the unified files."""
    assert group.usage() == Usage(cpu_s=1.5, memory_peak_mib=5.0, oom_kills=2)


def test_an_older_kernel_tells_no_peak(group: cgroup.Group) -> None:
    """Before Linux 5.19 the present use stands in for it."""
    (group.folders["memory"] / "memory.peak").unlink()
    assert group.usage().memory_peak_mib == 3.0


def test_limits_are_written_in_version_2_s_words(group: cgroup.Group) -> None:
    """Memory has no swap beyond it, and processes have a maximum."""
    group.limit(64, 10)
    written = {path.name: path.read_text(encoding="ascii").strip() for path in group.folders["memory"].iterdir()}
    assert (written["memory.max"], written["memory.swap.max"], written["pids.max"]) == (str(64 << 20), "0", "10")


def test_without_any_mount_there_is_no_hierarchy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that shows no control groups gets fewer promises, not an error."""
    monkeypatch.setattr(cgroup, "_mounts", list)
    assert cgroup.find("test") is None
