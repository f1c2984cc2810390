"""Process 1 of a guest: forks a fresh child for each test, caps what it writes, reports how it ended.

Theory of operation. The agent never loads a submission, so it is the one process of a guest that can be believed. It
speaks with the keeper over the first connection that it makes, its control line, and holds nothing else. Before each
child it resets the guest: every process but itself is killed, the scratch folder is emptied; so nothing a test leaves
behind reaches the next. When a child ends, whatever it started ends with it, else a grandchild that kept the child's
line open would hide the end from the host. The agent can't be read or traced by its children (not dumpable), handles no
signals (process 1 does not get those it has no handler for), and leaves when its control line does; and when process 1
leaves, the kernel ends the rest.

A child leaves this loop as soon as it is forked: `Agent.run` returns in children only, and what it returns is the
child's own line. By then the agent's objects are gone from that process, and its frames are off the stack.
"""

import gc
import importlib
import os
import select
import socket
from typing import Any

from . import kernel, wire
from .child import Child, Terms
from .serve import serve

VERSION = 1

# Loaded once, here, so that a submission which imports them costs a fork and not an import.
PRELOADED = ("bisect", "collections.abc", "copy", "dataclasses", "enum", "hashlib", "heapq", "operator", "typing")

# A last fence, far above any limit class: the agent's own CPU time, and by inheritance that of each child.
LAST_CPU_S = 600


def main(path: str) -> None:
    """Serve as the agent of this guest; in each forked child, serve as the child."""
    kernel.become_private(LAST_CPU_S)
    for name in PRELOADED:
        importlib.import_module(name)
    serve(Agent(path).run())


class Agent:
    """The keeper's hand inside the guest."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._scratch = kernel.own_scratch(os.environ.get("TMPDIR"))
        self._terms = Terms()
        self._child: Child | None = None
        self._control = _connect(path)

    def run(self) -> socket.socket:
        """Obey the keeper until it goes. Returns only in a forked child, with the child's own line."""
        self._say("agent", VERSION)
        while True:
            keeper_speaks = self._wait()
            self._watch_child()
            if not keeper_speaks:
                continue
            verb, argument = self._listen()
            if verb != "child":
                self._answer(verb, argument)
            elif (line := self._fork(argument)) is not None:
                return line

    def _wait(self) -> bool:
        """Until the keeper or the child has something for us; True when the keeper has."""
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        for descriptor in self._child.watched() if self._child else ():
            waiting.register(descriptor, select.POLLIN)
        ready = waiting.poll(self._child.patience_ms if self._child else None)
        return any(descriptor == self._control.fileno() for descriptor, _ in ready)

    def _watch_child(self) -> None:
        child = self._child
        if child is None or child.ended:
            return
        self._drain(child)
        if (ending := child.ending()) is not None:
            kernel.end_others(child.pid)
            self._drain(child)
            child.close()
            self._say("ended", child.nonce, *ending, child.written)

    def _drain(self, child: Child) -> None:
        if child.drain(self._terms.output_octets):
            self._say("flooded", child.nonce)

    def _listen(self) -> tuple[str, Any]:
        try:
            verb, argument = wire.decode(wire.read_frame(self._control))
        except (EOFError, ConnectionResetError):
            kernel.end_others(self._child.pid if self._child else None)
            os._exit(0)
        return verb, argument

    def _answer(self, verb: str, argument: Any) -> None:
        if verb == "limits":
            self._terms = Terms.of(argument)
        elif verb == "output":
            known = self._child is not None and self._child.nonce == argument
            self._say("output", argument, bytes(self._child.output) if self._child and known else b"")
        else:
            raise ValueError(f"the keeper asked for {verb!r}")

    def _say(self, *message: Any) -> None:
        wire.send_frame(self._control, wire.pack(list(message)))

    def _fork(self, nonce: bytes) -> socket.socket | None:
        """Reset the guest, then fork; the new child gets its line, the agent None."""
        self._reset()
        read_end, write_end = os.pipe()
        gc.freeze()
        if (pid := os.fork()) == 0:
            return self._begin(nonce, read_end, write_end)
        os.close(write_end)
        self._child = Child(nonce, pid, read_end)
        self._say("started", nonce)
        return None

    def _reset(self) -> None:
        """A child that is replaced ends without a notice: the keeper has asked for it."""
        kernel.end_others(self._child.pid if self._child else None)
        if self._child is not None:
            self._child.close()
            self._child = None
        kernel.empty(self._scratch)

    def _begin(self, nonce: bytes, read_end: int, write_end: int) -> socket.socket:
        """In the child: let go of what is the agent's, take on the terms, open the child's own line."""
        self._control.close()
        os.close(read_end)
        self._terms.take_on(write_end, self._scratch)
        line = _connect(self._path)
        wire.send_frame(line, wire.pack(["child", nonce]))
        return line


def _connect(path: str) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.connect(path)
    return line
