"""What a user is given runs with pytest alone, agrees with the grader, and holds nothing hidden."""

import subprocess
import sys
from pathlib import Path

import pytest

from judge.drill import Drill
from judge.same import SHOWN_CHARS, Mismatch, Same, difference, shown


@pytest.fixture
def workspace(counter: Drill, tmp_path: Path) -> Path:
    for name, text in counter.bundle().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def run_pytest(folder: Path) -> "subprocess.CompletedProcess[str]":
    """As a user does it: no configuration and no module of ours."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin"})


def test_the_stub_fails_and_the_reference_passes_on_the_users_machine(counter: Drill, workspace: Path) -> None:
    assert run_pytest(workspace).returncode == 1
    (workspace / "solution.py").write_text(counter.reference)
    done = run_pytest(workspace)
    assert done.returncode == 0, done.stdout


def test_a_folder_inside_another_project_keeps_its_own_settings(counter: Drill, workspace: Path) -> None:
    """A newcomer starts a drill inside the clone, whose pytest settings name plugins that they do not have."""
    inner = workspace / "inner"
    for name, text in counter.bundle().items():
        (inner / name).parent.mkdir(parents=True, exist_ok=True)
        (inner / name).write_text(text)
    (inner / "solution.py").write_text(counter.reference)
    (workspace / "pytest.ini").unlink()
    (workspace / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\naddopts = '--strict-config --no-such-option'\n"
    )
    done = run_pytest(inner)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_bundle_holds_nothing_hidden(counter: Drill) -> None:
    files = counter.bundle()
    everything = "\n".join(files.values())
    assert set(files) == {
        "README.md", "solution.py", "conftest.py", "AGENTS.md", "pytest.ini",
        "tests/test_visible.py", "tests/test_mine.py",
    }  # fmt: skip
    for secret in ("test_sum_of_any_numbers", "_amounts", "totals", "crashes_on_seven", "Each answer is the sum"):
        assert any(secret in text for text in counter.texts.values())
        assert secret not in everything


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (True, 1),
        (1, 1.0),
        ([1], (1,)),
        (0.0, -0.0),
        ("1", b"1"),
        (None, False),
        ([1, 2], [1]),
        ({1: 2}, {True: 2}),
        ({"a": [1, (2, 3.0)]}, {"a": [1, (2, 3)]}),
        (frozenset({1}), {1}),
    ],
)
def test_comparison_is_strict_in_value_and_type(actual: object, expected: object) -> None:
    same = Same()
    with pytest.raises(Mismatch):
        same(actual, expected)
    assert same.comparisons == 1


@pytest.mark.parametrize("value", [None, True, 0, 1.5, float("nan"), "x", b"x", [1, [2]], (1,), {"a": {1: ()}}, {1, 2}])
def test_equal_values_are_the_same(value: object) -> None:
    assert difference(value, value) is None


def test_a_difference_is_named_by_its_path() -> None:
    assert difference({"a": [1, 2]}, {"a": [1, 3]}) == ("['a'][1]", "3", "2")


def test_raises_wants_exactly_that_exception() -> None:
    def fail(kind: type[Exception]) -> None:
        raise kind

    same = Same()
    same.raises(LookupError, fail, LookupError)
    with pytest.raises(Mismatch):
        same.raises(LookupError, fail, KeyError)
    with pytest.raises(Mismatch):
        same.raises(LookupError, lambda: None)
    assert same.comparisons == 3


def test_close_wants_a_float_that_is_close() -> None:
    same = Same()
    same.close(0.1 + 0.2, 0.3)
    for wrong in (0.31, 1, float("nan")):
        with pytest.raises(Mismatch):
            same.close(wrong, 0.3)


def test_what_is_shown_is_bounded_and_asks_no_stranger() -> None:
    class Stranger:
        def __repr__(self) -> str:
            raise AssertionError("asked")

    assert shown([Stranger()]) == "[<Stranger>]"
    assert len(shown(["x" * 10_000] * 10_000)) < 2 * SHOWN_CHARS
