"""The last resort: a plain child process, for one's own code only. It holds nobody, and says so.

It can read and write whatever the keeper's user can, reach the network, and outlive its box by leaving the process
group. It promises a bounded output and a clean environment, no more; the page and the log repeat that.
"""

import contextlib
import itertools
import logging
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import psutil

from sandbox.box import Facts, Place, Promise, Slot, Usage
from sandbox.door import Door
from sandbox.guest_box import GuestBox, opened
from sandbox.limits import Limits

log = logging.getLogger(__name__)

WARNING = (
    "The process sandbox is no wall: submitted code runs as this user, with its files and its network. "
    "Use it for your own code on your own machine only."
)
PATH = "/usr/local/bin:/usr/bin:/bin"
# The shell sets what a child can't raise again, then becomes the agent.
SHELL = 'ulimit -c 0; ulimit -f "$1"; ulimit -v "$2" 2>/dev/null; shift 2; exec "$@"'
BLOCKS_A_KIB = 2
GONE_WITHIN_S = 5.0
MANY = 1_000_000


def environment(scratch: str) -> dict[str, str]:
    """All that a guest ever finds in its environment, wherever it runs."""
    return {"PATH": PATH, "HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8", "TZ": "UTC"}


@dataclass(slots=True)
class Tree:
    """A process and whoever it forked that can still be found."""

    popen: "subprocess.Popen[bytes]"

    def usage(self) -> Usage:
        """CPU of the living, and of the dead whom a living one has waited for."""
        if self.popen.poll() is not None:
            raise ProcessLookupError(self.popen.pid)
        return Usage(cpu_s=sum(_cpu(pid) for pid in family(self.popen.pid)))

    def running(self) -> bool:
        return self.popen.poll() is None

    def complaint(self) -> str:
        """Only after the end: nobody waits here for a guest that still speaks."""
        if self.running() or self.popen.stdout is None:
            return ""
        os.set_blocking(self.popen.stdout.fileno(), False)
        return (self.popen.stdout.read(2000) or b"").decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """The agent first, so that it forks no more."""
        others = family(self.popen.pid)[1:]
        self.popen.kill()
        self.popen.wait()
        for pid in others:
            _kill(pid)
        _await_end(others)
        if self.popen.stdout is not None:
            self.popen.stdout.close()


def family(pid: int) -> list[int]:
    """A process and its descendants. The kernel's own list of children, where there is one, is 50 times cheaper."""
    listing = Path(f"/proc/{pid}/task/{pid}/children")
    if not listing.exists():
        return [pid, *_descendants_by_search(pid)]
    try:
        children = [int(word) for word in listing.read_text(encoding="ascii").split()]
    except OSError:  # it ended just now
        children = []
    return [pid, *itertools.chain.from_iterable(map(family, children))]


def _descendants_by_search(pid: int) -> list[int]:
    try:
        return [one.pid for one in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _await_end(pids: list[int]) -> None:
    """A zombie has ended, however long its new parent takes to notice."""
    deadline = time.monotonic() + GONE_WITHIN_S
    while any(map(_runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.002)


def _runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _cpu(pid: int) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


class ProcessSandbox:
    """Guests that are plain child processes of the keeper."""

    name = "process"
    promises = frozenset({Promise.OUTPUT, Promise.ENVIRONMENT})

    def __init__(self, place: Place) -> None:
        self._place = place
        log.warning(WARNING)

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.name, python_version(self._place.guest_python), None, tuple(sorted(self.promises)))

    def open(self, limits: Limits, slot: Slot) -> GuestBox:
        door = Door(self._place.run, None)
        scratch = Path(tempfile.mkdtemp(prefix="t", dir=door.folder))
        popen = subprocess.Popen(
            ["/bin/sh", "-c", SHELL, "sh", *self._terms(limits), *agent(self._place, str(door.path))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=scratch,
            env=environment(str(scratch)),
            start_new_session=True,
        )
        pin(popen.pid, slot.cpu)
        # A limit on processes counts all of this user's, the desktop's too, so it is no limit of the guest's.
        return opened(door, Tree(popen), replace(limits, processes=MANY))

    @staticmethod
    def _terms(limits: Limits) -> list[str]:
        return [str(limits.file_mib * 1024 * BLOCKS_A_KIB), str(limits.memory_mib * 1024)]

    def sweep(self) -> int:
        """Nothing names a plain process as ours; its agent ended when its keeper's connection closed."""
        return 0

    def close(self) -> None:
        """Nothing was made for all guests together."""


def agent(place: Place, socket_path: str) -> list[str]:
    return [place.guest_python, "-I", "-B", str(place.ground / "guest-code" / "guest" / "__main__.py"), socket_path]


def pin(pid: int, cpu: int | None) -> None:
    """A guest and its grader on one CPU spare each other a wake-up: 158 -> 41 us a call under load (measured)."""
    if cpu is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(pid, {cpu})


def python_version(python: str) -> str:
    words = [python, "-I", "-S", "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
