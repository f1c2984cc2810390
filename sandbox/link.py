"""The host's end of the line to one child of a guest: ask one thing, wait for one whole answer, believe none of it.

Theory of operation. The child at the other end belongs to the submission. Whatever arrives is bytes of a stranger,
and only four shapes of answer are let in: a value, an exception (its class out of a closed table, never looked up by
name), a value that could not be encoded, or a refusal to load. Each question carries a ticket of four random bytes
that its answer must repeat, so an answer sent in advance or one that a second process adds later is found out. A
question has one deadline for sending all of it and reading all of the answer. After the first fault the link is
closed for good: a guest that missed a deadline may still answer, and its late answer would be read as the next one's.
What ended a child is never told by the child itself: `on_fault` asks the keeper, who asks the kernel.
"""

import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, TypeVar

from sandbox.errors import GuestBrokeWire, GuestCrashed, GuestTimeout, GuestWouldNotLoad, SandboxError, SolutionRaised
from sandbox.guest import wire
from sandbox.guest.wire import Array, Handle, Record, WireError
from sandbox.lease import Fate, fault_of
from sandbox.limits import Limits
from sandbox.proxy import Proxy, handle_of
from sandbox.transcript import Transcript

MAX_MESSAGE: Final = 2048
MAX_NAME: Final = 160
MAX_PROXIES: Final = 10_000
LOAD_ERRORS: Final = frozenset({"syntax", "import", "raised", "exit", "missing_entry"})
_CROSSING: Final = {kind.__name__: kind for kind in wire.CROSSING}
_TICKET_OCTETS: Final = 4
_Fault = TypeVar("_Fault", bound=BaseException)


