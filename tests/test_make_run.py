"""`make run`'s supervisor, for real: from start to verdict, through deaths, to an end that leaves nothing behind."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.operate.house import SMALL, House, free_port, source
from tests.parts import wait_for

pytestmark = [pytest.mark.redis, pytest.mark.bubblewrap, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    house = House(tmp_path_factory.mktemp("house") / "var", free_port())
    try:
        yield house.ready()
    finally:
        house.end()


@pytest.fixture
def own_house(tmp_path: Path) -> Iterator[House]:
    """One that the test may end or break."""
    house = House(tmp_path / "var", free_port())
    try:
        yield house.ready()
    finally:
        house.end()


def gone(processes: list[psutil.Process]) -> bool:
    return not [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def test_the_printed_link_opens_signed_in(house: House) -> None:
    """The one URL that is printed leads to the drills, with the owner signed in."""
    with httpx2.Client(follow_redirects=True) as browser:
        page = browser.get(house.link())
        assert page.status_code == 200
        assert "/drills/counter" in page.text
        assert browser.get(f"http://127.0.0.1:{house.port}/submissions").status_code == 200


def test_a_right_and_a_wrong_answer_get_their_verdicts(house: House) -> None:
    """Through the API, the queue, the wall and the database: accepted is accepted, wrong is wrong."""
    api = house.api()
    assert api.grade(source("reference.py", SMALL))["verdict"] == "accepted"
    wrong = api.grade(source("wrong/accepts_negative.py", SMALL))
    api.close()
    assert wrong["verdict"] == "wrong"
    assert any(group["state"] == "failed" for group in wrong["groups"])


def test_a_second_instance_is_sent_away(house: House) -> None:
    """The same folder twice: a sentence that names the first one, and a status of failure."""
    second = House(house.state, free_port())
    assert second.process.wait(60) == 1
    second.end()
    assert f"already runs with the folder {house.state}" in second.text()
    assert f"kill {house.process.pid}" in second.text()


def test_a_taken_port_is_said(tmp_path: Path) -> None:
    """What to type instead stands in the sentence."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        house = House(tmp_path / "var", port)
        assert house.process.wait(60) == 1
    house.end()
    assert f"make run PORT={port + 1}" in house.text()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """No write permission: which folder, and what to do."""
    (tmp_path / "file").write_text("")
    house = House(tmp_path / "file" / "var", free_port())
    assert house.process.wait(60) == 1
    house.end()
    assert f"may not write to {tmp_path / 'file' / 'var'}" in house.text()


def test_without_a_wall_it_listens_to_nobody_else(tmp_path: Path) -> None:
    """Process sandbox and an address that others reach: refused before anything listens."""
    house = House(tmp_path / "var", free_port(), SMALL, {"PREFILL_SANDBOX": "process"}, "--host", "0.0.0.0")
    assert house.process.wait(60) == 1
    house.end()
    assert "no wall around submissions here" in house.text()


@pytest.mark.parametrize("room", ["grader", "keeper", "recorder", "web"])
def test_a_killed_room_is_named_and_comes_back(house: House, room: str) -> None:
    """SIGKILL for one room: it is named, started again, and the next submission gets its verdict."""
    first = house.room(room)
    first.kill()
    house.until(rf"^{room} was killed by SIGKILL")
    house.until(rf"^  {room} ")
    assert house.room(room).pid != first.pid
    api = house.api()
    assert api.grade(source("reference.py", SMALL))["verdict"] == "accepted"
    api.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_end_leaves_nothing_behind(own_house: House, number: int) -> None:
    """After a submission and a Ctrl-C or SIGTERM: no process, folder, socket, mount or port is left."""
    api = own_house.api()
    api.grade(source("reference.py", SMALL))
    api.close()
    family, run = own_house.family(), own_house.run_folder()
    assert own_house.end(number) == 0
    assert gone(family)
    assert not run.exists()
    assert str(run) not in Path("/proc/self/mounts").read_text()
    assert str(run) not in Path("/proc/net/unix").read_text()
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        trial.bind(("127.0.0.1", own_house.port))


def test_a_dead_redis_ends_it_with_a_sentence(own_house: House) -> None:
    """Redis is not restarted behind anyone's back: what happened, that nothing is lost, and a status of failure."""
    family = own_house.family()
    own_house.room("redis").kill()
    assert own_house.process.wait(60) == 1
    own_house.end()
    assert "redis was killed by SIGKILL" in own_house.text()
    assert "Submissions are kept" in own_house.text()
    assert gone(family)


def test_a_killed_supervisor_takes_everything_along(tmp_path: Path) -> None:
    """SIGKILL for the supervisor: its rooms end too, and the next start on the same folder works and cleans up."""
    first = House(tmp_path / "var", free_port()).ready()
    family, run = first.family(), first.run_folder()
    os.kill(first.process.pid, signal.SIGKILL)
    first.end()
    wait_for(lambda: gone(family), "rooms outlive their supervisor")
    second = House(tmp_path / "var", first.port).ready()
    assert not run.exists()
    assert second.end() == 0


def test_what_was_accepted_before_is_there_after(own_house: House) -> None:
    """State lasts: the submission is shown by the next run, and the token still works."""
    api = own_house.api()
    done = api.grade(source("reference.py", SMALL))
    api.close()
    own_house.end()
    again = House(own_house.state, own_house.port).ready()
    api = again.api()
    assert api.wait(done["id"])["verdict"] == "accepted"
    api.close()
    assert again.end() == 0
