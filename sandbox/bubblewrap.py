"""The wall without an engine: namespaces, a filter and counters put together by bubblewrap. About 25 ms a guest.

Theory of operation. The keeper starts a shell that waits; while it waits, its control group and its CPU are set from
outside. Then it becomes bwrap, which unshares every namespace, builds a file system of one Python, the system's shared
libraries and one scratch tmpfs, drops every capability, and becomes the agent as process 1 of a PID namespace.

Three things are easy to get wrong. (1) root inside a user namespace that root made is root outside, so a keeper that
runs as root starts the shell as the user of the guest's slot; the folders that bwrap binds must therefore be reachable
by that user. (2) `--die-with-parent` follows the *thread* that started bwrap: guests are opened from one long-lived
thread. (3) bwrap's root and /dev are tmpfs that the guest owns; both are made read-only last, or they are scratch space
without an end.

Not promised here: scratch is not `noexec` (bwrap mounts tmpfs without that option). Without a writable control group
memory, processes and CPU are held by nobody but rlimits, so they are not promised either.
"""

import logging
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property

from sandbox import cgroup, syscalls
from sandbox.box import Facts, Place, Promise, Slot, Usage
from sandbox.door import Door
from sandbox.errors import SandboxError
from sandbox.guest_box import GuestBox, opened
from sandbox.limits import Limits
from sandbox.process import BLOCKS_A_KIB, Tree, environment, pin, python_version
from sandbox.shown import Interpreter, shown

log = logging.getLogger(__name__)

MIB = 1024 * 1024
SPARE_PROCESSES = 3  # bwrap outside, the agent, and a child that just ended
# What a shell limits, no child of its can raise again. -v stands in for a control group where there is none.
GATE = """read -r go && ulimit -c 0 && ulimit -f "$1" && { [ "$2" = - ] || ulimit -v "$2"; } &&
shift 2 && exec "$@" </dev/null"""
ALWAYS = frozenset({Promise.NETWORK, Promise.FILES, Promise.DISK, Promise.OUTPUT, Promise.AGENT, Promise.ENVIRONMENT})
COUNTED = frozenset({Promise.MEMORY, Promise.CPU, Promise.PROCESSES})


@dataclass(slots=True)
class Caged:
    """The grip on one bwrap: its process tree, and its control group where there is one."""

    tree: Tree
    group: cgroup.Group | None

    def usage(self) -> Usage:
        return self.group.usage() if self.group else self.tree.usage()

    def running(self) -> bool:
        return self.tree.running()

    def complaint(self) -> str:
        return self.tree.complaint()

    def kill(self) -> None:
        """Killing bwrap ends process 1, and with it the namespace; the group then proves that nobody is left."""
        if self.group:
            self.group.kill()
        self.tree.kill()
        if self.group:
            self.group.remove()


class BubblewrapSandbox:
    """Guests behind bubblewrap."""

    name = "bubblewrap"

    def __init__(self, place: Place) -> None:
        self._place = place
        self._bwrap = shutil.which("bwrap") or ""
        self._root = os.geteuid() == 0
        self._groups = cgroup.find(place.label)
        if not self._bwrap:
            raise SandboxError("bubblewrap is not installed (package: bubblewrap)")
        if not self._groups:
            log.warning("No control group can be made here: bubblewrap can't hold memory, processes or CPU time.")

    @property
    def promises(self) -> frozenset[Promise]:
        held = ALWAYS | (COUNTED if self._groups else frozenset())
        held |= {Promise.SYSCALLS} if syscalls.known() else frozenset()
        return held | ({Promise.IDENTITY} if self._root else frozenset())

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.name, python_version(self._place.guest_python), None, tuple(sorted(self.promises)))

    @cached_property
    def _python(self) -> Interpreter:
        return Interpreter.of(self._place.guest_python)

    def open(self, limits: Limits, slot: Slot) -> GuestBox:
        uid = slot.uid if self._root else None
        door = Door(self._place.ground, uid)
        group = None
        try:
            group = self._group(door, limits)
            hold = self._start(door, limits, slot, group)
        except BaseException:
            door.close()
            if group:
                group.remove()
            raise
        return opened(door, hold, limits)

    def _group(self, door: Door, limits: Limits) -> cgroup.Group | None:
        if not self._groups:
            return None
        group = self._groups.make(door.folder.name)
        group.limit(limits.memory_mib, limits.processes + SPARE_PROCESSES)
        return group

    def _start(self, door: Door, limits: Limits, slot: Slot, group: cgroup.Group | None) -> Caged:
        """The shell at the gate already has the slot's user; what only we may set is set before it goes on."""
        filter_fd = _filter()
        words = [self._bwrap, *shown(self._python), *walls(self._place, door, limits, filter_fd)]
        words += ["--", *_agent(self._python.program)]
        identity = {"user": slot.uid, "group": slot.uid, "extra_groups": []} if self._root else {}
        try:
            popen = subprocess.Popen(
                ["/bin/sh", "-c", GATE, "sh", *_rlimits(limits, counted=group is not None), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=environment("/tmp"),
                pass_fds=(filter_fd,) if filter_fd >= 0 else (),
                start_new_session=True,
                **identity,  # type: ignore[call-overload]  # the stubs want each keyword spelt out
            )
        finally:
            if filter_fd >= 0:
                os.close(filter_fd)
        hold = Caged(Tree(popen), group)
        try:
            _open_gate(popen, slot, group)
        except BaseException:
            hold.kill()
            raise
        return hold

    def sweep(self) -> int:
        return self._groups.sweep() if self._groups else 0

    def close(self) -> None:
        if self._groups:
            self._groups.remove()


def _filter() -> int:
    """A descriptor from which bwrap reads the system-call filter; -1 where there is none for this machine."""
    if not syscalls.known():
        return -1
    fd = os.memfd_create("filter")
    os.write(fd, syscalls.program())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _open_gate(popen: "subprocess.Popen[bytes]", slot: Slot, group: cgroup.Group | None) -> None:
    if popen.stdin is None:
        raise SandboxError("the gate has no handle")
    if group:
        group.enter(popen.pid)
    pin(popen.pid, slot.cpu)
    popen.stdin.write(b"go\n")
    popen.stdin.close()


def _rlimits(limits: Limits, *, counted: bool) -> tuple[str, str]:
    return str(limits.file_mib * 1024 * BLOCKS_A_KIB), "-" if counted else str(limits.memory_mib * 1024)


def walls(place: Place, door: Door, limits: Limits, filter_fd: int) -> list[str]:
    """bwrap's words, in the order in which it builds; what of the system is shown comes before them."""
    words = ["--unshare-user", "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1"]
    words += ["--hostname", "guest", "--cap-drop", "ALL"]
    words += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    words += ["--ro-bind", str(place.ground / "guest-code"), "/opt/prefill", "--ro-bind", str(door.folder), "/run/door"]
    words += ["--size", str(limits.scratch_mib * MIB), "--tmpfs", "/tmp", "--chdir", "/tmp", "--remount-ro", "/"]
    return [*words, "--seccomp", str(filter_fd)] if filter_fd >= 0 else words


def _agent(python: str) -> list[str]:
    return [python, "-I", "-B", "/opt/prefill/guest/__main__.py", "/run/door/s"]
