"""The watchdog: forks the process that runs the tests, serves it guests, and outlives it.

Theory of operation. Tests run in a child of this process, never in it: whoever times a test from inside is taken for a
failed test by pytest and for a counterexample by Hypothesis. The child holds one end of a socket pair and nothing else.
Guests are asked of the keeper here, on the lease that only this process holds; what the child gets is one connected
descriptor. The child's fate is read off the pair: its end of file, our deadline, or its own word that it is done. A
child that ended before its word leaves outcomes missing, and missing outcomes are the judge's error.
"""

import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from judge.confine import die_with, keep_only, pin, reset_signals
from judge.line import ChildEnd, HorseEnd, LineClosed
from sandbox.errors import GuestFault, SandboxError
from sandbox.lease import Lease

TICK_S = 1.0
MAX_GUESTS = 20_000

Sit = Callable[[ChildEnd], None]
Message = dict[str, Any]


def watch(lease: Lease, sit: Sit, seconds: float) -> Iterator[Message]:
    """Run `sit` in a child; yields what it tells, and `{"tell": "tick"}` about every second of silence."""
    ours, theirs = socket.socketpair()
    horse = os.getpid()
    pid = os.fork()
    if pid == 0:
        _child(sit, theirs, horse, lease.facts.cpu)
    theirs.close()
    line = HorseEnd(ours)
    try:
        yield from _messages(line, lease, time.monotonic() + seconds)
    finally:
        line.close()
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _child(sit: Sit, sock: socket.socket, horse: int, cpu: int | None) -> None:
    """Never returns. The one broad except: whatever goes wrong here becomes a line in the grader's log."""
    line = ChildEnd(sock)
    try:
        die_with(horse)
        reset_signals()
        keep_only(sock.fileno())
        pin(cpu)
        sit(line)
        line.tell(tell="end")
    except BaseException:
        with suppress(OSError):
            line.tell(tell="trouble", text=traceback.format_exc()[-4000:])
    finally:
        os._exit(0)


def _messages(line: HorseEnd, lease: Lease, deadline: float) -> Iterator[Message]:
    guests = 0
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([line], [], [], min(left, TICK_S))[0]:
            yield {"tell": "tick"}
            continue
        try:
            for message in line.read():
                if message.get("ask"):
                    guests += message["ask"] == "child"
                    _serve(line, lease, message["ask"], may=guests <= MAX_GUESTS)
                    continue
                yield message
                if message["tell"] in ("end", "trouble"):
                    return
        except (LineClosed, BrokenPipeError, ConnectionResetError):
            yield {"tell": "trouble", "text": "the tests' process ended early"}
            return
    yield {"tell": "trouble", "text": "the tests' process was over its time"}


def _serve(line: HorseEnd, lease: Lease, question: str, *, may: bool) -> None:
    """One question of the child: a fresh guest child, or what became of the last one."""
    try:
        if question == "fate":
            line.answer({"ok": True, "fate": lease.fate().to_json()})
        elif may:
            line.answer({"ok": True}, lease.child())
        else:
            line.answer({"ok": False, "fault": "GuestTimeout", "reason": "too many guests for one grading"})
    except (GuestFault, SandboxError) as error:
        line.answer({"ok": False, "fault": type(error).__name__, "reason": str(error)})
