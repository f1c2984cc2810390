"""The supervisor with small real processes: order, death, restart, and an end that leaves nothing."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.parts import wait_for
from web.operate.complaint import Complaint
from web.operate.process import Child, adopt_orphans
from web.operate.supervisor import Supervisor

SLEEPER = (sys.executable, "-c", "import time; print('here I am', flush=True); time.sleep(600)")
STUBBORN = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)",
)
FORKS_AND_FORGETS = (
    sys.executable,
    "-c",
    "import os, time\npid = os.fork()\npid or os.setsid()\npid and print(pid, flush=True)\ntime.sleep(600)",
)
FAILS = (sys.executable, "-c", "raise SystemExit('no such drill: paged-attention')")


def child(name: str, argv: tuple[str, ...] = SLEEPER, restarts: int = 3, grace_s: float = 4) -> Child:
    return Child(name, argv, dict(os.environ), lambda pid: f"process {pid}", restarts=restarts, grace_s=grace_s)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervisor(tmp_path: Path, said: list[str]) -> Iterator[Supervisor]:
    adopt_orphans()
    supervisor = Supervisor(tmp_path, said.append)
    yield supervisor
    supervisor.end()


@contextlib.contextmanager
def asked_to_stop(supervisor: Supervisor, when: object) -> Iterator[None]:
    """Ask for the end as soon as `when()` is true, from another thread, as a signal would."""

    def ask() -> None:
        wait_for(when, "it never happened")  # type: ignore[arg-type]
        supervisor._asked_to_stop(signal.SIGTERM, None)

    thread = threading.Thread(target=ask)
    thread.start()
    yield
    thread.join()


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def test_a_wave_is_announced_once_it_is_ready(supervisor: Supervisor, said: list[str]) -> None:
    """Each child is named with its own sentence when it is ready."""
    supervisor.start([child("keeper"), child("grader")])
    assert [line.split()[0] for line in said] == ["keeper", "grader"]


def test_the_end_leaves_no_process(supervisor: Supervisor, tmp_path: Path) -> None:
    """Not even one that ignores SIGTERM, nor one that was forked into a session of its own and forgotten."""
    supervisor.start([child("polite"), child("stubborn", STUBBORN, grace_s=0.2), child("forks", FORKS_AND_FORGETS)])
    wait_for(lambda: (tmp_path / "forks.log").read_text().endswith("\n"), "it did not fork")
    wait_for(lambda: "deaf" in (tmp_path / "stubborn.log").read_text(), "it did not begin")
    supervisor.end()
    assert children() == []
    assert not psutil.pid_exists(int((tmp_path / "forks.log").read_text()))


def test_a_killed_child_is_named_and_started_again(supervisor: Supervisor, said: list[str]) -> None:
    """The report names the child, how it died and what it last said."""
    supervisor.start([child("grader")])
    (first,) = children()
    wait_for(lambda: "here I am" in (supervisor._logs / "grader.log").read_text(), "it did not begin")
    first.kill()
    with asked_to_stop(supervisor, lambda: len(said) >= 3):
        supervisor.watch()
    assert "grader was killed by SIGKILL" in said[1]
    assert "here I am" in said[1]
    (second,) = children()
    assert second.pid != first.pid


def test_a_child_that_keeps_dying_ends_it_all(supervisor: Supervisor) -> None:
    """After its restarts are used up the supervisor gives up with a sentence."""
    supervisor.start([child("redis", restarts=0)])
    children()[0].kill()
    with pytest.raises(Complaint, match="redis was killed by SIGKILL"):
        supervisor.watch()


def test_a_child_that_cannot_start_is_quoted(supervisor: Supervisor) -> None:
    """What the child said last is in the sentence that the person reads."""
    never = Child("grader", FAILS, dict(os.environ), lambda _pid: None)
    with pytest.raises(Complaint, match="no such drill: paged-attention"):
        supervisor.start([never])


def test_a_stop_during_the_start_is_heard(supervisor: Supervisor, said: list[str]) -> None:
    """Ctrl-C before everything is ready does not wait for it."""
    never = Child("keeper", SLEEPER, dict(os.environ), lambda _pid: None)
    with asked_to_stop(supervisor, children):
        supervisor.start([never])
    assert said == []
