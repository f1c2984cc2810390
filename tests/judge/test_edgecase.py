"""A case reads as people speak, and its replay is a file that runs."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.edgecase import Failure, Seen, case_of
from judge.facts import Group
from judge.literal import cut, literal
from judge.report import Case
from judge.same import Compared, Mismatch, Same
from judge.verdict import Verdict
from sandbox.errors import GuestCrashed, SolutionRaised
from sandbox.guest.wire import Record
from sandbox.transcript import Call, Name

GROUP = Group("g", "A block comes back", 1, "c", ("test_it",), 1)
POOL = Call(1, "solution", "Pool", (4,), {}, answer=Name("pool"))


def case(error: BaseException, *calls: Call, last: Compared | None = None, verdict: Verdict = Verdict.WRONG) -> Case:
    seen = Seen(error, (POOL, *calls), 1 + len(calls), last)
    return case_of(Failure(GROUP, "test_it", "Kept.", seen, None), verdict)


def compared(actual: object, expected: object) -> tuple[Mismatch, Compared]:
    same = Same()
    try:
        same(actual, expected)
    except Mismatch as error:
        assert same.last is not None
        return error, same.last
    raise AssertionError("they are the same")


def test_a_wrong_answer_is_the_step_that_differs() -> None:
    error, last = compared([1, 1], [1, 2])
    one = case(error, Call(2, "pool", "alloc", (2,), {}, answer=[1, 1]), last=last)
    assert [(step.call, step.answer, step.state) for step in one.steps] == [
        ("pool = Pool(4)", "", "ok"),
        ("pool.alloc(2)", "[1, 1]", "differs"),
    ]
    assert one.sentence.startswith("pool.alloc(2) should have answered [1, 2]; it answered [1, 1]")
    assert (one.first_bad_step, one.expected, one.actual, one.path) == (2, "2", "1", "[1]")
    assert "    answer = pool.alloc(2)\n" in one.repro
    assert one.repro.endswith("    same(answer, [1, 2])\n")


def test_an_earlier_answer_may_be_the_one_that_differs() -> None:
    error, last = compared([1], [2])
    alloc = Call(2, "pool", "alloc", (1,), {}, answer=[1])
    free = Call(3, "pool", "free", ([1],), {}, answer=None)
    one = case(error, alloc, free, last=last)
    assert one.first_bad_step == 2
    assert one.repro.index("answer = pool.alloc(1)") < one.repro.index("pool.free([1])")


def test_a_refusal_that_did_not_come_is_replayed_as_one() -> None:
    same = Same()
    with pytest.raises(Mismatch) as caught:
        same.raises(ValueError, lambda: 3)
    one = case(caught.value, Call(2, "pool", "alloc", (9,), {}, answer=3), last=same.last)
    assert one.sentence == "pool.alloc(9) should have raised ValueError; it answered 3."
    assert "same.raises(ValueError, pool.alloc, 9)" in one.repro


def test_a_refusal_on_the_way_is_replayed_as_one() -> None:
    error, last = compared(1, 2)
    refused = Call(2, "pool", "alloc", (9,), {}, raised=("ValueError", "too many"))
    one = case(error, refused, Call(3, "pool", "num_free", (), {}, answer=1), last=last)
    assert one.steps[1].state == "raised"
    assert "same.raises(ValueError, pool.alloc, 9)" in one.repro


def test_a_value_made_of_answers_is_replayed_as_the_refused_answer() -> None:
    error, last = compared(2, 3)
    one = case(error, Call(2, "pool", "alloc", (2,), {}, answer=[1, 1]), last=last)
    assert one.sentence == "After pool.alloc(2) the test expected 3 and got 2."
    assert "assert answer != [1, 1]" in one.repro


def test_a_death_is_the_last_call() -> None:
    one = case(GuestCrashed(), Call(2, "pool", "alloc", (2,), {}, died=True), verdict=Verdict.CRASHED)
    assert (one.steps[-1].state, one.steps[-1].answer) == ("died", "no answer")
    assert one.repro.endswith("    pool.alloc(2)\n")


def test_what_a_solution_raised_is_said() -> None:
    error = SolutionRaised("Full", "no block")
    error.from_solution = True  # type: ignore[attr-defined]
    raised = Call(2, "pool", "alloc", (2,), {}, raised=("Full", "no block"))
    one = case(error, raised, verdict=Verdict.CRASHED)
    assert one.sentence == "pool.alloc(2) raised Full: no block."


def test_a_case_without_calls_can_be_told() -> None:
    one = case_of(Failure(GROUP, "test_it", "Kept.", Seen(AssertionError("x"), (), 0, None), None), Verdict.WRONG)
    assert (one.first_bad_step, one.steps) == (0, ())
    ast.parse(one.repro)


def test_a_long_case_shows_its_end_and_says_so() -> None:
    error, last = compared(1, 2)
    calls = [Call(number, "pool", "num_free", (), {}, answer=1) for number in range(2, 500)]
    one = case(error, *calls, last=last)
    assert len(one.steps) == 60
    assert one.calls == 499
    assert "60" in (one.note or "")


def test_a_case_too_large_for_a_file_skips_and_says_so() -> None:
    error, last = compared(1, 2)
    one = case(error, Call(2, "pool", "alloc", ("x" * 100_000,), {}, answer=1), last=last)
    assert "pytest.skip" in one.repro
    assert len(one.repro) < 2_000
    ast.parse(one.repro)


def test_a_hostile_text_stays_inside_its_comment() -> None:
    raised = Call(2, "pool", "alloc", (2,), {}, raised=("Full", 'x\n    import os\n"""\\'))
    error = SolutionRaised("Full", 'x\n    import os\n"""\\')
    error.from_solution = True  # type: ignore[attr-defined]
    one = case(error, raised, verdict=Verdict.CRASHED)
    tree = ast.parse(one.repro)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import)]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.binary(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.frozensets(st.integers(), max_size=3)
        | st.sets(st.integers(), max_size=3)
    ),
    max_leaves=12,
)


@given(value=PLAIN)
def test_a_literal_makes_the_same_value(value: object) -> None:
    Same()(eval(literal(value), {"float": float}), value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (list(range(1, 60_001)), "list(range(1, 60001))"),
        (list(range(90, -10, -5)), "list(range(90, -10, -5))"),
        ([7] * 500, "[7] * 500"),
        (tuple(range(20)), "tuple(list(range(0, 20)))"),
    ],
)
def test_a_long_run_of_numbers_is_written_short(value: object, text: str) -> None:
    assert literal(value) == text
    Same()(eval(text), value)


@pytest.mark.parametrize("value", [[True] * 20, [1.0] * 20, [*range(20), 5], [1, 2, 3]])
def test_only_a_run_of_whole_numbers_is(value: object) -> None:
    Same()(eval(literal(value)), value)
    assert "range" not in literal(value)
    assert "*" not in literal(value)


def test_a_record_is_written_as_the_drills_own_class() -> None:
    assert literal(Record("Request", {"id": 1, "tokens": [2]})) == "drill.contract.Request(id=1, tokens=[2])"


def test_what_is_cut_says_how_much_is_missing() -> None:
    assert cut("x" * 10, 20) == "x" * 10
    assert "(80 more)" in cut("x" * 100, 20)
