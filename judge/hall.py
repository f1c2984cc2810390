"""Where tests are collected, once, before anyone sits: pytest's session is the grader's own main loop.

Theory of operation. `pytest.main` costs a warm process 93-142 ms and leaks modules when repeated, so a grader runs it
once, over the tests of all drills, and does its work inside `pytest_runtestloop`; each grading forks from there (9 ms).
A drill is first collected and its reference examined in a fork of its own: a test file that exits, hangs or does not
import is a sentence in the log and its drill is left out, and the others are served. Whatever the tests import lazily
is loaded before the first fork by a rehearsal, since the tests' process may not be able to read files any more.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from judge import seat
from judge.drill import Drill, load_drill
from judge.exam import Desk, Items, Paper, name_of, sit_reference
from judge.forked import in_fork
from judge.profile import SEARCH, SEARCH_AND_SHRINK, use_profile
from judge.siblings import Siblings

UNWANTED = (
    *("cacheprovider", "terminal", "logging", "faulthandler", "warnings", "skipping", "stepwise", "junitxml"),
    *("unraisableexception", "threadexception", "pastebin", "doctest", "setuponly", "setupplan", "unittest"),
)
OPTIONS = (
    *("-c", os.devnull, "--import-mode=importlib", "--assert=plain", "--noconftest", "-s"),
    *(f"-pno:{name}" for name in UNWANTED),
)
TRIAL_S = 120.0
REHEARSED = 2


class CollectionFailed(Exception):
    """Pytest did not come as far as to run anything."""


class Loop:
    """The one hook that makes a pytest session ours."""

    def __init__(self, then: Callable[[list[pytest.Item]], None]) -> None:
        self._then = then
        self.error: BaseException | None = CollectionFailed("the tests could not be collected")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            self._then(session.items)
            self.error = None
        except BaseException as error:  # pytest would print it and go on
            self.error = error
        return True


def collect(files: Iterable[Path], then: Callable[[list[pytest.Item]], None]) -> None:
    """Collect these test files and call `then` with the tests, inside the session."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    warnings.simplefilter("ignore")
    use_profile(SEARCH)
    loop = Loop(then)
    pytest.main([*OPTIONS, "--rootdir=/", *map(str, files)], plugins=[seat, loop])
    if loop.error is not None:
        raise loop.error


def test_files(drill: Drill) -> tuple[Path, Path]:
    return drill.folder / "test_visible.py", drill.folder / "test_hidden.py"


def desk_of(drill: Drill, items: Sequence[pytest.Item]) -> Desk:
    """The drill's own tests among the collected ones, and its modules, loaded now: later they may not be readable."""
    found: Items = {}
    for item in items:
        if item.path.parent == drill.folder:
            found.setdefault((item.path.name, name_of(item)), []).append(item)
    siblings = Siblings(drill.folder)
    for path in sorted(drill.folder.glob("*.py")):
        if not path.name.startswith("test_") and path.name != "stub.py":
            getattr(siblings, path.stem)
    return Desk(found, siblings)


def at_cold_desk(drill: Drill, then: Callable[[Desk], None]) -> None:
    """For a process that will not live on: collect this drill alone, forgetting what was loaded of it before. Raises
    `CollectionFailed` where the folder is not what was asked for any more."""
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").parent == drill.folder:
            del sys.modules[name]
    if load_drill(drill.folder).revision != drill.revision:
        raise CollectionFailed(f"{drill.slug} was changed while it was loaded")
    collect(test_files(drill), lambda items: then(desk_of(drill, items)))


@dataclass(frozen=True, slots=True)
class Hall:
    """The desks of all usable drills, by slug and revision."""

    desks: dict[tuple[str, str], Desk]

    def desk(self, drill: Drill) -> Desk | None:
        return self.desks.get((drill.slug, drill.revision))


def open_hall(drills: Sequence[Drill], then: Callable[[Hall], None]) -> None:
    """Collect all of them, rehearse, and call `then` inside the session. Drills must have passed `trial`."""

    def seated(items: list[pytest.Item]) -> None:
        hall = Hall({(drill.slug, drill.revision): desk_of(drill, items) for drill in drills})
        for drill in drills:
            rehearse(drill, hall.desks[drill.slug, drill.revision])
        rehearse_shrinking()
        then(hall)

    collect((file for drill in drills for file in test_files(drill)), seated)


def trial(drill: Drill) -> str:
    """What is wrong with a drill's tests, found in a fork; empty if nothing is."""
    found: list[str] = []

    def look() -> str:
        at_cold_desk(drill, lambda desk: found.append(rehearse(drill, desk)))
        return found[0]

    return in_fork(look, TRIAL_S)


def rehearse(drill: Drill, desk: Desk) -> str:
    """Whether every declared test was collected, and the reference passes a few examples of each; a sentence if not.
    That it passes them all, and compares enough, is seen when it is measured through the wall."""
    paper = Paper(drill, drill.reference, drill.groups_of("submit"), seed=0)
    for group in paper.groups:
        for test in group.tests:
            items = desk.of(group, test)
            if not items:
                return f"{test} of group {group.key} was not collected"
            for item in items:
                error, _ = sit_reference(item, paper, desk, most=REHEARSED)
                if error is not None:
                    return f"the reference fails {test}: {type(error).__name__}: {error}"[:2000]
    return ""


def rehearse_shrinking() -> None:
    """A failing and a flaky property, so that all of Hypothesis that a failure needs is imported."""
    find(st.lists(st.integers()), lambda numbers: sum(numbers) > 100, settings=settings(database=None))
    fresh = iter([True])

    @settings(phases=SEARCH_AND_SHRINK, database=None)
    @given(st.integers())
    def flaky(number: int) -> None:
        if next(fresh, False):
            raise AssertionError(number)

    @settings(phases=SEARCH_AND_SHRINK, database=None)
    @given(st.lists(st.integers(0, 9)), st.data())
    def failing(numbers: list[int], data: st.DataObject) -> None:
        if sum(numbers) > data.draw(st.integers(10, 20)):
            raise AssertionError(numbers)

    for rehearsed in (flaky, failing):
        with suppress(Exception):
            rehearsed()
