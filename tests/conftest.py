"""What every test shares: which tests run, and what a skip means.

Tests marked `long` run only with PREFILL_ALL=1 (`make test-all`). A marker that names a part (docker, redis, ...) asks
for that part by itself. Under CI=true a skip is a failure, except for want of a GPU.
"""

import os
from collections.abc import Generator
from typing import Any

import pytest

from tests.parts import IN_CI, PARTS, need


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("PREFILL_ALL") == "1":
        return
    long = [item for item in items if item.get_closest_marker("long")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu"):
        _need_gpu()
    for part in PARTS:
        if part != "gpu" and item.get_closest_marker(part):
            need(part)


def _need_gpu() -> None:
    try:
        need("gpu")
    except pytest.fail.Exception as missing:  # the one part that CI may lack
        pytest.skip(str(missing))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, pytest.TestReport]:
    report: pytest.TestReport = yield
    if IN_CI and report.skipped and not hasattr(report, "wasxfail") and not item.get_closest_marker("gpu"):
        report.outcome = "failed"
        report.longrepr = f"skipped under CI=true: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name each test that was left out, and why: nobody should mistake a short run for a whole one."""
    for report in terminalreporter.stats.get("skipped", ()):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.write_line(f"left out: {report.nodeid}: {why}")
