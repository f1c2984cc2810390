"""The grader's fixtures bound to a plain file, for a drill's author: `pytest -p judge.plugin --solution FILE TESTS`.

The same test file runs here and in the grader. What the grader demands beyond "no test failed" is demanded here
too: each test makes at least one comparison, and each group at least the number that its drill.toml declares.
"""

import tomllib
from collections.abc import Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judge.profile import use_profile
from judge.same import Mismatch, Same
from judge.siblings import Siblings, load_file, only

COMPARISONS = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--solution", type=Path, help="the file that takes the place of the submission")


def pytest_configure(config: pytest.Config) -> None:
    use_profile()
    config.pluginmanager.register(GroupCounts(), "prefill-group-counts")


@pytest.fixture
def drill(request: pytest.FixtureRequest) -> Siblings:
    return Siblings(request.node.path.parent)


@pytest.fixture
def solution(request: pytest.FixtureRequest) -> SimpleNamespace:
    """A fresh load for each test, as the grader does it."""
    path = request.config.getoption("--solution")
    if path is None:
        raise pytest.UsageError("name the file to test: --solution FILE")
    return only(load_file(path.resolve(), "solution"), _facts(request.node.path.parent)["entry"])


@pytest.fixture
def same(request: pytest.FixtureRequest) -> Iterator[Same]:
    helper = Same()
    request.node.funcargs["same"] = helper
    yield helper
    request.node.stash[COMPARISONS] = helper.comparisons


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    answer = yield
    helper = getattr(item, "funcargs", {}).get("same")
    if isinstance(helper, Same) and helper.comparisons == 0:
        raise Mismatch("", "at least one comparison", "a test that compared nothing")
    return answer


class GroupCounts:
    """Adds the comparisons of each group up; only groups of which every test ran and passed are judged."""

    def __init__(self) -> None:
        self.counts: dict[tuple[Path, str], int] = {}
        self.failed: set[tuple[Path, str]] = set()
        self.short: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        name = getattr(item, "originalname", item.name)
        if report.failed:
            self.failed.add((item.path, name))
        if report.when == "teardown" and COMPARISONS in item.stash:
            self.counts[item.path, name] = self.counts.get((item.path, name), 0) + item.stash[COMPARISONS]
        return report

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for path in {path for path, _ in self.counts if path.name == "test_hidden.py"}:
            self.short += self._short_groups(path)
        if self.short and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for line in self.short:
            terminalreporter.write_line(line, red=True)

    def _short_groups(self, path: Path) -> Iterator[str]:
        for group in _facts(path.parent).get("group", []):
            ran = [test for test in group["tests"] if (path, test) in self.counts and (path, test) not in self.failed]
            made = [self.counts[path, test] for test in ran]
            if len(made) == len(group["tests"]) and sum(made) < group["comparisons"]:
                yield f"group {group['key']}: {sum(made)} comparisons, {group['comparisons']} declared"


def _facts(folder: Path) -> dict[str, Any]:
    with (folder / "drill.toml").open("rb") as file:
        return tomllib.load(file)
