"""A grader's end of the keeper: lease a guest, ask it for children, ask what became of it, let it go.

One connection is one lease. Whoever drops the connection, on purpose or by dying, has given the guest back. The limits
are asked for within a class; the keeper never takes an image, a flag or a path from here.
"""

import contextlib
import json
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from sandbox.errors import GuestCrashed, GuestFlooded, GuestOutOfMemory, GuestTimeout, KeeperGone, NoRoom

LINE = 1024 * 1024
ANSWER_S = 30.0  # a keeper that says nothing for so long is gone


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a guest and its last child, on evidence from outside of it.

    `cause` is "memory", "cpu", "wall", "output" (the guest did it), "host" (the box is gone and no limit of ours ended
    it: our fault), or None (alive, or simply ended).
    """

    box_alive: bool
    cause: str | None = None
    detail: str = ""
    ended: str | None = None
    number: int | None = None
    cpu_s: float = 0.0
    memory_peak_mib: float = 0.0
    oom_kills: int = 0
    output: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Fate":
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Facts:
    """The guest that was leased: what a report may say of it, and the CPU that its grader should share."""

    sandbox: str
    python: str
    image: str | None
    promises: tuple[str, ...]
    cpu: int | None


def fault_of(fate: Fate) -> BaseException:
    """The fault that this fate is: the guest's, or (cause "host") ours."""
    match fate.cause:
        case "cpu" | "wall":
            return GuestTimeout(fate.detail)
        case "memory":
            return GuestOutOfMemory(fate.detail)
        case "output":
            return GuestFlooded(fate.detail)
        case "host":
            return KeeperGone(fate.detail)
        case _:
            return GuestCrashed(fate.detail)


class Lease:
    """One guest, ours until closed. Not for use by two threads at once."""

    def __init__(self, sock: socket.socket, facts: Facts) -> None:
        self._sock = sock
        self.facts = facts

    def child(self) -> socket.socket:
        """The connection of a fresh child. A fault, as `fault_of` tells it, if the guest can't give one."""
        answer, fds = _ask(self._sock, {"op": "child"})
        if answer["ok"]:
            return socket.socket(fileno=fds[0])
        if answer["error"] == "guest_gone":
            raise fault_of(Fate.from_json(answer["fate"]))
        raise KeeperGone(f"{answer['error']}: {answer.get('detail', '')}")

    def fate(self) -> Fate:
        answer, _ = _ask(self._sock, {"op": "fate"})
        return Fate.from_json(answer["fate"])

    def close(self) -> None:
        """Give the guest back; the keeper destroys it."""
        self._sock.close()

    def fileno(self) -> int:
        return self._sock.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Keeper:
    """Where a keeper listens."""

    def __init__(self, path: Path | str) -> None:
        self._path = str(path)

    def lease(self, class_name: str, cpu_s: float, wall_s: float, wait_s: float = 30.0) -> Lease:
        """A fresh guest of this class, within its fence. NoRoom if none is free in time."""
        wish = {"op": "lease", "class": class_name, "cpu_s": cpu_s, "wall_s": wall_s, "wait_s": wait_s}
        sock = self._connect()
        try:
            answer, _ = _ask(sock, wish, ANSWER_S + wait_s)
            if not answer["ok"]:
                raise NoRoom(f"{answer['error']}: {answer['detail']}")
            return Lease(sock, _facts(answer))
        except BaseException:
            sock.close()
            raise

    def status(self) -> dict[str, Any]:
        with contextlib.closing(self._connect()) as sock:
            answer, _ = _ask(sock, {"op": "status"})
        return answer

    def _connect(self) -> socket.socket:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.connect(self._path)
        except OSError as error:
            sock.close()
            raise KeeperGone(f"no keeper answers at {self._path}") from error
        return sock


def _facts(answer: dict[str, Any]) -> Facts:
    return Facts(answer["sandbox"], answer["python"], answer["image"], tuple(answer["promises"]), answer["cpu"])


def _ask(sock: socket.socket, question: dict[str, Any], wait_s: float = ANSWER_S) -> tuple[dict[str, Any], list[int]]:
    """One line there, one line back, with whatever descriptors come along."""
    sock.settimeout(wait_s)
    try:
        sock.sendall(json.dumps(question).encode() + b"\n")
        line, fds = _line(sock)
        answer = json.loads(line)
    except (OSError, ValueError) as error:
        raise KeeperGone(f"the keeper broke off: {error}") from error
    if not isinstance(answer, dict) or "ok" not in answer:
        raise KeeperGone("the keeper answered nonsense")
    return answer, fds


def _line(sock: socket.socket) -> tuple[bytes, list[int]]:
    line, fds = b"", []
    while not line.endswith(b"\n"):
        part, more, _, _ = socket.recv_fds(sock, 65536, 1)
        fds += more
        if not part or len(line) > LINE:
            raise ConnectionError("the connection ended inside an answer")
        line += part
    return line, fds
