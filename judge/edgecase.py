"""A failure as people read it: one sentence, the calls with their answers, the first that is wrong, and a replay. Pure.

Everything comes from the record of what crossed the wall; nothing is parsed out of pytest's or Hypothesis's text.
"""

from dataclasses import dataclass
from typing import Any

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
class Failure:
    """`calls` are those that were kept, `count` all that were made; `output` is what the guest wrote, where it may
    be shown."""

    group: Group
    test: str
    promise: str
    error: BaseException
    calls: tuple[Call, ...]
    count: int
    last: Compared | None
    output: str | None


def case_of(failure: Failure, verdict: Verdict) -> Case:
    """The case of a failure that has got this verdict."""
    bad = first_bad(failure)
    sentence = cut(_sentence(failure, verdict, bad), MAX_SENTENCE)
    heading = Heading(failure.group.title, failure.test, failure.promise)
    ending = Ending(_check(failure, bad), bad.number if bad else 0, failure.last, sentence)
    mismatch = failure.error if isinstance(failure.error, Mismatch) else None
    return Case(
        group=failure.group.key,
        title=failure.group.title,
        test=failure.test,
        promise=failure.promise,
        verdict=verdict,
        sentence=sentence,
        steps=tuple(_step(call, failure, bad) for call in failure.calls[-MAX_STEPS:]),
        first_bad_step=bad.number if bad else 0,
        expected=mismatch.expected if mismatch else None,
        actual=mismatch.actual if mismatch else None,
        path=mismatch.path if mismatch else "",
        label=None,
        calls=failure.count,
        shrunk_from=None,
        note=f"Only the last {MAX_STEPS} calls are shown." if failure.count > MAX_STEPS else None,
        output=cut(failure.output, MAX_OUTPUT) if failure.output else None,
        repro=replay(heading, failure.calls, ending),
    )


def first_bad(failure: Failure) -> Call | None:
    """The call whose answer was refused, or the last one; None if there was no call."""
    if isinstance(failure.error, Mismatch) and failure.last and failure.last.how != "raises":
        for call in reversed(failure.calls):
            if is_answer(call, failure.last.actual):
                return call
    return failure.calls[-1] if failure.calls else None


def is_answer(call: Call, actual: Any) -> bool:
    """Whether the compared value is just what this call answered."""
    came = call.raised is None and not call.died and not isinstance(call.answer, Name)
    return came and difference(call.answer, actual) is None


def _check(failure: Failure, bad: Call | None) -> Check:
    if bad is None or isinstance(failure.error, GuestFault) or getattr(failure.error, "from_solution", False):
        return Check.DIES
    if not isinstance(failure.error, Mismatch) or failure.last is None:
        return Check.DERIVED
    if failure.last.how == "raises":
        return Check.RAISES
    return Check.COMPARES if is_answer(bad, failure.last.actual) else Check.DERIVED


def _sentence(failure: Failure, verdict: Verdict, bad: Call | None) -> str:
    if bad is None:
        return f"The test failed before any call: {failure.error}"
    call = cut(expression(bad))
    if isinstance(failure.error, GuestFault):
        return f"{call}: {DEATHS.get(verdict, 'the process ended')}."
    if getattr(failure.error, "from_solution", False):
        raised = bad.raised or (type(failure.error).__name__, str(failure.error))
        return f"{call} raised {cut(': '.join(raised))}."
    if isinstance(failure.error, Mismatch):
        return _compared(failure, failure.error, bad)
    return f"After {call} the test could not use an answer: {type(failure.error).__name__}: {failure.error}"


def _compared(failure: Failure, error: Mismatch, bad: Call) -> str:
    where = f" at {error.path}" if error.path else ""
    match _check(failure, bad):
        case Check.RAISES:
            wanted = error.expected.removesuffix(" to be raised")
            return f"{cut(expression(bad))} should have raised {wanted}; {_came(bad)}."
        case Check.COMPARES:
            return f"{cut(expression(bad))} should have answered {error.expected}{where}; it answered {error.actual}."
        case _:
            return f"After {cut(expression(bad))} the test expected {error.expected}{where} and got {error.actual}."


def _came(call: Call) -> str:
    return f"it raised {cut(': '.join(call.raised))}" if call.raised else f"it answered {cut(literal(call.answer))}"


def _step(call: Call, failure: Failure, bad: Call | None) -> Step:
    text = cut(statement(call))
    if call.died:
        return Step(call.number, text, "no answer", "died")
    state = "differs" if call is bad and isinstance(failure.error, AssertionError) else "ok"
    if call.raised is not None:
        return Step(call.number, text, cut(": ".join(call.raised)), "raised" if state == "ok" else state)
    return Step(call.number, text, "" if isinstance(call.answer, Name) else cut(literal(call.answer)), state)
