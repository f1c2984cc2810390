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
    "read_lone_frame",
    "send_frame",
]

_LENGTH = struct.Struct(">I")
_CHUNK = 256 * 1024
_SMALL = 16 * 1024

Clock = Callable[[], float]


def frame(payload: bytes) -> bytes:
    """A payload with its length before it."""
    return _LENGTH.pack(len(payload)) + payload


def pack(value: Any) -> bytes:
    """A value as one frame."""
    return frame(encode(value))


def send_frame(sock: socket, data: bytes, deadline: float | None = None, clock: Clock = time.monotonic) -> None:
    """Send a whole frame (from `pack` or `frame`) before the deadline, or raise TimeoutError."""
    _wait_until(sock, deadline, clock)
    sock.sendall(data)


def read_frame(sock: socket, deadline: float | None = None, clock: Clock = time.monotonic) -> bytes:
    """The payload of the next frame. Raises EOFError, TimeoutError, or WireError for a length beyond MAX_FRAME."""
    length = _length_of(_read_exactly(sock, _LENGTH.size, deadline, clock))
    return _read_exactly(sock, length, deadline, clock)


def read_lone_frame(sock: socket, deadline: float | None = None, clock: Clock = time.monotonic) -> bytes:
    """As `read_frame`, for a line on which nothing may follow until we speak; one system call for a small frame."""
    _wait_until(sock, deadline, clock)
    start = sock.recv(_SMALL)
    if len(start) < _LENGTH.size:
        if not start:
            raise EOFError("the line is closed")
        start += _read_exactly(sock, _LENGTH.size - len(start), deadline, clock)
    missing = _length_of(start) - (len(start) - _LENGTH.size)
    if missing < 0:
        raise WireError("", "bytes after the frame")
    return start[_LENGTH.size :] + _read_exactly(sock, missing, deadline, clock) if missing else start[_LENGTH.size :]


def _length_of(start: bytes) -> int:
    length: int = _LENGTH.unpack_from(start)[0]
    if length > MAX_FRAME:
        raise WireError("", f"a frame of {length} bytes")
    return length


def _read_exactly(sock: socket, count: int, deadline: float | None, clock: Clock) -> bytes:
    """Memory grows with what has arrived, never with what was announced."""
    parts: list[bytes] = []
    while count:
        _wait_until(sock, deadline, clock)
        part = sock.recv(min(count, _CHUNK))
        if not part:
            raise EOFError("the line is closed")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _wait_until(sock: socket, deadline: float | None, clock: Clock) -> None:
    """Let the next operation block until the deadline. Without one, as long as the socket does."""
    if deadline is None:
        return
    if (left := deadline - clock()) <= 0:
        raise TimeoutError("no whole frame before the deadline")
    sock.settimeout(left)
