"""A drill's author runs the tests against a file, and is held to the grader's demands."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.judge.conftest import COUNTER

ROOT = Path(__file__).parents[2]


def run(solution: Path, folder: Path = COUNTER) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pytest", "-p", "judge.plugin", "-p", "no:cacheprovider", "--solution"]
    tests = [folder / "test_visible.py", folder / "test_hidden.py"]
    return subprocess.run(
        [*command, str(solution), *map(str, tests)], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("file", ["reference.py", "accepted/running_total.py"])
def test_right_answers_pass(file: str) -> None:
    done = run(COUNTER / file)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("file", ["stub.py", "wrong/forgets_after_fifty.py", "wrong/accepts_negative.py"])
def test_wrong_answers_fail(file: str) -> None:
    assert run(COUNTER / file).returncode == 1


def test_a_test_that_compares_nothing_fails(tmp_path: Path) -> None:
    done = _with_hidden(tmp_path, "def test_it(solution, same):\n    solution.Counter()\n")
    assert (done.returncode, "compared nothing" in done.stdout) == (1, True)


def test_a_group_that_compares_too_little_fails(tmp_path: Path) -> None:
    done = _with_hidden(tmp_path, "def test_it(solution, same):\n    same(1, 1)\n")
    assert (done.returncode, "1 comparisons, 2 declared" in done.stdout) == (1, True)


def _with_hidden(folder: Path, hidden: str) -> "subprocess.CompletedProcess[str]":
    (folder / "drill.toml").write_text(
        'entry = ["Counter"]\n[[group]]\nkey = "k"\ntests = ["test_it"]\ncomparisons = 2\n'
    )
    (folder / "test_visible.py").write_text("")
    (folder / "test_hidden.py").write_text(hidden)
    return run(COUNTER / "reference.py", folder)
