"""A real keeper in a process of its own, on a runtime folder of its own, for the tests of every room above it.

Use: `from tests.keeper_fixture import keeper` in a conftest; the fixture's value is the folder's path, whose
`keeper.sock` answers. Which sandbox: PREFILL_TEST_SANDBOX, else bubblewrap where it works, else a plain process.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.errors import KeeperGone
from sandbox.lease import Keeper
from tests.parts import end, short_dir, wait_for

ROOT = Path(__file__).parents[1]


def usual_sandbox() -> str:
    return os.environ.get("PREFILL_TEST_SANDBOX") or ("bubblewrap" if shutil.which("bwrap") else "process")


@contextlib.contextmanager
def keeper_process(sandbox: str, run: Path, **settings: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a keeper and wait until it answers; on leaving, end it the polite way."""
    env = {
        "PATH": os.environ["PATH"],
        "PREFILL_RUN": str(run),
        "PREFILL_SANDBOX": sandbox,
        "PREFILL_BASE_IMAGE": base_image(),
        **{f"PREFILL_{name.upper()}": value for name, value in settings.items()},
    }
    process = subprocess.Popen([sys.executable, "-m", "sandbox.keeper"], cwd=ROOT, env=env)
    try:
        wait_for(lambda: _answers(process, run), "the keeper did not answer")
        yield process
    finally:
        if process.poll() is None:
            end(process)


def base_image() -> str:
    return os.environ.get("PREFILL_BASE_IMAGE", "prefill-test-base:bookworm")


def _answers(process: "subprocess.Popen[bytes]", run: Path) -> bool:
    if process.poll() is not None:
        raise AssertionError(f"the keeper ended with status {process.returncode}")
    try:
        return bool(Keeper(run / "keeper.sock").status()["ok"])
    except KeeperGone:
        return False


@pytest.fixture(scope="session")
def keeper() -> Iterator[Path]:
    """The runtime folder of a keeper that lives for the whole run of tests."""
    with short_dir() as run, keeper_process(usual_sandbox(), run):
        yield run
