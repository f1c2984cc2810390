"""Whatever a drill's own tests do wrong is the judge's error, and never a pass."""

from collections.abc import Callable

import pytest

from judge.drill import Drill
from judge.grade import Graded, GroupEnded, Terms, grading
from judge.submission import Kind, Submission
from judge.verdict import Verdict
from sandbox.lease import Keeper
from tests.judge.test_grade import RIGHT
from tests.keeper_fixture import keeper_process, usual_sandbox
from tests.parts import short_dir

Grade = Callable[..., Graded]
Variant = Callable[..., Drill]

OURS = {
    "raises": "def test_it(solution, same):\n    1 / 0\n",
    "skips": "import pytest\ndef test_it(solution, same):\n    pytest.skip('later')\n",
    "is marked skip": "import pytest\n@pytest.mark.skip\ndef test_it(solution, same):\n    1 / 0\n",
    "is marked xfail": "import pytest\n@pytest.mark.xfail\ndef test_it(solution, same):\n    1 / 0\n",
    "is marked not to run": "import pytest\n@pytest.mark.xfail(run=False)\ndef test_it(solution, same): 1 / 0\n",
    "ends pytest": "import pytest\ndef test_it(solution, same):\n    pytest.exit('enough', 0)\n",
    "ends pytest within a property": (
        "import pytest\nfrom hypothesis import given, strategies as st\n"
        "@given(st.integers())\ndef test_it(solution, same, n):\n    pytest.exit('enough', 0)\n"
    ),
    "skips within a property": (
        "import unittest\nfrom hypothesis import given, strategies as st\n"
        "@given(n=st.integers())\ndef test_it(solution, same, n):\n    raise unittest.SkipTest\n"
    ),
    "leaves": "import os\ndef test_it(solution, same):\n    os._exit(0)\n",
    "exits": "import sys\ndef test_it(solution, same):\n    sys.exit(0)\n",
    "is killed": "import os\ndef test_it(solution, same):\n    os.kill(os.getpid(), 9)\n",
    "does not import": "import there_is_no_such_module\ndef test_it(solution, same): same(1, 1)\n",
    "leaves while importing": "import os\nos._exit(0)\ndef test_it(solution, same): same(1, 1)\n",
    "compares nothing": "def test_it(solution, same):\n    solution.Counter().add(1)\n",
    "wants an unknown fixture": "def test_it(solution, same, moon):\n    same(1, 1)\n",
    "is generated from nothing": "import pytest\n@pytest.mark.parametrize('n', [])\ndef test_it(same, n): same(1, 1)\n",
    "uses a name that is no entry": "def test_it(solution, same):\n    same(solution.Teller(), None)\n",
    "is impossible": (
        "from hypothesis import given, assume, strategies as st\n"
        "@given(n=st.integers())\ndef test_it(solution, same, n):\n    assume(False)\n"
    ),
}


@pytest.mark.parametrize("hidden", OURS.values(), ids=OURS.keys())
def test_a_test_of_ours_that_fails_us_is_a_judge_error(variant: Variant, graded: Grade, hidden: str) -> None:
    assert graded(variant(hidden), RIGHT).report.verdict is Verdict.JUDGE_ERROR


def test_a_group_that_nobody_can_fill_is_a_judge_error(variant: Variant, graded: Grade) -> None:
    drill = variant("def test_it(solution, same):\n    same(1, 1)\n", comparisons=2)
    assert graded(drill, RIGHT).report.verdict is Verdict.JUDGE_ERROR


def test_an_answer_that_makes_a_test_compare_less_is_wrong(variant: Variant, graded: Grade) -> None:
    hidden = (
        "def test_it(solution, same):\n    counter = solution.Counter()\n    counter.add(1)\n    counter.add(2)\n"
        "    for amount in counter.history():\n        same(amount > 0, True)\n"
    )
    drill = variant(hidden, comparisons=2)
    assert graded(drill, RIGHT).report.verdict is Verdict.ACCEPTED
    for fewer in ("[]", "[1]"):
        short = RIGHT.replace("return list(self.amounts)", f"return {fewer}")
        assert graded(drill, short).report.verdict is Verdict.WRONG


def test_an_answer_that_trips_a_test_is_wrong_where_the_reference_does_not(variant: Variant, graded: Grade) -> None:
    drill = variant(
        "def test_it(solution, same):\n    counter = solution.Counter()\n    counter.add(3)\n"
        "    same(counter.history()[0], 3)\n"
    )
    assert graded(drill, RIGHT).report.verdict is Verdict.ACCEPTED
    tripping = graded(drill, RIGHT.replace("return list(self.amounts)", "return None"))
    assert tripping.report.verdict is Verdict.WRONG
    assert "TypeError" in tripping.cases[0].sentence


def test_the_tests_hold_no_right_and_no_descriptor(variant: Variant, graded: Grade) -> None:
    """It looks at itself from within: user, network, open files."""
    drill = variant(
        "import os, socket\n"
        "def test_it(solution, same):\n"
        "    same(0 in (os.getuid(), os.geteuid(), os.getgid()) or bool(os.getgroups()), False)\n"
        "    targets = [os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd')\n"
        "               if os.path.lexists(f'/proc/self/fd/{fd}')]\n"
        "    sockets = [target for target in targets if target.startswith('socket:')]\n"
        "    same(len(sockets), 2)\n"  # the watchdog's line and the guest's
        "    others = {target for target in targets if not target.startswith(('socket:', '/dev/null', '/proc'))}\n"
        "    same(others, set())\n"
        "    with open('/proc/net/dev') as file:\n"
        "        same(sorted(line.split(':')[0].strip() for line in file if ':' in line), ['lo'])\n",
        comparisons=4,
    )
    report = graded(drill, RIGHT).report
    assert report.verdict is Verdict.ACCEPTED, report


def test_a_keeper_that_dies_in_mid_grade_is_a_judge_error(counter: Drill) -> None:
    submission = Submission("s", 1, counter.slug, counter.revision, RIGHT, Kind.SUBMIT)
    with short_dir() as run, keeper_process(usual_sandbox(), run) as process:
        steps = grading(counter, submission, Keeper(run / "keeper.sock"), Terms(2.0, wait_s=0.0))
        next(step for step in steps if isinstance(step, GroupEnded))
        process.kill()
        process.wait()
        *_, last = steps
    assert isinstance(last, Graded)
    assert last.report.verdict is Verdict.JUDGE_ERROR
