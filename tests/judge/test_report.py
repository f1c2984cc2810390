"""A verdict is concluded from outcomes alone, and only all of them make `accepted`."""

import itertools
import json

import pytest

from judge.facts import Group
from judge.report import Case, Label, Outcome, PublicReport, Shape, State, Step, conclude
from judge.verdict import Verdict

FIRST = Group("first", "First", 1, "a", ("test_one", "test_two"), 3)
SECOND = Group("second", "Second", 2, "b", ("test_three",), 1)
DECLARED = (FIRST, SECOND)
FAILURES = [verdict for verdict in Verdict if verdict not in (Verdict.ACCEPTED, Verdict.CANCELLED)]


def outcomes(*verdicts: Verdict | None, comparisons: int = 2) -> list[Outcome]:
    tests = [(group.key, test) for group in DECLARED for test in group.tests]
    return [Outcome(*test, verdict, comparisons) for test, verdict in zip(tests, verdicts, strict=True)]


PASSED = outcomes(*[Verdict.ACCEPTED] * 3)


def test_all_passed_and_compared_is_accepted() -> None:
    report = conclude("r", DECLARED, PASSED)
    assert report.verdict is Verdict.ACCEPTED
    assert {group.state for group in report.groups} == {State.PASSED}


@pytest.mark.parametrize("missing", range(3))
def test_a_missing_outcome_is_a_judge_error(missing: int) -> None:
    assert conclude("r", DECLARED, PASSED[:missing] + PASSED[missing + 1 :]).verdict is Verdict.JUDGE_ERROR


@pytest.mark.parametrize("twice", range(3))
def test_an_outcome_told_twice_is_a_judge_error(twice: int) -> None:
    assert conclude("r", DECLARED, [*PASSED, PASSED[twice]]).verdict is Verdict.JUDGE_ERROR


def test_an_outcome_that_nobody_declared_is_a_judge_error() -> None:
    stray = Outcome("second", "test_four", Verdict.ACCEPTED, 9)
    assert conclude("r", DECLARED, [*PASSED, stray]).verdict is Verdict.JUDGE_ERROR


def test_an_outcome_in_another_group_is_a_judge_error() -> None:
    moved = [*PASSED[:2], Outcome("first", "test_three", Verdict.ACCEPTED, 2)]
    assert conclude("r", DECLARED, moved).verdict is Verdict.JUDGE_ERROR


def test_no_outcomes_are_a_judge_error() -> None:
    assert conclude("r", DECLARED, []).verdict is Verdict.JUDGE_ERROR
    assert conclude("r", (), []).verdict is Verdict.JUDGE_ERROR


@pytest.mark.parametrize("known", list(itertools.product([Verdict.ACCEPTED, None], repeat=3)))
def test_something_not_reached_is_never_accepted(known: tuple[Verdict | None, ...]) -> None:
    report = conclude("r", DECLARED, outcomes(*known))
    assert (report.verdict is Verdict.ACCEPTED) == (None not in known)
    assert report.verdict in (Verdict.ACCEPTED, Verdict.JUDGE_ERROR)


@pytest.mark.parametrize("verdict", FAILURES)
@pytest.mark.parametrize("place", range(3))
def test_one_failure_is_the_verdict(verdict: Verdict, place: int) -> None:
    known: list[Verdict | None] = [Verdict.ACCEPTED] * 3
    known[place] = verdict
    assert conclude("r", DECLARED, outcomes(*known)).verdict is verdict


@pytest.mark.parametrize(
    "known", list(itertools.product([Verdict.ACCEPTED, Verdict.WRONG, Verdict.CRASHED, None], repeat=3))
)
def test_the_first_failing_group_decides(known: tuple[Verdict | None, ...]) -> None:
    report = conclude("r", DECLARED, outcomes(*known))
    failed = [group.verdict for group in report.groups if group.state is State.FAILED]
    if failed:
        assert report.verdict is failed[0]
        assert report.verdict is next(one for one in known if one not in (None, Verdict.ACCEPTED))


