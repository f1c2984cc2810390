"""Kernel counters: what a guest used and whether memory killed it, read from outside while it lives.

Theory of operation. A guest's exit code and the engine's own flags lie about memory (both were seen wrong), so the only
witness is the `oom_kill` counter of the guest's control group, and it is gone with the group. Each guest therefore gets
a group of its own, below one folder per keeper (`prefill-<name>`), which also names everything that the guest ever
forked: killing the group leaves nobody behind. Versions 1 and 2 differ in where files lie and what they are called,
not in what they say. Where no group can be made (no root, nothing delegated) there is no `Hierarchy`, and the sandbox
promises less.
"""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from sandbox.box import Usage

WANTED = ("memory", "pids", "cpuacct")
MIB = 1024 * 1024
GONE_WITHIN_S = 5.0


def _read(path: Path) -> str:
    return path.read_text(encoding="ascii")


def _write(path: Path, value: object) -> None:
    path.write_text(f"{value}\n", encoding="ascii")


def _field(text: str, name: str) -> int:
    """The number behind `name` in a flat-keyed kernel file; 0 where that kernel has no such line."""
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


@dataclass(frozen=True, slots=True)
class Group:
    """The control group of one guest: one folder (version 2), or one a controller (version 1)."""

    folders: dict[str, Path]
    unified: bool

    def limit(self, memory_mib: int, processes: int) -> None:
        """Memory counts with swap, so that a guest can't grow into the host's."""
        memory, size = self.folders["memory"], memory_mib * MIB
        if self.unified:
            _write(memory / "memory.max", size)
            _write_if_there(memory / "memory.swap.max", 0)
        else:
            _write(memory / "memory.limit_in_bytes", size)
            _write_if_there(memory / "memory.memsw.limit_in_bytes", size)
        _write(self.folders["pids"] / "pids.max", processes)

    def enter(self, pid: int) -> None:
        for folder in set(self.folders.values()):
            _write(folder / "cgroup.procs", pid)

    def usage(self) -> Usage:
        return self._usage_unified() if self.unified else self._usage_split()

    def _usage_unified(self) -> Usage:
        folder = self.folders["memory"]
        peak = folder / "memory.peak"
        return Usage(
            cpu_s=_field(_read(folder / "cpu.stat"), "usage_usec") / 1e6,
            memory_peak_mib=int(_read(peak if peak.exists() else folder / "memory.current")) / MIB,
            oom_kills=_field(_read(folder / "memory.events"), "oom_kill"),
        )

    def _usage_split(self) -> Usage:
        memory = self.folders["memory"]
        return Usage(
            cpu_s=int(_read(self.folders["cpuacct"] / "cpuacct.usage")) / 1e9,
            memory_peak_mib=int(_read(memory / "memory.max_usage_in_bytes")) / MIB,
            oom_kills=_field(_read(memory / "memory.oom_control"), "oom_kill"),
        )

    def members(self) -> set[int]:
        found: set[int] = set()
        for folder in set(self.folders.values()):
            try:
                found.update(int(line) for line in _read(folder / "cgroup.procs").split())
            except FileNotFoundError:
                continue
        return found

    def kill(self) -> None:
        """SIGKILL until nobody is left: a fork that raced one round is met in the next."""
        deadline = time.monotonic() + GONE_WITHIN_S
        pause = 0.0005
        while members := self.members():
            if time.monotonic() > deadline:
                raise TimeoutError(f"processes {sorted(members)[:8]} outlive SIGKILL")
            self._kill_once(members)
            time.sleep(pause)
            pause = min(pause * 2, 0.02)

    def _kill_once(self, members: set[int]) -> None:
        switch = self.folders["memory"] / "cgroup.kill"
        if self.unified and switch.exists():
            _write(switch, 1)
            return
        for pid in members:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def remove(self) -> None:
        for folder in set(self.folders.values()):
            _remove_folder(folder)


def _write_if_there(path: Path, value: object) -> None:
    if path.exists():
        _write(path, value)


