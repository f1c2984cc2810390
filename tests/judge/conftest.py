"""Material for the judge's tests: a tiny drill, variants of it, and grading through a real keeper."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.drill import Drill, load_drill
from judge.grade import Graded, Terms, grade
from judge.submission import Kind, Submission
from sandbox.lease import Keeper
from tests.keeper_fixture import keeper

__all__ = ["keeper"]

# The drills here are material, not tests of this suite.
collect_ignore = ["drills"]

COUNTER = Path(__file__).parent / "drills" / "counting" / "counter"

Grade = Callable[..., Graded]


@pytest.fixture(scope="session")
def counter() -> Drill:
    return load_drill(COUNTER)


@pytest.fixture
def variant(tmp_path: Path) -> Callable[..., Drill]:
    """The counter with one hidden test of one's own: `variant(hidden="def test_it(solution, same): ...")`."""

    def make(hidden: str, comparisons: int = 1) -> Drill:
        folder = tmp_path / "family" / "variant"
        shutil.copytree(COUNTER, folder, ignore=shutil.ignore_patterns("wrong", "__pycache__"))
        toml = (folder / "drill.toml").read_text()
        head = toml[: toml.index("[[group]]")]
        group = '[[group]]\nkey = "own"\ntitle = "Own"\nweight = 1\nclass = "own"\ntests = ["test_it"]\n'
        (folder / "drill.toml").write_text(f"{head}{group}comparisons = {comparisons}\n")
        (folder / "test_hidden.py").write_text(hidden)
        return load_drill(folder)

    return make


@pytest.fixture
def graded(keeper: Path) -> Grade:
    """Grade a source, cold, with two seconds of CPU time and a short second pass."""

    def run(drill: Drill, source: str, kind: Kind = Kind.SUBMIT, **terms: float) -> Graded:
        submission = Submission("s_test", 1, drill.slug, drill.revision, source, kind)
        known = {"cpu_s": 2.0, "shrink_s": 15.0, **terms}
        return grade(drill, submission, Keeper(keeper / "keeper.sock"), Terms(**known))

    return run
