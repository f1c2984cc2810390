"""The wire: the whole vocabulary that may cross the wall, as frames of bytes. Both sides run this file.

Theory of operation. A frame is a four-byte big-endian length and a payload; a payload is one value, a tag and then its
parts. Only exact built-in types have a tag. What reads these bytes on the trusted side assumes that a stranger made
them: every count is charged against a budget before anything of that size is built, nesting is bounded, a key stands in
a dict once, and keys chosen to share a hash are refused before they make the dict slow. Lists and tuples of small
integers (token ids, block ids) travel packed. A frame is awaited as a whole: a stranger who sends one byte a second
runs into the same deadline as one who sends nothing.
"""

import struct
import time
from collections.abc import Callable
from socket import socket
from typing import Any

from .decoding import decode
from .encoding import encode
from .words import CROSSING, MAX_DEPTH, MAX_ENTRIES, MAX_FRAME, MAX_NODES, Array, Handle, Record, WireError, name_of

__all__ = [
    "CROSSING",
    "MAX_DEPTH",
    "MAX_ENTRIES",
    "MAX_FRAME",
    "MAX_NODES",
    "Array",
    "Handle",
    "Record",
    "WireError",
    "decode",
    "encode",
    "frame",
    "name_of",
    "pack",
    "read_frame",
    "send_frame",
]

_LENGTH = struct.Struct(">I")
_CHUNK = 256 * 1024

Clock = Callable[[], float]


def frame(payload: bytes) -> bytes:
    """A payload with its length before it."""
    return _LENGTH.pack(len(payload)) + payload


def pack(value: Any) -> bytes:
    """A value as one frame."""
    return frame(encode(value))


def send_frame(sock: socket, data: bytes, deadline: float | None = None, clock: Clock = time.monotonic) -> None:
    """Send a whole frame (from `pack` or `frame`) before the deadline, or raise TimeoutError."""
    sock.settimeout(_left(deadline, clock))
    sock.sendall(data)


def read_frame(sock: socket, deadline: float | None = None, clock: Clock = time.monotonic) -> bytes:
    """The payload of the next frame. Raises EOFError, TimeoutError, or WireError for a length beyond MAX_FRAME."""
    (length,) = _LENGTH.unpack(_read_exactly(sock, _LENGTH.size, deadline, clock))
    if length > MAX_FRAME:
        raise WireError("", f"a frame of {length} bytes")
    return _read_exactly(sock, length, deadline, clock)


def _read_exactly(sock: socket, count: int, deadline: float | None, clock: Clock) -> bytes:
    """Memory grows with what has arrived, never with what was announced."""
    parts: list[bytes] = []
    while count:
        sock.settimeout(_left(deadline, clock))
        part = sock.recv(min(count, _CHUNK))
        if not part:
            raise EOFError("the line is closed")
        if len(part) == count and not parts:
            return part
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _left(deadline: float | None, clock: Clock) -> float | None:
    if deadline is None:
        return None
    if (left := deadline - clock()) <= 0:
        raise TimeoutError("no whole frame before the deadline")
    return left
