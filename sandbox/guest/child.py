"""A forked child: the terms it takes on before it loads anything, and what the agent sees of it."""

import os
import resource
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TextIO

from . import kernel

_POLL_MS = 50
_READ_AT_ONCE = 64 * 1024
_ALWAYS = ((resource.RLIMIT_CORE, 0),)
_ASKED_FOR = (
    ("file_mib", resource.RLIMIT_FSIZE, 1024 * 1024),
    ("open_files", resource.RLIMIT_NOFILE, 1),
    ("processes", resource.RLIMIT_NPROC, 1),
)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a single process can be held to, out of the keeper's `limits` frame."""

    output_octets: int = 64 * 1024
    rlimits: tuple[tuple[int, int], ...] = _ALWAYS

    @staticmethod
    def of(limits: Mapping[str, int]) -> "Terms":
        """A key that is missing is a limit that is not set."""
        asked = tuple((kind, limits[key] * unit) for key, kind, unit in _ASKED_FOR if key in limits)
        return Terms(limits.get("output_kib", 64) * 1024, _ALWAYS + asked)

    def take_on(self, output: int, scratch: str | None) -> None:
        """In the child, before anything else. `output` becomes its stdout and stderr."""
        os.setsid()
        kernel.become_first_to_die()
        for kind, most in self.rlimits:
            hard = resource.getrlimit(kind)[1]
            fenced = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (fenced, fenced))
        _redirect(output)
        if scratch is not None:
            os.chdir(scratch)


def _redirect(output: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(output)
    # New streams: the agent's own may have taken what they were opened on for a file, which can be sought in.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as the process
    sys.stdout = _writer(1)
    sys.stderr = _writer(2)


def _writer(descriptor: int) -> TextIO:
    return open(descriptor, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


@dataclass(slots=True)
class Child:
    """What the agent sees of one child: what it wrote, and whether and how it ended."""

    nonce: bytes
    pid: int
    pipe: int | None
    output: bytearray = field(default_factory=bytearray)
    written: int = 0
    ended: bool = False
    pidfd: int | None = field(init=False)

    def __post_init__(self) -> None:
        assert self.pipe is not None
        os.set_blocking(self.pipe, False)
        # Without pidfd (macOS) the agent looks for the child's end every 50 ms instead.
        self.pidfd = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None

    @property
    def patience_ms(self) -> int | None:
        """How long the agent may wait when nothing wakes it."""
        return _POLL_MS if self.pidfd is None and not self.ended else None

    def watched(self) -> list[int]:
        """Descriptors that wake the agent."""
        return [descriptor for descriptor in (self.pipe, self.pidfd) if descriptor is not None]

    def drain(self, most: int) -> bool:
        """Read what was written, keeping the first `most` bytes; True once, when it has become too much.

        Then the child is killed before its pipe is closed: one that saw the broken pipe first would tell another end.
        """
        while self.pipe is not None:
            try:
                part = os.read(self.pipe, _READ_AT_ONCE)
            except BlockingIOError:
                return False
            self.output += part[: max(0, most - len(self.output))]
            self.written += len(part)
            if self.written > most:
                self.kill()
            if not part or self.written > most:
                self._close_pipe()
                return self.written > most
        return False

    def kill(self) -> None:
        """End the child itself. What it started ends when its end is seen."""
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)

    def ending(self) -> tuple[str, int] | None:
        """("exit", status) or ("signal", number) once it has ended; reaps it."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        self.ended = True
        code = os.waitstatus_to_exitcode(status)
        return ("exit", code) if code >= 0 else ("signal", -code)

    def close(self) -> None:
        """Let go of its descriptors; the captured output stays."""
        self._close_pipe()
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None

    def _close_pipe(self) -> None:
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None
