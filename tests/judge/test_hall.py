"""All drills are collected once; a broken one stays outside, and what is drawn does not depend on who else is there."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.calibrate import LEAST_S, NotCalibrated, calibrated, cpu_limit_s, reference_cpu_s
from judge.drill import Drill, load_drill
from judge.forked import in_fork
from judge.grade import Terms, grade
from judge.hall import CollectionFailed, Hall, at_cold_desk, open_hall, trial
from judge.submission import Kind, Submission
from sandbox.lease import Keeper
from tests.judge.conftest import COUNTER

Variant = Callable[..., Drill]


@pytest.mark.parametrize(
    ("hidden", "sentence"),
    [
        ("import there_is_none\ndef test_it(solution, same): same(1, 1)\n", "was not collected"),
        ("import os\nos._exit(0)\ndef test_it(solution, same): same(1, 1)\n", "ended without a word"),
        ("def test_it(solution, same): same(1, 2)\n", "the reference fails test_it: Mismatch"),
    ],
)
def test_a_drill_that_cannot_be_used_says_why(variant: Variant, hidden: str, sentence: str) -> None:
    assert sentence in trial(variant(hidden))


def test_a_drill_that_can_be_used_has_nothing_to_say(counter: Drill) -> None:
    assert trial(counter) == ""


def test_a_hall_holds_the_tests_of_each_drill_apart(counter: Drill, tmp_path: Path) -> None:
    twin = load_drill(Path(shutil.copytree(COUNTER, tmp_path / "counting" / "twin")))

    def look() -> str:
        found: list[int] = []
        open_hall([counter, twin], lambda hall: found.extend(len(desk.items) for desk in hall.desks.values()))
        return json.dumps(found)

    assert json.loads(in_fork(look, 60)) == [6, 6]


def test_another_revision_has_no_desk(counter: Drill) -> None:
    assert Hall({}).desk(counter) is None


def test_a_folder_that_changed_meanwhile_is_not_collected(variant: Variant) -> None:
    drill = variant("def test_it(solution, same): same(1, 1)\n")
    (drill.folder / "test_hidden.py").write_text("def test_it(solution, same): same(1, 1)  # changed\n")
    with pytest.raises(CollectionFailed, match="changed"):
        at_cold_desk(drill, print)


def test_a_warm_and_a_cold_grader_draw_the_same(counter: Drill, keeper: Path) -> None:
    wrong = counter.texts["wrong/forgets_after_fifty.py"]
    submission = Submission("s", 1, counter.slug, counter.revision, wrong, Kind.SUBMIT)

    def told(hall: Hall | None) -> str:
        result = grade(counter, submission, Keeper(keeper / "keeper.sock"), Terms(4.0, shrink_s=0.0), hall)
        return json.dumps([case.to_json() for case in result.cases])

    def look() -> str:
        found: list[str] = []
        open_hall([counter], lambda hall: found.append(told(hall)))
        return found[0]

    warm = in_fork(look, 60)
    assert json.loads(warm)[0]["calls"] > 0
    assert warm == told(None)


def test_a_fork_answers_in_one_text_however_it_ends() -> None:
    def fail() -> str:
        raise KeyError("x")

    assert in_fork(lambda: "yes", 10) == "yes"
    assert "KeyError" in in_fork(fail, 10)
    assert in_fork(lambda: os._exit(3), 10) == "the process ended without a word"
    assert in_fork(lambda: os.read(os.pipe()[0], 1).decode(), 0.2) == "it took too long"


def test_the_limit_is_a_multiple_of_the_references_time_within_the_fence(counter: Drill) -> None:
    assert cpu_limit_s(counter, 0.001) == LEAST_S
    assert cpu_limit_s(counter, 1.0) == 10.0
    assert cpu_limit_s(counter, 100.0) == counter.limits.cpu_s


def test_a_reference_is_measured_through_the_wall(counter: Drill, keeper: Path) -> None:
    limits, problems = calibrated([counter], Keeper(keeper / "keeper.sock"), None)
    assert (list(limits), problems) == (["counter"], {})


def test_a_reference_that_is_not_accepted_is_named(variant: Variant, keeper: Path) -> None:
    drill = variant("def test_it(solution, same): same(solution.Counter().add(1), 2)\n")
    with pytest.raises(NotCalibrated, match="variant gets wrong"):
        reference_cpu_s(drill, Keeper(keeper / "keeper.sock"), None)
