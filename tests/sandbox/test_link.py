"""The host's end of the line believes nothing: whatever a guest sends is a known answer, or a fault of the guest."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.errors import (
    GuestBrokeWire,
    GuestCrashed,
    GuestFault,
    GuestFlooded,
    GuestOutOfMemory,
    GuestTimeout,
    GuestWouldNotLoad,
    KeeperGone,
    SandboxError,
    SolutionRaised,
)
from sandbox.guest import wire
from sandbox.guest.wire import Handle, Record, encode, frame
from sandbox.lease import Fate
from sandbox.limits import LIMIT_CLASSES
from sandbox.link import Link
from sandbox.proxy import Proxy
from sandbox.transcript import Name
from tests.sandbox.guest_fixture import Agent, loaded, running_agent

LIMITS = LIMIT_CLASSES["small"]
IMPATIENT = replace(LIMITS, call_s=0.2)
Says = Callable[[bytes], bytes]
"""What a scripted guest sends, given the ticket of the question; it hangs up when there is nothing left to say."""


@contextmanager
def facing(*script: Says, limits: Any = LIMITS, hold: bool = False, fate: Fate | None = None) -> Iterator[Link]:
    """A link whose other end answers by the script, and then hangs up unless it is to hold the line."""
    ours, theirs = socket.socketpair()
    theirs.settimeout(20)

    def play() -> None:
        for says in script:
            theirs.sendall(says(wire.read_frame(theirs)[:4]))
        if not hold:
            theirs.close()

    guest = threading.Thread(target=play)
    guest.start()
    link = Link(ours, limits, on_fault=None if fate is None else lambda: fate)
    try:
        yield link
    finally:
        link.close()
        guest.join(20)
        theirs.close()


def saying(value: Any) -> Says:
    return lambda ticket: frame(ticket + encode(value))


def call(link: Link, *args: Any) -> Any:
    return link.call(None, "f", args, {})


# --- answers


def test_a_value_is_the_answer() -> None:
    with facing(saying(["value", [1, 2]])) as link:
        assert call(link) == [1, 2]


@pytest.mark.parametrize(
    "answer",
    [
        *(None, 1, "value", {}, ("value", 1), [], ["value"], ["value", 1, {}], ["value", 1, 2, 3], [["value"], 1]),
        *(["ok"], ["verdict", "accepted"], ["load_error", "exit", "x"], ["raise", "ValueError"], [b"value", 1]),
        *(
            ["raise", 1, ""],
            ["raise", "ValueError", b""],
            ["raise", "ValueError", "x" * 2049],
            ["raise", "x" * 999, ""],
        ),
        *(["unencodable", 1, ""], ["unencodable", "x" * 9999, ""], ["value", Record("Unknown", {})]),
    ],
)
def test_an_answer_of_another_shape_breaks_the_wire(answer: Any) -> None:
    with facing(saying(answer)) as link, pytest.raises(GuestBrokeWire):
        call(link)


@pytest.mark.parametrize(
    "says",
    [
        lambda ticket: frame(b"0000" + encode(["value", 1])),
        lambda ticket: frame(ticket),
        lambda ticket: frame(b""),
        lambda ticket: frame(ticket + encode(["value", 1]) + b"N"),
        lambda ticket: frame(ticket + encode(["value", 1])) + b"\0",
        lambda ticket: frame(ticket + encode(["value", 1])) * 2,
        lambda ticket: struct.pack(">I", wire.MAX_FRAME + 1),
        lambda ticket: b"HTTP/1.1 200 OK\r\n\r\n",
    ],
)
def test_bytes_that_are_no_answer_break_the_wire(says: Says) -> None:
    with facing(says) as link, pytest.raises(GuestBrokeWire):
        call(link)


@given(st.binary(max_size=80))
def test_any_payload_is_an_answer_or_a_fault_of_the_guest(payload: bytes) -> None:
    allowed = contextlib.suppress(GuestFault, SolutionRaised, *wire.CROSSING)
    with facing(lambda ticket: frame(ticket + payload)) as link, allowed:
        call(link)


def test_a_second_answer_to_one_question_breaks_the_wire() -> None:
    tickets: list[bytes] = []

    def first(ticket: bytes) -> bytes:
        tickets.append(ticket)
        return frame(ticket + encode(["value", 1]))

    with facing(first, lambda _: frame(tickets[0] + encode(["value", 1]))) as link:
        assert call(link) == 1
        with pytest.raises(GuestBrokeWire, match="another question"):
            call(link)


# --- faults


def test_a_closed_line_is_a_crash() -> None:
    with facing(lambda _: b"") as link, pytest.raises(GuestCrashed):
        call(link)


def test_half_an_answer_and_an_end_is_a_crash() -> None:
    with facing(lambda ticket: frame(ticket + encode(["value", 1]))[:-1]) as link, pytest.raises(GuestCrashed):
        call(link)


@pytest.mark.parametrize("sent", [b"", b"\0\0", struct.pack(">I", 100) + b"x" * 50])
def test_no_whole_answer_in_time_is_a_timeout(sent: bytes) -> None:
    with facing(lambda _: sent, limits=IMPATIENT, hold=True) as link, pytest.raises(GuestTimeout):
        call(link)


def test_a_guest_that_reads_nothing_is_a_timeout() -> None:
    with facing(limits=IMPATIENT, hold=True) as link, pytest.raises(GuestTimeout):
        call(link, "x" * 4_000_000)


@pytest.mark.parametrize(
    ("cause", "fault"),
    [("memory", GuestOutOfMemory), ("cpu", GuestTimeout), ("wall", GuestTimeout), ("output", GuestFlooded)],
)
def test_the_keeper_tells_the_cause(cause: str, fault: type[BaseException]) -> None:
    with facing(lambda _: b"", fate=Fate(box_alive=True, cause=cause, detail="so")) as link:
        with pytest.raises(fault) as caught:
            call(link)
        assert type(caught.value) is fault


def test_a_fault_of_the_host_is_not_the_guests() -> None:
    with facing(lambda _: b"", fate=Fate(box_alive=False, cause="host")) as link, pytest.raises(KeeperGone):
        call(link)


def test_a_late_answer_is_a_timeout_whatever_the_child_did_meanwhile() -> None:
    fate = Fate(box_alive=True, ended="exit", number=0)
    with facing(lambda _: b"", limits=IMPATIENT, hold=True, fate=fate) as link, pytest.raises(GuestTimeout):
        call(link)


def test_a_link_that_has_faulted_stays_faulted() -> None:
    with facing(lambda _: b"") as link:
        for _ in range(2):
            with pytest.raises(GuestCrashed):
                call(link)


def test_a_call_broken_off_on_our_side_is_no_fault_of_the_guest() -> None:
    class Stopped(BaseException):
        pass

    def clock() -> float:
        raise Stopped

    ours, theirs = socket.socketpair()
    with ours, theirs:
        link = Link(ours, LIMITS, clock=iter_clock([0.0, 0.0], clock))
        with pytest.raises(Stopped):
            call(link)
        with pytest.raises(SandboxError, match="broken off"):
            call(link)


def iter_clock(times: list[float], then: Callable[[], float]) -> Callable[[], float]:
    return lambda: times.pop(0) if times else then()


# --- loading


@pytest.mark.parametrize("kind", ["syntax", "import", "raised", "exit", "missing_entry"])
def test_a_refusal_to_load_carries_its_kind(kind: str) -> None:
    with facing(saying(["load_error", kind, "because"])) as link:
        with pytest.raises(GuestWouldNotLoad) as caught:
            link.load("", [])
        assert (caught.value.kind, caught.value.reason) == (kind, "because")


@pytest.mark.parametrize(
    "answer", [["load_error", "accepted", ""], ["load_error", "raised", "x" * 2049], ["value", 1], ["ok", 1], None]
)
def test_an_answer_to_load_of_another_shape_breaks_the_wire(answer: Any) -> None:
    with facing(saying(answer)) as link, pytest.raises(GuestBrokeWire):
        link.load("", [])


def test_a_process_that_exits_while_loading_would_not_load() -> None:
    with facing(lambda _: b"", fate=Fate(box_alive=True, ended="exit", number=137)) as link:
        with pytest.raises(GuestWouldNotLoad) as caught:
            link.load("", [])
        assert caught.value.kind == "exit"


def test_a_process_that_is_killed_for_memory_while_loading_is_out_of_memory() -> None:
    fate = Fate(box_alive=True, cause="memory", ended="signal", number=9)
    with facing(lambda _: b"", fate=fate) as link, pytest.raises(GuestOutOfMemory):
        link.load("", [])


# --- objects and records


def test_a_handle_becomes_one_proxy() -> None:
    with facing(saying(["value", Handle(5)]), saying(["value", [Handle(5), Handle(6)]])) as link:
        first = call(link)
        again, other = call(link)
        assert isinstance(first, Proxy)
        assert first is again
        assert first is not other


def test_objects_without_end_break_the_wire() -> None:
    answer = saying(["value", [Handle(n) for n in range(10_001)]])
    with facing(answer) as link, pytest.raises(GuestBrokeWire, match="objects"):
        call(link)


def test_a_proxy_of_an_earlier_example_is_our_mistake() -> None:
    with facing(saying(["value", Handle(0)]), saying(["ok"])) as link:
        pool = call(link)
        link.forget()
        with pytest.raises(SandboxError):
            pool.alloc(1)
        with pytest.raises(SandboxError):
            call(link, pool)


def test_nothing_is_sent_to_forget_nothing() -> None:
    with facing() as link:
        link.forget()


def test_names_with_an_underscore_never_cross() -> None:
    with facing() as link, pytest.raises(AttributeError):
        link.call(None, "__class__", (), {})


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    stop: int = 3

    def __post_init__(self) -> None:
        raise AssertionError("a record is rebuilt as it was stored")


@pytest.mark.parametrize("fields", [{}, {"start": 1}, {"start": 1, "stop": 2, "more": 3}])
def test_a_record_has_exactly_its_fields(fields: dict[str, Any]) -> None:
    with facing(saying(["value", Record("Span", fields)])) as link:
        link.records = {"Span": Span}
        with pytest.raises(GuestBrokeWire, match="Span"):
            call(link)


def test_a_record_is_rebuilt_as_it_was_stored() -> None:
    with facing(saying(["value", Record("Span", {"start": True, "stop": "x"})])) as link:
        link.records = {"Span": Span}
        span = call(link)
        assert (type(span), span.start, span.stop) == (Span, True, "x")


def test_an_argument_that_cannot_cross_is_our_mistake() -> None:
    with facing() as link, pytest.raises(wire.WireError):
        call(link, object())


# --- against a real guest

FORKS = """
import os, threading, time
def f(): return os.fork() == 0
def g(): return 1
"""


@pytest.fixture(name="agent", scope="module")
def _agent() -> Iterator[Agent]:
    with running_agent() as agent:
        yield agent


def test_two_processes_on_one_line_never_give_two_accepted_answers(agent: Agent) -> None:
    with loaded(agent, FORKS, "f", "g") as link:
        link.call(None, "f", (), {})
        with pytest.raises(GuestBrokeWire):  # noqa: PT012 - at the call by which the slower one has spoken
            while True:
                link.call(None, "g", (), {})


@pytest.mark.parametrize("size", [0, 1, 16_380, 16_384, 70_000, 4_000_000])
def test_answers_of_every_size_arrive_whole(agent: Agent, size: int) -> None:
    with loaded(agent, "def f(data): return data[::-1]", "f") as link:
        data = bytes(range(256)) * (size // 256) + bytes(size % 256)
        assert call(link, data) == data[::-1]


# --- the transcript

POOL = """
class BlockPool:
    def __init__(self, n): self.n = n
    def alloc(self, k):
        if k > self.n: raise ValueError("no room")
        self.n -= k
        return list(range(k))
    def die(self): raise SystemExit
    def merge(self, other): return [self, other]