class Link:
    """One child, as the tests' process sees it.

    `records` are the dataclasses of the drill's contract, by name. `outs` says, by callable, which parameters the
    contract lets it write into, and at which place they stand: a list, dict or set passed there changes here as well.
    """

    def __init__(
        self,
        sock: socket.socket,
        limits: Limits,
        *,
        on_fault: Callable[[], Fate] | None = None,
        clock: wire.Clock = time.monotonic,
    ) -> None:
        self.records: Mapping[str, type] = {}
        self.outs: Mapping[str, Mapping[str, int]] = {}
        self.transcript = Transcript()
        self._sock = sock
        self._call_s = limits.call_s
        self._on_fault = on_fault
        self._clock = clock
        self._fault: BaseException | None = None
        self._fate: Fate | None = None
        self._proxies: dict[int, Proxy] = {}
        self._calling = ""

    def load(self, source: str, entry: Sequence[str], contract: str | None = None) -> None:
        """Load a submission into the child. Raises GuestWouldNotLoad, or another GuestFault."""
        try:
            answer = self._decoded(self._exchange(wire.encode(["load", source, list(entry), contract])))
        except GuestCrashed as crash:
            if self._fate is None or self._fate.ended != "exit":
                raise
            raise GuestWouldNotLoad("exit", "the process ended while the source was loading") from crash
        match answer:
            case ["ok"]:
                return
            case ["load_error", str(kind), str(message)] if kind in LOAD_ERRORS and len(message) <= MAX_MESSAGE:
                raise GuestWouldNotLoad(kind, message)
            case _:
                raise self._broken("not an answer to `load`")

    def call(self, handle: Handle | None, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Ask for one call. Its value; or what it raised, by exact name or as SolutionRaised; or a GuestFault."""
        if name.startswith("_"):
            raise AttributeError(f"{name} does not cross the wall")
        outs = self.outs.get(name, {})
        question: list[Any] = ["call", handle and self._known(handle), name, args]
        if kwargs or outs:
            question += (kwargs, list(outs))
        request = wire.encode(question, self._stand_in)
        self._calling = name
        self.transcript.asked(request)
        payload = self._exchange(request)
        answer = self._checked(self._decoded(payload), frozenset(outs))
        self.transcript.answered(payload)
        if answer[0] == "raise":
            raise _raised(answer[1], answer[2])
        for out, place in outs.items():
            _change(kwargs[out] if out in kwargs else args[place], answer[2][out])
        return answer[1]

    def forget(self) -> None:
        """Let go of all objects in the guest; this example's proxies are of no use any more."""
        if self._proxies and self._fault is None:
            self._proxies.clear()
            self.transcript.forget_names()
            if self._decoded(self._exchange(wire.encode(["drop", None]))) != ["ok"]:
                raise self._broken("not an answer to `drop`")

    def close(self) -> None:
        """Hang up; the child ends itself, or its keeper ends it."""
        self._sock.close()

    # --- one question, one answer

    def _exchange(self, request: bytes) -> bytes:
        if self._fault is not None:
            raise self._fault
        ticket = os.urandom(_TICKET_OCTETS)
        deadline = self._clock() + self._call_s
        try:
            wire.send_frame(self._sock, wire.frame(ticket + request), deadline, self._clock)
            answer = wire.read_lone_frame(self._sock, deadline, self._clock)
        except TimeoutError:
            raise self._lost(GuestTimeout(f"no whole answer within {self._call_s:g} s")) from None
        except (EOFError, ConnectionError):
            raise self._lost(GuestCrashed("the process ended before it answered")) from None
        except WireError as error:
            raise self._broken(str(error)) from None
        except BaseException:
            # The answer is still under way; nobody may take it for the next one's.
            self._ended_by(SandboxError("an earlier call was broken off on our side"))
            raise
        if answer[:_TICKET_OCTETS] != ticket:
            raise self._broken("an answer to another question")
        return answer[_TICKET_OCTETS:]

    def _lost(self, otherwise: BaseException) -> BaseException:
        """No answer: the keeper knows the cause, unless there is none beside what we saw."""
        self._fate = self._on_fault() if self._on_fault is not None else None
        if self._fate is None or self._fate.cause is None:
            return self._ended_by(otherwise)
        return self._ended_by(fault_of(self._fate))

    def _broken(self, how: str) -> GuestBrokeWire:
        return self._ended_by(GuestBrokeWire(how[:MAX_MESSAGE]))

    def _ended_by(self, fault: _Fault) -> _Fault:
        self._fault = fault
        self._sock.close()
        return fault

    # --- values, in and out

    def _decoded(self, payload: bytes) -> list[Any]:
        try:
            answer = wire.decode(payload, self._revive)
        except WireError as error:
            raise self._broken(str(error)) from None
        if type(answer) is not list:
            raise self._broken("an answer that is no list")
        return answer

    def _checked(self, answer: list[Any], outs: frozenset[str]) -> list[Any]:
        """The answer to a call, if it has one of the three shapes of one."""
        match answer:
            case ["value", _] if not outs:
                return answer
            case ["value", _, dict() as changed] if outs and changed.keys() == outs:
                return answer
            case ["raise", str(name), str(message)] if len(name) <= MAX_NAME and len(message) <= MAX_MESSAGE:
                return answer
            case ["unencodable", str(path), str(problem)] if len(path) + len(problem) <= MAX_MESSAGE:
                raise self._broken(f"the answer{path} cannot cross: {problem}")
            case _:
                raise self._broken("not an answer to a call")

    def _stand_in(self, value: Any) -> Handle | Record | None:
        if type(value) is Proxy:
            return self._known(handle_of(value))
        kind: Any = self.records.get(type(value).__name__)
        if kind is None or type(value) is not kind:
            return None
        return Record(kind.__name__, {field.name: getattr(value, field.name) for field in fields(kind)})

    def _known(self, handle: Handle) -> Handle:
        if handle.number not in self._proxies:
            raise SandboxError("a proxy was used after its example")
        return handle

    def _revive(self, word: Handle | Record | Array) -> Any:
        if isinstance(word, Handle):
            return self._proxies.get(word.number) or self._new_proxy(word)
        return self._rebuilt(word) if isinstance(word, Record) else word

    def _new_proxy(self, handle: Handle) -> Proxy:
        if len(self._proxies) >= MAX_PROXIES:
            raise WireError("", f"more than {MAX_PROXIES} objects")
        proxy = Proxy(self, handle, self.transcript.name_object(handle.number, self._calling))
        self._proxies[handle.number] = proxy
        return proxy

    def _rebuilt(self, record: Record) -> Any:
        """An instance with the fields as they were stored: neither its `__init__` nor a default has a say."""
        kind: Any = self.records.get(record.name)
        if kind is None or {field.name for field in fields(kind)} != record.fields.keys():
            raise WireError("", f"no record of this drill: {record.name[:MAX_NAME]}")
        value: object = object.__new__(kind)
        for name, item in record.fields.items():
            object.__setattr__(value, name, item)
        return value


def _raised(name: str, message: str) -> Exception:
    """Marked, so that nobody takes it for a fault of the test that called."""
    crossing = _CROSSING.get(name)
    error = crossing(message) if crossing is not None else SolutionRaised(name, message)
    error.from_solution = True  # type: ignore[attr-defined] # exceptions have room for it
    return error


def _change(target: Any, now: Any) -> None:
    """Make a container here equal to what it has become there."""
    if type(target) is list and type(now) is list:
        target[:] = now
    elif type(target) in (dict, set) and type(now) is type(target):
        target.clear()
        target.update(now)
    else:
        raise SandboxError(f"{type(target).__name__} cannot be written into")
