"""The keeper's line protocol: one JSON object a line, each way, bounded; descriptors travel beside the answer."""

import json
import socket
from collections.abc import Iterator
from typing import Any

LINE = 4096


class Refused(Exception):
    """A question that the keeper does not answer; `code` is for programs, the text for people."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def lines(sock: socket.socket) -> Iterator[bytes]:
    pending = b""
    while part := sock.recv(LINE):
        *lines, pending = (pending + part).split(b"\n")
        if len(pending) > LINE:
            return
        yield from lines


def parsed(line: bytes) -> dict[str, Any]:
    try:
        question = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused("bad_request", "not a line of JSON") from error
    if not isinstance(question, dict) or not isinstance(question.get("op"), str):
        raise Refused("bad_request", 'not an object with an "op"')
    return question


def seconds(question: dict[str, Any], name: str, most: float) -> float:
    value = question.get(name, most)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise Refused("bad_request", f"{name} must be a number of seconds, not {value!r}")
    return min(float(value), most)


def say(sock: socket.socket, answer: dict[str, Any], fd: int | None = None) -> None:
    line = json.dumps(answer).encode() + b"\n"
    if fd is None:
        sock.sendall(line)
    else:
        sent = socket.send_fds(sock, [line], [fd])
        sock.sendall(line[sent:])
