"""Through a real keeper and a real wall: every way in which a submission can end has its own verdict."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.drill import Drill
from judge.grade import Graded, seed_of
from judge.report import Label, State
from judge.same import Same
from judge.siblings import load_file, only
from judge.submission import Kind
from judge.verdict import Verdict

RIGHT = """
class Counter:
    def __init__(self):
        self.amounts = []

    def add(self, amount):
        if amount < 0:
            raise ValueError("negative")
        self.amounts.append(amount)
        return sum(self.amounts)

    def history(self):
        return list(self.amounts)
"""


def with_add(body: str, head: str = "") -> str:
    """The right answer with `body` first in `add`."""
    return head + RIGHT.replace("        if amount < 0:\n", f"        {body}\n        if amount < 0:\n")


Grade = Callable[..., Graded]

ENDINGS = {
    "right": (RIGHT, Verdict.ACCEPTED),
    "a bool for a number": (with_add("if amount == 0: return self.amounts != self.amounts"), Verdict.WRONG),
    "off by one": (RIGHT.replace("return sum(self.amounts)", "return sum(self.amounts) + 1"), Verdict.WRONG),
    "nothing where a list is due": (RIGHT.replace("return list(self.amounts)", "return None"), Verdict.WRONG),
    "raises": (with_add("if amount > 20: {}[amount]"), Verdict.CRASHED),
    "raises a class of its own": (
        with_add("if amount > 20: raise Full()", "class Full(Exception): pass\n"),
        Verdict.CRASHED,
    ),
    "raises what ends a test elsewhere": (
        with_add("raise Skipped('not today')", "class Skipped(BaseException): pass\n"),
        Verdict.CRASHED,
    ),
    "raises what Hypothesis ends an example with": (
        with_add("raise UnsatisfiedAssumption()", "class UnsatisfiedAssumption(Exception): pass\n"),
        Verdict.CRASHED,
    ),
    "exits with success": (with_add("import sys; sys.exit(0)"), Verdict.CRASHED),
    "leaves at once": (with_add("import os; os._exit(0)"), Verdict.CRASHED),
    "segmentation fault": (with_add("import ctypes; ctypes.string_at(0)"), Verdict.CRASHED),
    "endless": (with_add("while amount > 20: pass"), Verdict.TIMEOUT),
    "endless while loading": ("while True: pass\n", Verdict.TIMEOUT),
    "floods": (with_add("while amount > 20: print('x' * 10_000)"), Verdict.OUTPUT_LIMIT),
    "answers an object": (RIGHT.replace("return list(self.amounts)", "return object()"), Verdict.BROKE_WIRE),
    "syntax error": ("class Counter\n", Verdict.IMPORT_ERROR),
    "no such module": ("import there_is_no_such_module\n" + RIGHT, Verdict.IMPORT_ERROR),
    "another name": (RIGHT.replace("Counter", "Teller"), Verdict.IMPORT_ERROR),
    "raises while loading": ("1 / 0\n" + RIGHT, Verdict.IMPORT_ERROR),
    "exits while loading": ("import sys\nsys.exit(0)\n" + RIGHT, Verdict.IMPORT_ERROR),
    "leaves while loading": ("import os\nos._exit(0)\n" + RIGHT, Verdict.IMPORT_ERROR),
    "empty": ("", Verdict.IMPORT_ERROR),
}


@pytest.mark.parametrize(("source", "verdict"), ENDINGS.values(), ids=ENDINGS.keys())
def test_a_submission_gets_its_verdict(counter: Drill, graded: Grade, source: str, verdict: Verdict) -> None:
    report = graded(counter, source, shrink_s=0.0).report
    assert report.verdict is verdict, report
    assert (report.message is not None) == (verdict is Verdict.IMPORT_ERROR)


@pytest.mark.bubblewrap
def test_memory_is_counted_by_the_kernel(counter: Drill, graded: Grade) -> None:
    hungry = with_add("self.kept = [b'x' * 2**20 for _ in range(4096)]")
    assert graded(counter, hungry, cpu_s=20.0, shrink_s=0.0).report.verdict is Verdict.MEMORY


def test_every_accepted_file_is_accepted_and_every_wrong_one_fails_where_it_says(counter: Drill, graded: Grade) -> None:
    for name in [name for name in counter.texts if name.startswith("accepted/")]:
        assert graded(counter, counter.texts[name]).report.verdict is Verdict.ACCEPTED
    for wrong in counter.wrong:
        result = graded(counter, counter.texts[f"wrong/{wrong.file}"])
        assert result.report.verdict is wrong.verdict
        failed = {group.key: group for group in result.report.groups if group.state is State.FAILED}
        assert failed[wrong.group].verdict is wrong.verdict
        case = next(case for case in result.cases if case.group == wrong.group)
        assert case.calls <= wrong.calls
        assert case.label is Label.REPRODUCIBLE


def test_a_run_grades_the_visible_tests_only(counter: Drill, graded: Grade) -> None:
    report = graded(counter, counter.texts["wrong/accepts_negative.py"], Kind.RUN).report
    assert (report.verdict, [group.key for group in report.groups]) == (Verdict.ACCEPTED, ["visible"])


def test_a_failing_visible_test_is_shown_whole(counter: Drill, graded: Grade) -> None:
    broken = with_add("print('hello')").replace("return sum(self.amounts)", "return 0")
    result = graded(counter, broken, Kind.RUN)
    (case,) = result.report.visible_cases
    assert case.sentence == "counter.add(2) should have answered 2; it answered 0."
    assert "hello" in (case.output or "")
    assert result.cases == ()


def test_nothing_of_a_hidden_case_is_in_the_report(counter: Drill, graded: Grade) -> None:
    result = graded(counter, counter.texts["wrong/forgets_after_fifty.py"])
    assert result.report.visible_cases == ()
    text = str(result.report.to_json())
    for case in result.cases:
        assert case.sentence not in text
        assert case.test not in text
        assert case.output is None


def test_after_a_death_the_rest_of_the_group_is_not_reached_and_other_groups_are(counter: Drill, graded: Grade) -> None:
    dies_on_refusal = with_add("if amount < 0: import os; os._exit(1)")
    states = {group.key: group.state for group in graded(counter, dies_on_refusal, shrink_s=0.0).report.groups}
    assert states == {"visible": "passed", "sum": "passed", "refuse": "failed", "history": "passed"}


def test_when_the_cpu_time_is_used_up_nothing_more_is_reached(counter: Drill, graded: Grade) -> None:
    states = {group.key: group.state for group in graded(counter, ENDINGS["endless"][0], shrink_s=0.0).report.groups}
    assert states == {"visible": "passed", "sum": "failed", "refuse": "not_reached", "history": "not_reached"}


def test_a_failure_by_chance_is_wrong_and_called_so(counter: Drill, graded: Grade) -> None:
    lucky = with_add("import os\n        if os.urandom(1)[0] < 40: return -1")
    result = graded(counter, lucky)
    assert result.report.verdict is Verdict.WRONG
    assert {case.label for case in [*result.cases, *result.report.visible_cases]} & {Label.NOT_DETERMINISTIC}


def test_a_failure_that_needs_earlier_examples_is_called_so(counter: Drill, graded: Grade) -> None:
    leaking = RIGHT.replace("self.amounts = []", "self.amounts = kept")
    leaking = "kept = []\n" + leaking.replace("return sum(self.amounts)", "return sum(self.amounts[-8:])")
    result = graded(counter, leaking)
    assert result.report.verdict is Verdict.WRONG
    case = next(case for case in result.cases if case.group == "history")
    assert case.label is Label.ONLY_AFTER_OTHERS
    assert case.calls > 3


def test_a_timeout_keeps_its_case_as_it_was_seen(counter: Drill, graded: Grade) -> None:
    (case,) = graded(counter, ENDINGS["endless"][0]).cases
    assert case.steps[-1].state == "died"
    assert "timeout" in (case.note or "")


def test_the_same_bytes_get_the_same_report_and_case(counter: Drill, graded: Grade) -> None:
    source = counter.texts["wrong/forgets_after_fifty.py"]
    assert graded(counter, source) == graded(counter, source)


def test_draws_depend_on_key_revision_and_source() -> None:
    seeds = {seed_of(key, drill, source) for key in (b"", b"k") for drill in ("r", "s") for source in ("a", "b")}
    assert len(seeds) == 8


@pytest.mark.parametrize("file", ["forgets_after_fifty.py", "accepts_negative.py"])
def test_a_replay_fails_as_it_did_here_and_passes_with_the_reference(
    counter: Drill, graded: Grade, tmp_path: Path, file: str
) -> None:
    wrong = counter.folder / "wrong" / file
    case = graded(counter, wrong.read_text()).cases[0]
    replay = tmp_path / "replay.py"
    replay.write_text(case.repro)
    (name,) = re.findall(r"def (test_\w+)", case.repro)
    test = getattr(load_file(replay), name)
    test(only(load_file(counter.folder / "reference.py"), counter.entry), Same())
    with pytest.raises(AssertionError, match=case.expected):
        test(only(load_file(wrong), counter.entry), Same())
