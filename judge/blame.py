"""Whose fault is it? The one place that looks at an exception and names a verdict. Pure.

An exception that came across the wall carries `from_solution`; one that did not was raised by a test or by us. A test
that trips over an answer's form (`answer[0]` where None came) looks just like a test with a bug, so that one kind is in
doubt, and evidence decides: where the reference passes the same test under the same seed, the answer was at fault.
"""

from enum import Enum

from hypothesis.errors import FailedHealthCheck, Flaky

from judge.verdict import Verdict
from sandbox.errors import (
    GuestBrokeWire,
    GuestCrashed,
    GuestFault,
    GuestFlooded,
    GuestOutOfMemory,
    GuestTimeout,
    GuestWouldNotLoad,
    SandboxError,
    SolutionRaised,
)


class Doubt(Enum):
    """Not decided by the exception alone."""

    ANSWER_OR_TEST = "answer or test"


FAULTS: dict[type[BaseException], Verdict] = {
    GuestCrashed: Verdict.CRASHED,
    GuestTimeout: Verdict.TIMEOUT,
    GuestOutOfMemory: Verdict.MEMORY,
    GuestFlooded: Verdict.OUTPUT_LIMIT,
    GuestBrokeWire: Verdict.BROKE_WIRE,
    GuestWouldNotLoad: Verdict.IMPORT_ERROR,
}
# What a test can trip over when an answer has a form that it did not expect; also, by answers that it cannot use.
TRIPS = (TypeError, AttributeError, LookupError, ValueError, ArithmeticError, FailedHealthCheck)


def blame(error: BaseException | None) -> Verdict | Doubt:
    """The verdict on a test that ended with `error`, or without one."""
    match error:
        case None:
            return Verdict.ACCEPTED
        case GuestFault():
            return FAULTS.get(type(error), Verdict.CRASHED)
        case SandboxError():
            return Verdict.JUDGE_ERROR
        case SolutionRaised():
            return Verdict.CRASHED
        case _ if is_from_solution(error):
            return Verdict.CRASHED
        case AssertionError() | Flaky():
            return Verdict.WRONG
        case _ if isinstance(error, TRIPS):
            return Doubt.ANSWER_OR_TEST
        case _:
            return Verdict.JUDGE_ERROR


def is_from_solution(error: BaseException) -> bool:
    return getattr(error, "from_solution", False) is True


def kind(error: BaseException) -> str:
    """What makes two failures the same one while a case is made smaller."""
    return error.name if isinstance(error, SolutionRaised) else type(error).__name__
