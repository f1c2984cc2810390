"""Each way in which a test can end has one verdict."""

import unittest

import pytest
from hypothesis.errors import FailedHealthCheck, FlakyFailure, Unsatisfiable

from judge.blame import Doubt, blame, kind
from judge.same import Mismatch
from judge.verdict import Verdict
from sandbox import errors


def from_solution(error: Exception) -> Exception:
    error.from_solution = True  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (None, Verdict.ACCEPTED),
        (Mismatch("", "1", "2"), Verdict.WRONG),
        (AssertionError("no"), Verdict.WRONG),
        (FlakyFailure("twice", [ValueError()]), Verdict.WRONG),
        (FailedHealthCheck("filtered"), Doubt.ANSWER_OR_TEST),
        (errors.GuestCrashed(), Verdict.CRASHED),
        (errors.GuestTimeout(), Verdict.TIMEOUT),
        (errors.GuestOutOfMemory(), Verdict.MEMORY),
        (errors.GuestFlooded(), Verdict.OUTPUT_LIMIT),
        (errors.GuestBrokeWire(), Verdict.BROKE_WIRE),
        (errors.GuestWouldNotLoad("syntax", "line 1"), Verdict.IMPORT_ERROR),
        (errors.SolutionRaised("Skipped", "please"), Verdict.CRASHED),
        (from_solution(KeyError(1)), Verdict.CRASHED),
        (from_solution(MemoryError()), Verdict.CRASHED),
        (errors.KeeperGone("gone"), Verdict.JUDGE_ERROR),
        (errors.NoRoom("full"), Verdict.JUDGE_ERROR),
        (OSError("disk"), Verdict.JUDGE_ERROR),
        (MemoryError(), Verdict.JUDGE_ERROR),
        (Unsatisfiable("never"), Verdict.JUDGE_ERROR),
        (SystemExit(0), Verdict.JUDGE_ERROR),
        (unittest.SkipTest("not today"), Verdict.JUDGE_ERROR),
        (pytest.skip.Exception("not today"), Verdict.JUDGE_ERROR),
        (pytest.xfail.Exception("as expected"), Verdict.JUDGE_ERROR),
        (pytest.exit.Exception("enough", 0), Verdict.JUDGE_ERROR),
        (TypeError("'NoneType' object is not subscriptable"), Doubt.ANSWER_OR_TEST),
        (IndexError(), Doubt.ANSWER_OR_TEST),
        (AttributeError(), Doubt.ANSWER_OR_TEST),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_an_ending_has_a_verdict(error: BaseException | None, verdict: Verdict | Doubt) -> None:
    assert blame(error) is verdict


def test_only_no_error_at_all_passes() -> None:
    everything = [*BaseException.__subclasses__(), *Exception.__subclasses__()]
    plain = [error for error in everything if error.__module__ == "builtins" and error.__init__ is not None]
    made = [error.__new__(error, "", [ValueError()]) for error in plain]
    assert [error for error in made if blame(error) is Verdict.ACCEPTED] == []


def test_a_failure_is_known_by_the_name_of_what_was_raised() -> None:
    assert kind(errors.SolutionRaised("Full", "x")) == "Full"
    assert kind(Mismatch("", "1", "2")) == "Mismatch"
