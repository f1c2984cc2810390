"""Where one test sits: a pytest plugin whose fixtures answer with whatever the exam has laid out for that test.

It reports how a test ended as the exception itself, before pytest turns it into text, a skip or an expected failure; a
test that did not run to its end has not passed, whoever stopped it.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings

from judge.same import Same
from judge.siblings import Siblings

SUPPRESSED = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)

OWN = pytest.StashKey[settings]()  # what a property was decorated with, whatever it was bound to since

Inner = Callable[..., Any]


class NotRun(Exception):
    """A test that neither ended well nor raised: something of ours kept it from running."""


@dataclass(slots=True)
class Seat:
    """`around` wraps each example of a property: it gets the test and the fixtures' values, and calls the test."""

    solution: Any
    siblings: Siblings
    around: Callable[[Inner, dict[str, Any]], Any] = lambda test, values: test(**values)
    same: Same = field(default_factory=Same)
    error: BaseException | None = None
    finished: bool = False


_taken: list[Seat] = []


def sit(item: pytest.Item, seat: Seat) -> BaseException | None:
    """Run one collected test in this seat: None if it ran to its end, else what it raised."""
    _taken.append(seat)
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    inner = handle.inner_test if handle else None
    if handle:
        handle.inner_test = _each_example(handle.inner_test, seat)
    try:
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
    except (pytest.exit.Exception, KeyboardInterrupt) as stop:
        seat.error = seat.error or stop
    finally:
        _taken.pop()
        if handle:
            handle.inner_test = inner
    if seat.error is None and not seat.finished:
        return NotRun(f"{item.nodeid} did not run")
    return seat.error


def _each_example(inner: Inner, seat: Seat) -> Inner:
    @functools.wraps(inner)
    def example(**values: Any) -> Any:
        return seat.around(inner, values)

    return example


def prepare(item: pytest.Item, number: int, phases: tuple[Phase, ...], most: int | None = None) -> None:
    """Bind a property's draws to this seed and these phases, and to `most` examples, whatever it was decorated with.
    Nothing is to be done for a plain test."""
    if not is_property(item):
        return
    test: Any = getattr(item, "obj", None)
    own = item.stash.setdefault(OWN, test._hypothesis_internal_use_settings)
    test._hypothesis_internal_use_settings = settings(
        own,
        max_examples=own.max_examples if most is None else min(most, own.max_examples),
        phases=phases,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=tuple(HealthCheck) if Phase.shrink in phases else SUPPRESSED,
    )
    test._hypothesis_internal_database_key = b"none"  # else the source is read and hashed on every run
    seed(number)(test)


def is_property(item: pytest.Item) -> bool:
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


@pytest.fixture
def solution() -> Any:
    return _taken[-1].solution


@pytest.fixture
def same() -> Same:
    return _taken[-1].same


@pytest.fixture
def drill() -> Siblings:
    return _taken[-1].siblings


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
    """Before any other plugin sees it; no text is made of the exception, which would read files and cost time."""
    seat = _taken[-1]
    if call.excinfo is not None and seat.error is None:
        seat.error = call.excinfo.value
    if call.when == "call" and call.excinfo is None:
        seat.finished = True
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords={},
        outcome="failed" if call.excinfo else "passed",
        longrepr=None,
        when=call.when,  # type: ignore[arg-type]  # there is no other phase here
    )
