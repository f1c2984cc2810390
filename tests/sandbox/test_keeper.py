"""A real keeper in its own process: what is leased, what became of it, and that nothing is left however it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from sandbox.box import Place
from sandbox.errors import GuestCrashed, GuestFlooded, GuestOutOfMemory, GuestTimeout, KeeperGone, NoRoom
from sandbox.lease import Keeper, Lease
from sandbox.link import Link
from tests.keeper_fixture import ROOT, keeper_process
from tests.parts import end, short_dir, wait_for
from tests.sandbox.conftest import MARKED, SMALL

FAULTY = """
import os, time
def memory(): return len(bytearray(700 << 20))
def output():
    while True:
        try: os.write(1, b"x" * 1000)
        except OSError: pass
def cpu():
    while True: pass
def wall(): time.sleep(600)
def crash(): os._exit(137)
def fine(x): return x
def door(): return os.stat('/run/door/s').st_ino
"""


@pytest.fixture
def run() -> Iterator[Path]:
    with short_dir() as folder:
        yield folder


@pytest.fixture(autouse=True)
def _close_links() -> Iterator[None]:
    """Links are made by the dozen here; a test should not have to say that each is closed."""
    yield
    while LINKS:
        LINKS.pop().close()


LINKS: list[Link] = []


@pytest.fixture(params=MARKED[:2])
def walled(request: pytest.FixtureRequest) -> str:
    """The sandboxes that count outside the guest."""
    return str(request.param)


def lease(run: Path, cpu_s: float = 5, wall_s: float = 30) -> Lease:
    return Keeper(run / "keeper.sock").lease("small", cpu_s, wall_s, 60)


def link(lent: Lease) -> Link:
    LINKS.append(Link(lent.child(), SMALL, on_fault=lent.fate))
    LINKS[-1].load(FAULTY, ["memory", "output", "cpu", "wall", "crash", "fine", "door"])
    return LINKS[-1]


def processes_naming(run: Path) -> list[str]:
    lines = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if process.info["status"] != psutil.STATUS_ZOMBIE and str(run) in line:
            lines.append(line)
    return lines


def kill_guests(keeper: int) -> None:
    """What an administrator could do."""
    guests = psutil.Process(keeper).children(recursive=True)
    for one in guests:
        one.kill()
    wait_for(lambda: not any(map(runs, guests)), "the guests did not die")


def runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def groups_of(run: Path) -> list[str]:
    label = Place(run).label
    return [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if label in folder]


def test_a_lease_gives_children_and_facts(walled: str, run: Path) -> None:
    """A leased guest answers, and says what a verdict should say of it."""
    with keeper_process(walled, run), lease(run) as lent:
        assert link(lent).call(None, "fine", (41,), {}) == 41
        assert lent.facts.sandbox == walled
        assert lent.facts.python.startswith("3.")
        assert (lent.facts.image is None) == (walled != "docker")
        assert lent.facts.cpu in os.sched_getaffinity(0)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("memory", GuestOutOfMemory),
        ("output", GuestFlooded),
        ("cpu", GuestTimeout),
        ("crash", GuestCrashed),
    ],
)
def test_a_death_is_told_by_its_evidence(walled: str, run: Path, name: str, fault: type[BaseException]) -> None:
    """Memory, output, CPU time and a plain end are told apart, by counters and never by an exit status."""
    with keeper_process(walled, run, pool="1"), lease(run, cpu_s=1) as lent:
        with pytest.raises(fault):
            link(lent).call(None, name, (), {})
        fate = lent.fate()
        assert fate.cause == (None if name == "crash" else name)
        assert fate.box_alive == (name != "cpu")


@pytest.mark.bubblewrap
def test_a_sleeper_meets_the_wall_clock(run: Path) -> None:
    """A guest that uses no CPU time ends all the same."""
    with keeper_process("bubblewrap", run), lease(run, wall_s=1) as lent:
        with pytest.raises(GuestTimeout):
            link(lent).call(None, "wall", (), {})
        assert lent.fate().cause == "wall"


@pytest.mark.bubblewrap
def test_a_lease_that_is_over_gives_no_more_children(run: Path) -> None:
    """After the guest was ended for a limit, asking for a child says so."""
    with keeper_process("bubblewrap", run), lease(run, cpu_s=0.2) as lent:
        with pytest.raises(GuestTimeout):
            link(lent).call(None, "cpu", (), {})
        with pytest.raises(GuestTimeout):
            lent.child()


@pytest.mark.bubblewrap
def test_a_guest_that_we_lost_is_our_fault(run: Path) -> None:
    """A box that is gone although none of our limits ended it counts against the host, not against the user."""
    with keeper_process("bubblewrap", run, pool="1") as process, lease(run) as lent:
        made = link(lent)
        wait_for(lambda: status(run)["classes"]["small"]["ready"] == 1, "no second guest")
        kill_guests(process.pid)
        with pytest.raises(KeeperGone):
            made.call(None, "fine", (1,), {})
        assert lent.fate().cause == "host"


@pytest.mark.bubblewrap
def test_warm_guests_that_died_are_replaced(run: Path) -> None:
    """An administrator kills every warm guest; the next lease gets a living one."""
    with keeper_process("bubblewrap", run, pool="2") as process:
        wait_for(lambda: status(run)["classes"]["small"]["ready"] == 2, "no warm guests")
        kill_guests(process.pid)
        with lease(run) as lent:
            assert link(lent).call(None, "fine", (1,), {}) == 1


def status(run: Path) -> dict[str, dict[str, dict[str, int]]]:
    return Keeper(run / "keeper.sock").status()


@pytest.mark.bubblewrap
def test_a_dropped_connection_gives_the_guest_back(run: Path) -> None:
    """A grader that dies in any way has given its guest back, and its guest is gone."""
    with keeper_process("bubblewrap", run, pool="1", room="2"):
        lent = lease(run)
        lent.child().close()
        lent.close()
        wait_for(lambda: status(run)["classes"]["small"]["leased"] == 0, "the lease was kept")
        wait_for(lambda: len(list((run / "g").iterdir())) == 1, "the guest was kept")


@pytest.mark.bubblewrap
def test_no_guest_is_handed_out_twice(run: Path) -> None:
    """What one lease leaves behind in its guest, the next never sees."""
    with keeper_process("bubblewrap", run, pool="1", room="2"):
        seen = set()
        for _ in range(4):
            with lease(run) as lent:
                seen.add(link(lent).call(None, "door", (), {}))
        assert len(seen) == 4


@pytest.mark.bubblewrap
def test_a_full_house_says_no_room(run: Path) -> None:
    """With every place taken a lease waits as long as it said it would, then is refused as no_room."""
    with keeper_process("bubblewrap", run, pool="1", room="1"), lease(run), pytest.raises(NoRoom, match="no_room"):
        Keeper(run / "keeper.sock").lease("small", 1, 1, wait_s=0.2)


@pytest.mark.bubblewrap
def test_a_waiting_lease_gets_the_next_guest(run: Path) -> None:
    """A lease that waits is served as soon as another ends."""
    with keeper_process("bubblewrap", run, pool="1", room="1"):
        lease(run).close()
        with lease(run) as lent:
            assert link(lent).call(None, "fine", (1,), {}) == 1


@pytest.mark.bubblewrap
def test_limits_are_clamped_to_the_class(run: Path) -> None:
    """Whoever asks for more than the class allows gets the class."""
    with keeper_process("bubblewrap", run), lease(run, cpu_s=1e9, wall_s=1e9) as lent:
        assert link(lent).call(None, "fine", (1,), {}) == 1


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{}", "bad_request"),
        (b"nonsense", "bad_request"),
        (b"[1]", "bad_request"),
        (b'{"op":"lease","class":"huge"}', "bad_class"),
        (b'{"op":"lease","class":["small"]}', "bad_class"),
        (b'{"op":"lease","class":"small","cpu_s":"1"}', "bad_request"),
        (b'{"op":"lease","class":"small","cpu_s":NaN}', "bad_request"),
        (b'{"op":"lease","class":"small","wall_s":-1}', "bad_request"),
        (b'{"op":"child"}', "bad_request"),
        (b'{"op":"fate"}', "bad_request"),
        (b"\xff\xfe", "bad_request"),
        (b"[" * 4000, "bad_request"),
    ],
)
def test_bad_questions_are_answered_as_such(keeper: Path, line: bytes, code: str) -> None:
    """A malformed question costs its own connection at most, never the keeper."""
    assert json.loads(ask_raw(keeper, line))["error"] == code
    assert status(keeper)["ok"]


def ask_raw(run: Path, line: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(20)
        sock.connect(str(run / "keeper.sock"))
        sock.sendall(line + b"\n")
        return sock.recv(65536)


@pytest.mark.bubblewrap
def test_a_private_folder_is_no_hindrance(run: Path) -> None:
    """Where the guests' users can't reach the keeper's folder, guests are made elsewhere, and nothing stays there."""
    with keeper_process("bubblewrap", run / "private", pool="1"), lease(run / "private") as lent:
        assert link(lent).call(None, "fine", (1,), {}) == 1
    assert not Path("/run", f"prefill-{Place(run / 'private').label}").exists()


