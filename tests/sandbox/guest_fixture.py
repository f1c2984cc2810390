"""A real agent without walls around it, and the keeper's half of its control line, for the tests of what it does."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox.guest import wire
from sandbox.limits import LIMIT_CLASSES
from sandbox.link import Link

GUEST = Path(wire.__file__).parent
PATIENCE_S = 20


class Agent:
    """An agent as its keeper sees it."""

    def __init__(self, folder: Path) -> None:
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        path = str(folder / "s")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._listener.listen()
        self._listener.settimeout(PATIENCE_S)
        # Not the virtual environment's name for it: a guest has no way to what is installed there.
        command = [os.path.realpath(sys.executable), "-I", "-B", str(GUEST / "__main__.py"), path]
        self.process = subprocess.Popen(command, env={"TMPDIR": str(self.scratch)})
        self.control, _ = self._listener.accept()
        self.control.settimeout(PATIENCE_S)

    def say(self, *message: Any) -> None:
        wire.send_frame(self.control, wire.pack(list(message)))

    def hear(self) -> list[Any]:
        message: list[Any] = wire.decode(wire.read_frame(self.control))
        return message

    def child(self) -> tuple[bytes, socket.socket]:
        """A fresh child: its nonce and its line, after it has shown the nonce."""
        nonce = os.urandom(16)
        self.say("child", nonce)
        while (notice := self.hear())[0] in ("ended", "flooded"):
            assert notice[1] != nonce  # an earlier child's
        assert notice == ["started", nonce]
        line, _ = self._listener.accept()
        line.settimeout(PATIENCE_S)
        assert wire.decode(wire.read_frame(line)) == ["child", nonce]
        return nonce, line

    def close(self) -> None:
        self.control.close()
        self._listener.close()
        self.process.wait(PATIENCE_S)


@contextmanager
def running_agent(**limits: int) -> Iterator[Agent]:
    folder = Path(tempfile.mkdtemp(prefix="pf-"))  # short: a socket's path may have 107 bytes
    agent = Agent(folder)
    try:
        assert agent.hear() == ["agent", 1]
        agent.say("limits", {"output_kib": 64, "open_files": 256, "file_mib": 16, **limits})
        yield agent
    finally:
        agent.close()
        shutil.rmtree(folder)


@contextmanager
def loaded(agent: Agent, source: str, *entry: str, contract: str | None = None) -> Iterator[Link]:
    """A link to a fresh child that has loaded `source`."""
    _, line = agent.child()
    link = Link(line, LIMIT_CLASSES["small"])
    try:
        link.load(source, entry, contract)
        yield link
    finally:
        link.close()
