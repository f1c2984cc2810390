"""The one wire between the watchdog and the process that runs the hidden tests. Standard library only.

Newline-ended JSON both ways. The test child tells outcomes and asks for guests; a guest's connection comes back as a
descriptor with the answer. There is never more than one question open.
"""

import json
import socket
from collections.abc import Iterator
from typing import Any

MAX_LINE = 4 * 1024 * 1024
CHUNK = 65536


class LineClosed(Exception):
    """The other end is gone."""


class ChildEnd:
    """The test child's end: blocking, since it has nothing else to do."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def tell(self, **message: Any) -> None:
        self._sock.sendall(_line(message))

    def ask(self, **question: Any) -> tuple[dict[str, Any], socket.socket | None]:
        """The answer and the descriptor that came with it, if any."""
        self.tell(**question)
        data, descriptors, _, _ = socket.recv_fds(self._sock, CHUNK, 1)
        while data and not data.endswith(b"\n"):
            data += self._sock.recv(CHUNK)
        if not data:
            raise LineClosed("the watchdog is gone")
        guest = socket.socket(fileno=descriptors[0]) if descriptors else None
        return json.loads(data), guest


class HorseEnd:
    """The watchdog's end: never blocks on reading, and bounds what it keeps."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._rest = b""

    def fileno(self) -> int:
        return self._sock.fileno()

    def read(self) -> Iterator[dict[str, Any]]:
        """What can be read now, at least one chunk. Raises `LineClosed` at the end."""
        data = self._sock.recv(CHUNK)
        if not data or len(self._rest) > MAX_LINE:
            raise LineClosed("the tests' process closed its line")
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            yield json.loads(line)

    def answer(self, message: dict[str, Any], guest: socket.socket | None = None) -> None:
        """The descriptor is handed over: this process keeps none."""
        if guest is None:
            self._sock.sendall(_line(message))
            return
        with guest:
            socket.send_fds(self._sock, [_line(message)], [guest.fileno()])

    def close(self) -> None:
        self._sock.close()


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"