"""


@pytest.fixture(name="link")
def _link(agent: Agent) -> Iterator[Link]:
    with loaded(agent, POOL, "BlockPool") as link:
        yield link


def test_the_transcript_tells_the_story_of_an_example(link: Link) -> None:
    pool = link.call(None, "BlockPool", (4,), {})
    pool.alloc(k=2)
    with pytest.raises(ValueError, match="no room"):
        pool.alloc(9)
    with pytest.raises(GuestCrashed):
        pool.die()
    told = [(c.number, c.target, c.name, c.args, c.kwargs, c.answer, c.raised, c.died) for c in link.transcript.calls]
    assert told == [
        (1, "solution", "BlockPool", (4,), {}, Name("pool"), None, False),
        (2, "pool", "alloc", (), {"k": 2}, [0, 1], None, False),
        (3, "pool", "alloc", (9,), {}, None, ("ValueError", "no room"), False),
        (4, "pool", "die", (), {}, None, None, True),
    ]


def test_objects_have_names_in_arguments_and_answers(link: Link) -> None:
    one, other = link.call(None, "BlockPool", (4,), {}), link.call(None, "BlockPool", (4,), {})
    one.merge(other)
    last = link.transcript.calls[-1]
    assert (last.target, repr(last.args), repr(last.answer)) == ("pool", "(pool2,)", "[pool, pool2]")


@pytest.mark.parametrize("order", ["forget first", "clear first"])
def test_each_example_names_its_objects_anew(link: Link, order: str) -> None:
    for _ in range(3):
        steps = [link.forget, link.transcript.clear]
        for step in steps if order == "forget first" else steps[::-1]:
            step()
        link.call(None, "BlockPool", (4,), {}).alloc(1)
        assert [call.target for call in link.transcript.calls] == ["solution", "pool"]
        assert link.transcript.count == 2


def test_what_was_said_outlives_the_objects(link: Link) -> None:
    link.call(None, "BlockPool", (4,), {}).alloc(1)
    link.forget()
    assert [call.target for call in link.transcript.calls] == ["solution", "pool"]


def test_the_transcript_is_a_copy(link: Link) -> None:
    pool = link.call(None, "BlockPool", (4,), {})
    pool.alloc(2).append("ours")
    assert link.transcript.calls[-1].answer == [0, 1]


def test_the_transcript_is_bounded_and_still_counts(link: Link) -> None:
    pool = link.call(None, "BlockPool", (4,), {})
    for _ in range(2_100):
        pool.alloc(0)
    assert len(link.transcript.calls) == 2_000
    assert link.transcript.count == 2_101