def test_too_few_comparisons_in_a_group_are_wrong() -> None:
    report = conclude("r", DECLARED, outcomes(*[Verdict.ACCEPTED] * 3, comparisons=1))
    assert report.verdict is Verdict.WRONG
    assert [group.state for group in report.groups] == [State.FAILED, State.PASSED]


def test_too_few_comparisons_are_our_fault_where_the_reference_makes_too_few() -> None:
    short = [Outcome(one.group, one.test, one.verdict, 1, reference_short=one.group == "first") for one in PASSED]
    report = conclude("r", DECLARED, short)
    assert report.verdict is Verdict.JUDGE_ERROR
    assert report.groups[0].state is State.NOT_REACHED


def test_a_source_that_does_not_load_fails_no_group() -> None:
    loaded = [Outcome("first", "test_one", Verdict.IMPORT_ERROR, 0, "line 3: invalid syntax")]
    rest = [Outcome(one.group, one.test, None) for one in PASSED[1:]]
    report = conclude("r", DECLARED, loaded + rest)
    assert (report.verdict, report.message) == (Verdict.IMPORT_ERROR, "line 3: invalid syntax")
    assert {group.state for group in report.groups} == {State.NOT_REACHED}


def test_a_judge_error_shows_no_group_as_failed() -> None:
    report = conclude("r", DECLARED, outcomes(Verdict.ACCEPTED, Verdict.JUDGE_ERROR, None))
    assert report.verdict is Verdict.JUDGE_ERROR
    assert State.FAILED not in {group.state for group in report.groups}


@pytest.mark.parametrize("verdict", FAILURES)
def test_a_reason_becomes_public_only_for_a_source_that_does_not_load(verdict: Verdict) -> None:
    secret = [Outcome("first", "test_one", verdict, 0, "CANARY")]
    rest = [Outcome(one.group, one.test, None) for one in PASSED[1:]]
    text = json.dumps(conclude("r", DECLARED, secret + rest).to_json())
    assert ("CANARY" in text) == (verdict is Verdict.IMPORT_ERROR)


def test_a_report_tells_no_counts_and_no_test_names() -> None:
    text = json.dumps(conclude("r", DECLARED, outcomes(Verdict.WRONG, None, None)).to_json())
    assert "test_" not in text
    assert "comparisons" not in text


@pytest.mark.parametrize(("calls", "shape"), [(0, "1-3"), (3, "1-3"), (4, "4-10"), (10, "4-10"), (11, "more")])
def test_a_case_has_one_of_three_sizes(calls: int, shape: str) -> None:
    assert Shape.of(calls) == shape


def case(**changed: object) -> Case:
    known = {
        "group": "first", "title": "First", "test": "test_one", "promise": "Kept.", "verdict": Verdict.WRONG,
        "sentence": "No.", "steps": (Step(1, "f()", "1", "differs"),), "first_bad_step": 1, "expected": "2",
        "actual": "1", "path": "", "label": Label.REPRODUCIBLE, "calls": 1, "shrunk_from": 4, "note": None,
        "output": None, "repro": "def test(): ...",
    }  # fmt: skip
    return Case(**{**known, **changed})  # type: ignore[arg-type]


def test_a_case_survives_json() -> None:
    one = case()
    assert Case.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_a_report_survives_json() -> None:
    report = conclude("r", DECLARED, outcomes(Verdict.WRONG, None, Verdict.ACCEPTED))
    report = report.with_cases([case(group="visible")], {"first": (Label.REPRODUCIBLE, Shape.SMALL)})
    again = PublicReport.from_json(json.loads(json.dumps(report.to_json())))
    assert again.groups == report.groups
    assert again.to_json() == report.to_json()


def test_the_second_pass_cannot_change_a_verdict() -> None:
    report = conclude("r", DECLARED, outcomes(Verdict.WRONG, None, Verdict.ACCEPTED))
    later = report.with_cases([], {"first": (Label.NOT_DETERMINISTIC, Shape.LARGE), "second": (None, None)})
    assert later.verdict is report.verdict
    assert [(one.state, one.verdict) for one in later.groups] == [(one.state, one.verdict) for one in report.groups]