@pytest.mark.bubblewrap
def test_two_keepers_do_not_share_a_folder(run: Path) -> None:
    """The second one refuses to start; the first is not disturbed."""
    with keeper_process("bubblewrap", run, pool="0"):
        words = [sys.executable, "-m", "sandbox.keeper"]
        second = subprocess.run(words, cwd=ROOT, env={"PREFILL_RUN": str(run)}, capture_output=True, text=True)
        assert second.returncode == 1
        assert "another keeper lives" in second.stderr
        assert status(run)["ok"]


@pytest.mark.parametrize("sandbox", MARKED)
def test_sigterm_leaves_nothing_behind(sandbox: str, run: Path) -> None:
    """No process, container, control group, folder or socket, warm or leased, and the tenant sees the end."""
    with keeper_process(sandbox, run) as process:
        lent = lease(run)
        made = link(lent)
        end(process)
        assert process.returncode == 0
        with pytest.raises((KeeperGone, GuestCrashed)):
            made.call(None, "fine", (1,), {})
        with pytest.raises(KeeperGone):
            lent.fate()
        lent.close()
    assert list(run.iterdir()) == []
    assert processes_naming(run) == []
    assert groups_of(run) == []


@pytest.mark.parametrize("sandbox", MARKED)
def test_sigkill_ends_the_guests_and_the_next_keeper_sweeps(sandbox: str, run: Path) -> None:
    """Guests see their control line close and exit by themselves; the next keeper on the folder starts clean."""
    with keeper_process(sandbox, run) as process:
        lent = lease(run)
        with lent.child() as sock:
            process.send_signal(signal.SIGKILL)
            process.wait()
            sock.settimeout(20)
            assert sock.recv(1) == b""
        lent.close()
    wait_for(lambda: processes_naming(run) == [], "guests outlived their keeper")
    with keeper_process(sandbox, run) as process, lease(run) as again:
        assert link(again).call(None, "fine", (1,), {}) == 1
    assert list(run.iterdir()) == []
    assert groups_of(run) == []