def _remove_folder(folder: Path) -> None:
    """The kernel refuses for a moment after the last process has gone."""
    deadline = time.monotonic() + GONE_WITHIN_S
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.002)
        else:
            return


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where this keeper may make groups."""

    bases: dict[str, Path]
    unified: bool

    def make(self, name: str) -> Group:
        folders = {controller: base / name for controller, base in self.bases.items()}
        for folder in set(folders.values()):
            folder.mkdir(exist_ok=True)
        return Group(folders, self.unified)

    def sweep(self) -> int:
        """End and remove every group of an earlier life, wherever that life's keeper stood in the tree."""
        ours = {_identity(base) for base in self.bases.values()}
        names = set()
        for base in _bases_called(next(iter(self.bases.values())).name):
            for folder in filter(Path.is_dir, base.iterdir()):
                names.add(folder.name)
                group = Group(dict.fromkeys(WANTED, folder), self.unified)
                group.kill()
                group.remove()
            if _identity(base) not in ours:
                _remove_folder(base)
        return len(names)

    def remove(self) -> None:
        for base in set(self.bases.values()):
            _remove_folder(base)


@dataclass(frozen=True, slots=True)
class _Mount:
    point: Path
    unified: bool
    options: frozenset[str]


def _mounts() -> list[_Mount]:
    found = []
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            found.append(_Mount(Path(before.split()[4]), kind == "cgroup2", frozenset(options.split(","))))
    return found


def _bases_called(name: str) -> list[Path]:
    """Every folder of this name in any hierarchy: a keeper started elsewhere puts its groups elsewhere."""
    points = [mount.point for mount in _mounts() if mount.point.is_dir()]
    roots = {_identity(point): point for point in points}  # a hierarchy may be mounted twice
    return [Path(folder) for root in roots.values() for folder, _, _ in os.walk(root) if folder.endswith(f"/{name}")]


def _identity(folder: Path) -> tuple[int, int]:
    found = folder.stat()
    return found.st_dev, found.st_ino


def mount_of(controller: str) -> Path | None:
    """Where a controller of version 1 is mounted."""
    return next((mount.point for mount in _mounts() if not mount.unified and controller in mount.options), None)


def _own_paths() -> dict[str, str]:
    """Controller -> path of this very process below its mount; version 2 stands under the empty name."""
    found = {}
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        found.update(dict.fromkeys(controllers.split(","), path.lstrip("/")))
    return found


def _make_base(mount: Path, own: str, name: str) -> Path | None:
    """Below our own group if we may, so that a limit on the keeper bounds its guests too; else at the top."""
    for parent in dict.fromkeys((mount / own, mount)):
        try:
            (parent / name).mkdir(exist_ok=True)
        except OSError:
            continue
        return parent / name
    return None


def _split(name: str) -> Hierarchy | None:
    own, bases = _own_paths(), {}
    for controller in WANTED:
        mount = mount_of(controller)
        base = _make_base(mount, own.get(controller, ""), name) if mount else None
        if base is None:
            return None
        bases[controller] = base
    return Hierarchy(bases, unified=False)


def _unified(mounts: list[_Mount], name: str) -> Hierarchy | None:
    """Controllers must be switched on from the parent down, which the kernel refuses below a group with processes."""
    mount = next((m.point for m in mounts if m.unified), None)
    if mount is None:
        return None
    for parent in dict.fromkeys((mount / _own_paths().get("", ""), mount)):
        base = parent / name
        try:
            _write(parent / "cgroup.subtree_control", "+memory +pids +cpu")
            base.mkdir(exist_ok=True)
            _write(base / "cgroup.subtree_control", "+memory +pids +cpu")
        except OSError:
            continue
        return Hierarchy(dict.fromkeys(WANTED, base), unified=True)
    return None


def find(name: str) -> Hierarchy | None:
    """The hierarchy in which groups called `prefill-<name>/...` can be made here, or None."""
    try:
        mounts = _mounts()
    except OSError:
        return None
    return _split(f"prefill-{name}") or _unified(mounts, f"prefill-{name}")
