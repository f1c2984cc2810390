"""Process 1 of a guest: fresh children, an end to what they leave behind, a cap on what they write, and its own end."""

import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.errors import GuestCrashed, GuestTimeout
from sandbox.guest import kernel
from sandbox.limits import LIMIT_CLASSES
from sandbox.link import Link
from tests.sandbox.guest_fixture import PATIENCE_S, Agent, loaded, running_agent


@pytest.fixture(name="agent")
def _agent() -> Iterator[Agent]:
    with running_agent() as agent:
        yield agent


def gone(pid: int) -> bool:
    """No longer running (a zombie that nobody has reaped yet does not run)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def until(claim: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE_S
    while not claim() and time.monotonic() < end:
        time.sleep(0.01)
    return claim()


@contextmanager
def over(line: socket.socket, call_s: float = 10.0) -> Iterator[Link]:
    link = Link(line, replace(LIMIT_CLASSES["small"], call_s=call_s))
    yield link
    link.close()


def call(link: Link, *args: object) -> object:
    return link.call(None, "f", args, {})


def test_an_end_is_reported_with_its_status(agent: Agent) -> None:
    nonce, line = agent.child()
    with over(line) as link, pytest.raises(GuestCrashed):
        link.load("import os; os._exit(137)", ["f"])
    assert agent.hear() == ["ended", nonce, "exit", 137, 0]


def test_an_end_by_signal_is_not_an_exit(agent: Agent) -> None:
    nonce, line = agent.child()
    with over(line) as link, pytest.raises(GuestCrashed):
        link.load("import os; os.kill(os.getpid(), 9)", ["f"])
    assert agent.hear() == ["ended", nonce, "signal", signal.SIGKILL, 0]


def test_output_is_kept_and_told_when_asked_for(agent: Agent) -> None:
    nonce, line = agent.child()
    with over(line) as link:
        link.load(
            "import sys, os\nprint('hé')\nprint('err', file=sys.stderr)\nos.write(1, b'raw')\ndef f(): pass", ["f"]
        )
        agent.say("output", nonce)
        assert agent.hear() == ["output", nonce, "hé\nerr\nraw".encode()]
        agent.say("output", bytes(16))
        assert agent.hear() == ["output", bytes(16), b""]


def test_output_can_still_be_had_after_the_end(agent: Agent) -> None:
    nonce, line = agent.child()
    with over(line) as link, pytest.raises(GuestCrashed):
        link.load("print('last words'); import os; os.abort()", ["f"])
    assert agent.hear() == ["ended", nonce, "signal", signal.SIGABRT, len("last words\n")]
    agent.say("output", nonce)
    assert agent.hear() == ["output", nonce, b"last words\n"]


@pytest.mark.parametrize("writer", ["while True: print('x' * 999)", "import os\nwhile True: os.write(2, b'x')"])
def test_a_flood_ends_the_child(agent: Agent, writer: str) -> None:
    nonce, line = agent.child()
    with over(line) as link, pytest.raises(GuestCrashed):
        link.load(writer, ["f"])
    assert agent.hear() == ["flooded", nonce]
    verb, _, how, number, written = agent.hear()
    assert (verb, how, number) == ("ended", "signal", signal.SIGKILL)
    assert written > 64 * 1024
    agent.say("output", nonce)
    assert len(agent.hear()[2]) == 64 * 1024


def test_a_flood_by_a_child_that_is_gone_at_once_is_told_too(agent: Agent) -> None:
    nonce, line = agent.child()
    with over(line) as link, pytest.raises(GuestCrashed):
        link.load("import os; os.write(1, b'x' * 65_000); os.write(1, b'x' * 536); os._exit(0)", [])
    assert agent.hear()[0] == "ended"  # exactly the cap is not a flood
    nonce, line = agent.child()
    with over(line) as link, pytest.raises(GuestCrashed):
        link.load("import os; os.write(1, b'x' * 65_000); os.write(1, b'x' * 537); os._exit(0)", [])
    assert agent.hear() == ["flooded", nonce]


SLEEPER = """
import os, time
def f(own_session):
    if (pid := os.fork()) == 0:
        if own_session:
            os.setsid()
        if (deeper := os.fork()) == 0:
            time.sleep(600)
        time.sleep(600)
    return [os.getpid(), pid]
