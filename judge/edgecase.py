"""A failure as people read it: one sentence, the calls with their answers, the first that is wrong, and a replay. Pure.

Everything comes from the record of what crossed the wall; nothing is parsed out of pytest's or Hypothesis's text.
"""

from dataclasses import dataclass
from typing import Any

from hypothesis.errors import Flaky

from judge.facts import Group
from judge.literal import cut, expression, literal, statement
from judge.report import Case, Step
from judge.repro import Check, Ending, Heading, replay
from judge.same import Compared, Mismatch, difference
from judge.verdict import Verdict
from sandbox.errors import GuestFault
from sandbox.transcript import Call, Name

MAX_STEPS = 60
MAX_SENTENCE = 1500
MAX_OUTPUT = 8_000

DEATHS = {
    Verdict.CRASHED: "the process ended before it answered",
    Verdict.TIMEOUT: "no answer came in time, or the CPU time was used up",
    Verdict.MEMORY: "the process was over its memory",
    Verdict.OUTPUT_LIMIT: "the process wrote more output than it may",
    Verdict.BROKE_WIRE: "the answer was not plain data",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """One failure as it happened: `calls` are those that were kept, `count` all that were made."""

    error: BaseException
    calls: tuple[Call, ...]
    count: int
    last: Compared | None


@dataclass(frozen=True, slots=True)
class Failure:
    """Whose failure it is, and what was seen of it; `output` is what the guest wrote, where it may be shown."""

    group: Group
    test: str
    promise: str
    seen: Seen
    output: str | None


def case_of(failure: Failure, verdict: Verdict) -> Case:
    """The case of a failure that has got this verdict."""
    seen = failure.seen
    bad = first_bad(seen)
    sentence = cut(_sentence(seen, verdict, bad), MAX_SENTENCE)
    heading = Heading(failure.group.title, failure.test, failure.promise)
    ending = Ending(_check(seen, bad), bad.number if bad else 0, seen.last, sentence)
    mismatch = seen.error if isinstance(seen.error, Mismatch) else None
    return Case(
        group=failure.group.key,
        title=failure.group.title,
        test=failure.test,
        promise=failure.promise,
        verdict=verdict,
        sentence=sentence,
        steps=tuple(_step(call, seen, bad) for call in seen.calls[-MAX_STEPS:]),
        first_bad_step=bad.number if bad else 0,
        expected=mismatch.expected if mismatch else None,
        actual=mismatch.actual if mismatch else None,
        path=mismatch.path if mismatch else "",
        label=None,
        calls=seen.count,
        shrunk_from=None,
        note=f"Only the last {MAX_STEPS} calls are shown." if seen.count > MAX_STEPS else None,
        output=cut(failure.output, MAX_OUTPUT) if failure.output else None,
        repro=replay(heading, seen.calls, ending),
    )


def first_bad(seen: Seen) -> Call | None:
    """The call whose answer was refused, or the last one; None if there was no call."""
    if isinstance(seen.error, Mismatch) and seen.last and seen.last.how != "raises":
        for call in reversed(seen.calls):
            if is_answer(call, seen.last.actual):
                return call
    return seen.calls[-1] if seen.calls else None


def is_answer(call: Call, actual: Any) -> bool:
    """Whether the compared value is just what this call answered."""
    came = call.raised is None and not call.died and not isinstance(call.answer, Name)
    return came and difference(call.answer, actual) is None


def _check(seen: Seen, bad: Call | None) -> Check:
    if bad is None or isinstance(seen.error, GuestFault) or getattr(seen.error, "from_solution", False):
        return Check.DIES
    if not isinstance(seen.error, Mismatch) or seen.last is None:
        return Check.DERIVED
    if seen.last.how == "raises":
        return Check.RAISES
    return Check.COMPARES if is_answer(bad, seen.last.actual) else Check.DERIVED


def _sentence(seen: Seen, verdict: Verdict, bad: Call | None) -> str:
    if bad is None:
        return f"The test failed before any call: {seen.error}"
    call = cut(expression(bad))
    if isinstance(seen.error, GuestFault):
        return f"{call}: {DEATHS.get(verdict, 'the process ended')}."
    if getattr(seen.error, "from_solution", False):
        raised = bad.raised or (type(seen.error).__name__, str(seen.error))
        return f"{call} raised {cut(': '.join(raised))}."
    if isinstance(seen.error, Flaky):
        return "The same calls, repeated, were answered differently."
    if isinstance(seen.error, Mismatch):
        return _compared(seen, seen.error, bad)
    return f"After {call} the test could not use an answer: {type(seen.error).__name__}: {seen.error}"


def _compared(seen: Seen, error: Mismatch, bad: Call) -> str:
    where = f" (first difference: {error.expected} at {error.path}, not {error.actual})" if error.path else ""
    last = seen.last
    wanted, got = (cut(literal(last.expected)), cut(literal(last.actual))) if last else (error.expected, error.actual)
    match _check(seen, bad):
        case Check.RAISES:
            kind = error.expected.removesuffix(" to be raised")
            return f"{cut(expression(bad))} should have raised {kind}; {_came(bad)}."
        case Check.COMPARES:
            return (
                f"{cut(expression(bad))} should have answered {wanted}; it answered {cut(literal(bad.answer))}{where}."
            )
        case _:
            return f"After {cut(expression(bad))} the test expected {wanted} and got {got}{where}."


def _came(call: Call) -> str:
    return f"it raised {cut(': '.join(call.raised))}" if call.raised else f"it answered {cut(literal(call.answer))}"


def _step(call: Call, seen: Seen, bad: Call | None) -> Step:
    text = cut(statement(call))
    if call.died:
        return Step(call.number, text, "no answer", "died")
    state = "differs" if call is bad and isinstance(seen.error, AssertionError) else "ok"
    if call.raised is not None:
        return Step(call.number, text, cut(": ".join(call.raised)), "raised" if state == "ok" else state)
    return Step(call.number, text, "" if isinstance(call.answer, Name) else cut(literal(call.answer)), state)
