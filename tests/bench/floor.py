"""What a grading is measured against: the same test files with plain pytest, in a warm process and in a container."""

import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest

from judge import plugin, profile  # noqa: F401  the plugin is named on pytest's command line
from tests.house_fixture import REPOSITORY

IMAGE = "prefill-bench"


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement: seconds on the wall, seconds of CPU."""

    wall_s: float
    cpu_s: float


class NoShrinking:
    """The judge's verdict comes before it shrinks; so the floor does not shrink either."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        profile.use_profile(profile.SEARCH)


def _arguments(solution: Path, tests: list[Path], seed: int) -> list[str]:
    quiet = [
        "-q",
        "-c",
        os.devnull,
        "--rootdir=/",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
        "--assert=plain",
    ]
    files = [str(path) for path in tests]
    return ["-p", "judge.plugin", f"--solution={solution}", f"--hypothesis-seed={seed}", *quiet, *files]


def in_a_warm_process(solution: Path, tests: list[Path], seed: int) -> Sample:
    """`pytest.main`, collection included, in a fork of this process: repeated in one it would keep its modules."""
    began, used = time.perf_counter(), _children_cpu_s()
    if (child := os.fork()) == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os._exit(int(pytest.main(_arguments(solution, tests, seed), plugins=[NoShrinking()])))
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise RuntimeError(f"the floor's pytest ended with {os.waitstatus_to_exitcode(status)}")
    return Sample(time.perf_counter() - began, _children_cpu_s() - used)


def build_image(base: str) -> None:
    dockerfile = f"""FROM {base}
RUN python3 -m venv /venv && /venv/bin/pip install -q pytest=={pytest.__version__} hypothesis=={hypothesis.__version__}
"""
    command = ["docker", "build", "--network", "host", "-q", "-t", IMAGE, "-"]
    subprocess.run(command, input=dockerfile, text=True, check=True, stdout=subprocess.DEVNULL)


def in_a_new_container(solution: Path, tests: list[Path], seed: int) -> Sample:
    """`docker run --rm` + pytest: what a judge does that starts a container for each submission."""
    inside = [Path("/repo") / path.relative_to(REPOSITORY) for path in tests]
    mounts = ["-v", f"{REPOSITORY}:/repo:ro", "-v", f"{solution.parent}:/s:ro"]
    settings = ["--network", "none", "-w", "/tmp", "-e", "PYTHONPATH=/repo", "-e", "PYTHONDONTWRITEBYTECODE=1"]
    pytest_there = ["/venv/bin/python", "-m", "pytest", *_arguments(Path("/s") / solution.name, inside, seed)]
    began = time.perf_counter()
    ended = subprocess.run(["docker", "run", "--rm", *mounts, *settings, IMAGE, *pytest_there], capture_output=True)
    if ended.returncode not in (0, 1):
        raise RuntimeError(f"docker run ended with {ended.returncode}: {ended.stderr.decode()[-500:]}")
    return Sample(time.perf_counter() - began, float("nan"))


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit("run it as: make bench")
