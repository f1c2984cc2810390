"""The child of a guest: load one submission, keep its objects, answer calls about them.

One request, one answer. A request carries a ticket of four random bytes, which its answer repeats: an answer that was
sent too early, too late, or by a second process that holds the same line does not have the ticket of the question that
is being asked. A submission shares this process and can do to it what it likes; it can only make its own answers wrong.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from socket import socket
from typing import Any

from . import arrays, wire
from .blame import name_and_message
from .load import WouldNotLoad, load
from .wire import Array, Handle, Record, WireError

TICKET_BYTES = 4
MAX_HANDLES = 10_000
_ENDED_ITSELF = 70
_NONE: Mapping[str, Any] = {}


def serve(line: socket) -> None:
    """Answer requests until the host closes the line."""
    solution = Solution()
    while True:
        try:
            request = wire.read_lone_frame(line)
        except (EOFError, ConnectionResetError):
            os._exit(0)
        ticket, payload = request[:TICKET_BYTES], request[TICKET_BYTES:]
        wire.send_frame(line, wire.frame(ticket + solution.answer(payload)))


class Solution:
    """A loaded submission and the objects of it that the host knows by handle."""

    def __init__(self) -> None:
        self._entries: dict[str, Any] = {}
        self._records: dict[str, type] = {}
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._next = 0
        self._verbs: dict[str, Callable[..., bytes]] = {"call": self._call, "load": self._load, "drop": self._drop}

    def answer(self, payload: bytes) -> bytes:
        """The payload that answers a request."""
        verb, *arguments = wire.decode(payload, self._revive)
        return self._verbs[verb](*arguments)

    def _load(self, source: str, entry: Sequence[str], contract: str | None) -> bytes:
        try:
            self._entries = load(source, entry, contract)
        except WouldNotLoad as error:
            return wire.encode(["load_error", error.kind, error.message])
        self._records = _records_of_contract() if contract is not None else {}
        return wire.encode(["ok"])

    def _drop(self, handles: Sequence[Any] | None) -> bytes:
        """Forget objects; None forgets all. Numbers are never used again, so a stale handle finds nothing."""
        if handles is None:
            self._objects.clear()
            self._numbers.clear()
        for kept in handles or ():
            number = self._numbers.pop(id(kept))
            del self._objects[number]
        return wire.encode(["ok"])

    def _call(
        self, on: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any] = _NONE, outs: Sequence[str] = ()
    ) -> bytes:
        try:
            target = self._target(on, name)
            value = target(*args, **kwargs)
        except (SystemExit, KeyboardInterrupt):
            os._exit(_ENDED_ITSELF)
        except BaseException as error:
            return wire.encode(["raise", *name_and_message(error)])
        try:
            made = self._keep(value) if on is None and isinstance(target, type) else value
            changed = [_changed(target, args, kwargs, outs)] if outs else []
            return wire.encode(["value", made, *changed], self._stand_in)
        except WireError as error:
            # The answer proper is the second item of what was being encoded.
            return wire.encode(["unencodable", error.path.removeprefix("[1]"), error.problem])

    def _target(self, on: Any, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{name} is not a public name")
        return self._entries[name] if on is None else getattr(on, name)

    def _stand_in(self, value: Any) -> Handle | Record | Array | None:
        """The word for an object that is not a plain value itself."""
        kind = type(value)
        if self._records.get(kind.__name__) is kind:
            return Record(kind.__name__, {field.name: getattr(value, field.name) for field in fields(value)})
        if any(kind is entry for entry in self._entries.values()):
            return self._keep(value)
        return arrays.from_numpy(value)

    def _revive(self, word: Handle | Record | Array) -> Any:
        if isinstance(word, Handle):
            return self._objects[word.number]
        if isinstance(word, Record):
            return self._records[word.name](**word.fields)
        return arrays.to_numpy(word)

    def _keep(self, value: Any) -> Handle:
        """The same object has the same handle for as long as it is kept."""
        number = self._numbers.get(id(value))
        if number is None:
            if len(self._objects) >= MAX_HANDLES:
                raise WireError("", f"more than {MAX_HANDLES} objects")
            number = self._next
            self._next += 1
            self._numbers[id(value)] = number
            self._objects[number] = value
        return Handle(number)


def _records_of_contract() -> dict[str, type]:
    names = vars(sys.modules["contract"])
    return {name: kind for name, kind in names.items() if isinstance(kind, type) and is_dataclass(kind)}


def _changed(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], outs: Sequence[str]) -> dict[str, Any]:
    """The arguments that the contract lets a call write into, as they are after it."""
    code = getattr(getattr(target, "__func__", target), "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code else ()
    given = dict(zip(names[1:] if hasattr(target, "__self__") else names, args, strict=False)) | dict(kwargs)
    return {name: given[name] for name in outs if name in given}
