"""One file against tests of its drill, in a process of its own that is forked from a warm one.

A cold start costs more than the tests themselves (importing Hypothesis takes most of a second), and there are some
dozens of files. The process that is forked from has imported libraries only, nothing of a drill.
"""

import contextlib
import io
import multiprocessing
import resource
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from judge.profile import SEARCH, use_profile

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.drills.alone", "hypothesis.strategies", "judge.plugin"])


@dataclass(frozen=True, slots=True)
class Run:
    """What became of each test, and how the process ended: pytest's exit status, or minus the number of a signal."""

    status: int
    passed: frozenset[str]
    failed: frozenset[str]
    output: str


class Ledger:
    """Which tests passed and which failed, by function name."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """After judge.plugin chose its profile: nobody reads the failing cases here, so none is made smaller."""
        use_profile(SEARCH)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.rpartition("::")[2].partition("[")[0]
        if report.failed:
            self.failed.add(name)
        elif report.when == "call":
            self.passed.add(name)


def run_alone(solution: Path, tests: tuple[str, ...], seed: int, cpu_s: int | None = None) -> Run:
    """`cpu_s` is kept by the kernel; a process that uses more is killed by SIGXCPU."""
    ours, theirs = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=_run, args=(theirs, solution, tests, seed, cpu_s))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        process.join()
        return Run(process.exitcode or 0, frozenset(), frozenset(), f"{solution} ended with status {process.exitcode}")
    finally:
        process.join()
        ours.close()


def _run(answer: Connection, solution: Path, tests: tuple[str, ...], seed: int, cpu_s: int | None) -> None:
    if cpu_s is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    ledger, output = Ledger(), io.StringIO()
    options = ["-q", "--tb=line", "--assert=plain", "-p", "judge.plugin", "-p", "no:cacheprovider"]
    with contextlib.redirect_stdout(output):
        line = [*options, f"--hypothesis-seed={seed}", "--solution", str(solution), *tests]
        status = pytest.main(line, plugins=[ledger])
    answer.send(Run(int(status), frozenset(ledger.passed), frozenset(ledger.failed), output.getvalue()))