@pytest.mark.bubblewrap
def test_a_stopped_guest_holds_up_nobody(run: Path) -> None:
    """A child that neither answers nor ends does not keep the keeper from serving others, or from ending it."""
    with keeper_process("bubblewrap", run), lease(run) as stuck:
        link(stuck)
        with stuck.child() as sock, lease(run) as other:
            sock.sendall(b"\0")
            assert link(other).call(None, "fine", (2,), {}) == 2


@pytest.mark.bubblewrap
def test_fate_of_a_living_guest_costs_no_wait(run: Path) -> None:
    """Asking while all is well tells the counters and no cause, many times over."""
    with keeper_process("bubblewrap", run), lease(run) as lent:
        made = link(lent)
        for number in range(50):
            assert made.call(None, "fine", (number,), {}) == number
            fate = lent.fate()
        assert fate.box_alive
        assert fate.cause is None
        assert 0 < fate.memory_peak_mib < SMALL.memory_mib


@pytest.mark.bubblewrap
def test_memory_of_one_child_is_not_the_next_one_s(run: Path) -> None:
    """The witness of an earlier child's death is not held against a later one."""
    with keeper_process("bubblewrap", run), lease(run) as lent:
        with pytest.raises(GuestOutOfMemory):
            link(lent).call(None, "memory", (), {})
        assert link(lent).call(None, "fine", (1,), {}) == 1
        assert lent.fate().cause is None


@pytest.mark.bubblewrap
def test_a_late_answer_of_an_earlier_child_is_not_heard(run: Path) -> None:
    """Each child has a line of its own; the earlier one's is closed when the next begins."""
    with keeper_process("bubblewrap", run), lease(run) as lent:
        with lent.child() as first:
            second = link(lent)
            first.settimeout(20)
            assert first.recv(1) == b""
        assert second.call(None, "fine", (7,), {}) == 7


@pytest.mark.long
@pytest.mark.bubblewrap
def test_two_hundred_leases_leave_the_keeper_as_it_was(run: Path) -> None:
    """Neither descriptors nor threads nor memory grow with the number of leases."""
    with keeper_process("bubblewrap", run) as process:
        watched = psutil.Process(process.pid)
        few = soak(run, watched, 10)
        many = soak(run, watched, 200)
        assert many[0] <= few[0] + 2
        assert many[1] <= few[1] + 2
        assert many[2] < few[2] + (32 << 20)


def soak(run: Path, process: psutil.Process, count: int) -> tuple[int, int, int]:
    for _ in range(count):
        with lease(run) as lent:
            link(lent).close()
    idle: Callable[[], bool] = lambda: status(run)["classes"]["small"] == {"ready": 2, "leased": 0, "waiting": 0}  # noqa: E731 - read best in one line
    wait_for(idle, "the keeper did not come to rest")
    time.sleep(0.2)
    return process.num_fds(), process.num_threads(), process.memory_info().rss
