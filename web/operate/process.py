"""Operating: one child process of the supervisor, its log, and its end.

Theory of operation. Each child leads a session of its own, so that a Ctrl-C at the terminal reaches the supervisor
alone, which then ends the children in the right order. PR_SET_PDEATHSIG ends a child whose supervisor was killed. What
a child forked and left behind comes back to the supervisor, which is its "subreaper": so nothing outlives the end.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LOG_LIMIT = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Child:
    """What to start, and how to know that it is ready: `ready(pid)` answers a sentence, or nothing yet."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    ready: Callable[[int], str | None]
    start_s: float = 60
    grace_s: float = 4
    restarts: int = 3
    # What it gets when its supervisor is killed. SIGTERM only for those who have something to put away; an RQ worker
    # that hears SIGTERM while Redis ends as well waits for Redis.
    death_signal: signal.Signals = signal.SIGKILL


class Running:
    """A child that was started, with its log."""

    def __init__(self, child: Child, logs: Path) -> None:
        self.child = child
        self.log = logs / f"{child.name}.log"
        self.deaths = 0
        self._process = self._spawn()

    @property
    def pid(self) -> int:
        return self._process.pid

    def again(self) -> None:
        self.deaths += 1
        self.kill_group()
        self._process = self._spawn()

    def fate(self) -> str | None:
        """How it ended, in words; nothing while it lives."""
        status = self._process.poll()
        if status is None:
            return None
        return f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"

    def last_lines(self, count: int = 8) -> str:
        with contextlib.suppress(OSError):
            tail = self.log.read_bytes()[-8192:].decode(errors="replace").splitlines()[-count:]
            return "\n".join(f"    {line[:300]}" for line in tail)
        return ""

    def end(self) -> None:
        """Ask it to end, then insist: a worker that waits for its job hears a second request as "now"."""
        for number, patience in ((signal.SIGTERM, self.child.grace_s), (signal.SIGTERM, 2.0)):
            if self._process.poll() is None:
                self._process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(patience)
        self.kill_group()

    def kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _spawn(self) -> subprocess.Popen[bytes]:
        if self.log.exists() and self.log.stat().st_size > _LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".log.1"))
        with open(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
            return subprocess.Popen(
                self.child.argv,
                env=dict(self.child.env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=partial(_prctl, _PR_SET_PDEATHSIG, self.child.death_signal),
            )


def adopt_orphans() -> None:
    """Become the parent of whatever a child forks and abandons (Linux; elsewhere the groups must do)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def reap_adopted(known: Iterable[int]) -> None:
    """Bury adopted processes that have ended; those of `known` belong to their Popen."""
    known = set(known)
    for process in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess, ChildProcessError):
            if process.pid not in known and process.status() == psutil.STATUS_ZOMBIE:
                os.waitpid(process.pid, os.WNOHANG)


def kill_descendants() -> None:
    """The last act: whatever still descends from this process ends now, and is buried."""
    left = psutil.Process().children(recursive=True)
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, timeout=5)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        _LIBC.prctl(option, value, 0, 0, 0)


# Loaded before any fork: between fork and exec nothing may allocate much or import.
_LIBC = ctypes.CDLL(None, use_errno=True)
