"""Every drill keeps the rules of drills/README.md: its answers pass, its mistakes fail where they say, nothing is idle.

Each file of a drill (reference, accepted, stub, wrong) is run once over all tests of the drill, in its own process,
and the tests here read what came out. The runs of a drill are queued when its first test asks, one at a time per core.
"""

import ast
import functools
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from judge.drill import Drill, load_drill
from judge.facts import Group, Wrong
from judge.siblings import load_file
from judge.verdict import Verdict
from tests.drills.alone import Run, run_alone

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [file.parent for file in sorted(ROOT.glob("drills/*/*/drill.toml"))]
SEEDS = range(3)
SLOW_CPU_S = 4  # one group takes well under 1 s with the reference, and far more with an answer that is too slow
ROOMS = {"web", "judge", "sandbox", "tests"}

each_drill = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def files_of(folder: Path, kind: str) -> list[Path]:
    return sorted(folder.glob(f"{kind}/*.py"))


def case_of(file: Path) -> object:
    return pytest.param(file, id=f"{file.parents[1].name}-{file.stem}")


WRONG = [case_of(file) for folder in FOLDERS for file in files_of(folder, "wrong")]
ACCEPTED = [case_of(file) for folder in FOLDERS for file in files_of(folder, "accepted")]


class Runs:
    """The runs of all files of one drill. Asking for one waits for it; what raised there raises here."""

    def __init__(self, drill: Drill, pool: ThreadPoolExecutor) -> None:
        self.drill = drill
        folder = drill.folder
        others = [folder / "stub.py", *files_of(folder, "accepted"), *files_of(folder, "wrong")]
        jobs = [*((folder / "reference.py", seed) for seed in SEEDS), *((file, SEEDS[0]) for file in others)]
        self._runs: dict[tuple[Path, int], Future[Run]] = {
            (file, seed): pool.submit(run_alone, file, suite_for(drill, file), seed) for file, seed in jobs
        }
        self._limited: dict[tuple[str, str], Future[Run]] = {
            (wrong.group, file): pool.submit(run_alone, folder / file, group_ids(drill, wrong), SEEDS[0], SLOW_CPU_S)
            for wrong in drill.wrong
            if wrong.verdict is Verdict.TIMEOUT
            for file in ("reference.py", f"wrong/{wrong.file}")
        }

    def limited(self, group: str, file: str) -> int:
        """How the group's tests ended with `file` under the CPU limit."""
        return self._limited[group, file].result().status

    def of(self, file: Path, seed: int = SEEDS[0]) -> Run:
        return self._runs[file, seed].result()


def suite_for(drill: Drill, file: Path) -> tuple[str, ...]:
    """All tests, but for a file that is only slow those that would take it for ever."""
    slow = [wrong for wrong in drill.wrong if wrong.verdict is Verdict.TIMEOUT and wrong.file == file.name]
    endless = {test for wrong in slow for test in group_of(drill, wrong).tests}
    hidden = [test for group in drill.groups for test in group.tests if test not in endless]
    return (str(drill.folder / "test_visible.py"), *(hidden_id(drill, test) for test in hidden))


def group_ids(drill: Drill, wrong: Wrong) -> tuple[str, ...]:
    return tuple(hidden_id(drill, test) for test in group_of(drill, wrong).tests)


def hidden_id(drill: Drill, test: str) -> str:
    return f"{drill.folder / 'test_hidden.py'}::{test}"


def group_of(drill: Drill, wrong: Wrong) -> Group:
    return next(group for group in (drill.visible_group, *drill.groups) if group.key == wrong.group)


@pytest.fixture(scope="module")
def runs_of() -> Iterator[Callable[[Path], Runs]]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:

        @functools.cache
        def runs(folder: Path) -> Runs:
            return Runs(load_drill(folder), pool)

        yield runs
        pool.shutdown(cancel_futures=True)


def test_there_are_drills() -> None:
    assert FOLDERS