"""


@pytest.mark.parametrize("own_session", [False, True])
def test_what_a_child_started_ends_before_the_next_begins(agent: Agent, own_session: bool) -> None:
    with loaded(agent, SLEEPER, "f") as link:
        pids = call(link, own_session)
        with loaded(agent, "def f(): pass", "f"):
            assert all(gone(pid) for pid in pids)  # type: ignore[attr-defined]


def test_what_a_child_started_ends_with_it_and_so_does_its_line(agent: Agent) -> None:
    source = SLEEPER.replace("return [os.getpid(), pid]", "os._exit(0)")
    nonce, line = agent.child()
    with over(line) as link:
        link.load(source, ["f"])
        with pytest.raises(GuestCrashed):  # and not a timeout: the forked process held the line, and is gone
            call(link, True)
    assert agent.hear() == ["ended", nonce, "exit", 0, 0]


def test_a_stopped_process_is_no_obstacle(agent: Agent) -> None:
    with loaded(
        agent, "import os\ndef f():\n    if os.fork() == 0: os.kill(os.getpid(), 19)\n    return 1", "f"
    ) as link:
        assert call(link) == 1
        with loaded(agent, "def f(): return 2", "f") as following:
            assert call(following) == 2


def test_the_scratch_folder_is_empty_for_the_next(agent: Agent) -> None:
    source = """
import os
def f():
    here = os.getcwd()
    for _ in range(200):
        os.mkdir("d"); os.chdir("d"); open("x" * 200, "w").close()
    os.chdir(here)
    os.makedirs("locked/in"); open("locked/inside", "w").close(); os.chmod("locked/in", 0); os.chmod("locked", 0)
    os.symlink("/etc", "link"); os.mkfifo("fifo"); os.link("fifo", "twice"); open(b"\\xff\\xfe", "w").close()
    os.chmod(here, 0)
    return here
"""
    with loaded(agent, source, "f") as link:
        assert call(link) == str(agent.scratch)
    with loaded(agent, "import os\ndef f(): return os.listdir('.')", "f") as link:
        assert call(link) == []
    assert Path("/etc/passwd").exists()


def test_a_folder_that_was_not_empty_is_not_ours_to_empty(tmp_path: Path) -> None:
    (tmp_path / "somebodys").touch()
    assert kernel.own_scratch(str(tmp_path)) is None
    (tmp_path / "somebodys").unlink()
    assert kernel.own_scratch(str(tmp_path)) == str(tmp_path)


def test_the_agent_leaves_with_its_control_line_and_takes_all_along(agent: Agent) -> None:
    with loaded(agent, SLEEPER, "f") as link:
        pids = call(link, True)
        agent.control.close()
        assert agent.process.wait(PATIENCE_S) == 0
        assert until(lambda: all(gone(pid) for pid in pids))  # type: ignore[attr-defined]


def test_a_child_cannot_read_or_write_the_agents_memory(agent: Agent) -> None:
    source = """
import os
def f():
    return os.stat(f"/proc/{os.getppid()}/mem").st_uid, os.stat("/proc/self/mem").st_uid, os.getuid()
"""
    with loaded(agent, source, "f") as link:
        of_agent, own, uid = call(link)  # type: ignore[misc]
    assert of_agent == 0  # what is not dumpable belongs to root, whoever runs it
    assert own == uid


def test_a_child_is_the_first_to_die(agent: Agent) -> None:
    with loaded(agent, "def f(): return open('/proc/self/oom_score_adj').read()", "f") as link:
        assert call(link) == "1000\n"


def test_limits_hold_for_the_child(agent: Agent) -> None:
    source = """
from resource import RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NOFILE, getrlimit
def f(): return [getrlimit(kind) for kind in (RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CORE)]
"""
    with loaded(agent, source, "f") as link:
        assert call(link) == [(256, 256), (16 * 2**20, 16 * 2**20), (0, 0)]


def test_descriptors_run_out_for_the_child_alone(agent: Agent) -> None:
    source = "import os\ndef f():\n    held = []\n    while True: held.append(os.dup(0))"
    with loaded(agent, source, "f") as link, pytest.raises(Exception, match="OSError"):
        call(link)
    with loaded(agent, "def f(): return 1", "f") as link:
        assert call(link) == 1


def test_a_child_holds_its_line_and_nothing_else_of_ours(agent: Agent) -> None:
    source = """
import os, stat
def f():
    held = {}
    for number in range(3, 99):
        try:
            held[number] = stat.S_ISSOCK(os.fstat(number).st_mode)
        except OSError:
            pass
    return list(held.values())
"""
    with loaded(agent, source, "f") as link:
        assert call(link) == [True]


def test_an_endless_module_runs_into_the_deadline_and_the_next_child_is_well(agent: Agent) -> None:
    _, line = agent.child()
    with over(line, call_s=0.3) as link, pytest.raises(GuestTimeout):
        link.load("while True: pass", ["f"])
    with loaded(agent, "def f(): return 1", "f") as link:
        assert call(link) == 1


def test_signals_to_the_agents_group_do_not_reach_it_from_a_child(agent: Agent) -> None:
    with loaded(agent, "import os\ndef f(): os.killpg(0, 9)", "f") as link, pytest.raises(GuestCrashed):
        call(link)
    with loaded(agent, "def f(): return 1", "f") as link:
        assert call(link) == 1