@each_drill
def test_drill_loads_and_is_whole(folder: Path) -> None:
    drill = load_drill(folder)
    assert len(drill.groups) >= 12
    assert len(drill.wrong) >= 6
    assert files_of(folder, "accepted")
    assert drill.hints
    assert drill.editorial


@each_drill
def test_stub_imports_and_fails_visible_tests(folder: Path, runs_of: Callable[[Path], Runs]) -> None:
    drill = runs_of(folder).drill
    stub = load_file(folder / "stub.py")
    assert all(hasattr(stub, name) for name in drill.entry)
    assert runs_of(folder).of(folder / "stub.py").failed & set(drill.visible)


@each_drill
@pytest.mark.parametrize("seed", SEEDS)
def test_reference_passes_every_test(folder: Path, seed: int, runs_of: Callable[[Path], Runs]) -> None:
    passes_everything(runs_of(folder).of(folder / "reference.py", seed), runs_of(folder).drill)


@pytest.mark.parametrize("file", ACCEPTED)
def test_answer_built_differently_passes_every_test(file: Path, runs_of: Callable[[Path], Runs]) -> None:
    folder = file.parents[1]
    passes_everything(runs_of(folder).of(file), runs_of(folder).drill)


def passes_everything(run: Run, drill: Drill) -> None:
    assert run.status == 0, run.output
    assert run.passed == set(drill.visible).union(*(group.tests for group in drill.groups))


@pytest.mark.parametrize("file", WRONG)
def test_mistake_passes_visible_tests_and_fails_in_its_group(file: Path, runs_of: Callable[[Path], Runs]) -> None:
    folder = file.parents[1]
    drill, run = runs_of(folder).drill, runs_of(folder).of(file)
    wrong = next(wrong for wrong in drill.wrong if wrong.file == file.name)
    if wrong.group != "visible":
        assert run.passed >= set(drill.visible), run.output
    if wrong.verdict is Verdict.TIMEOUT:
        is_too_slow(runs_of(folder), wrong)
    else:
        assert run.failed & set(group_of(drill, wrong).tests), f"{file.name} passes {wrong.group}:\n{run.output}"


def is_too_slow(runs: Runs, wrong: Wrong) -> None:
    """Under one CPU limit, kept by the kernel, the reference comes through the group and the slow answer does not."""
    assert runs.limited(wrong.group, "reference.py") == 0
    assert runs.limited(wrong.group, f"wrong/{wrong.file}") == -signal.SIGXCPU


@each_drill
def test_no_group_of_hidden_tests_is_idle(folder: Path, runs_of: Callable[[Path], Runs]) -> None:
    """A group that refuses no kept mistake guards against nothing."""
    drill = runs_of(folder).drill
    refused = set().union(*(runs_of(folder).of(file).failed for file in files_of(folder, "wrong")))
    too_slow = {wrong.group for wrong in drill.wrong if wrong.verdict is Verdict.TIMEOUT}
    idle = [group.key for group in drill.groups if not refused & set(group.tests) and group.key not in too_slow]
    assert not idle


@each_drill
def test_hidden_tests_compare_only_through_same(folder: Path) -> None:
    tree = ast.parse((folder / "test_hidden.py").read_text())
    loose = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    assert not loose, f"{folder.name}/test_hidden.py: bare assert in lines {loose}"


@each_drill
def test_hidden_tests_leave_hypothesis_to_the_judge(folder: Path) -> None:
    tree = ast.parse((folder / "test_hidden.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "settings"]
    assert {keyword.arg for call in calls for keyword in call.keywords} <= {"max_examples"}
    assert not {"RuleBasedStateMachine", "seed"} & names_imported(tree)


@each_drill
def test_drill_imports_no_room_of_this_house(folder: Path) -> None:
    for file in sorted(folder.rglob("*.py")):
        if "__pycache__" in file.parts:
            continue
        roots = {name.partition(".")[0] for name in names_imported(ast.parse(file.read_text()))}
        assert not roots & ROOMS, file


def names_imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or ""} | {alias.name for alias in node.names}
    return names
