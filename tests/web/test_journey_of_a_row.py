"""From a request to a verdict through the database, Redis, a worker and the recorder, all of them real."""

import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest
from redis import Redis
from redis.exceptions import ConnectionError

from tests import parts
from tests.web.conftest import Desk, kill
from web.people import now
from web.sweep import Sweep

pytestmark = pytest.mark.redis
LONG_AGO = timedelta(minutes=5)


def sweep(house: Desk) -> Sweep:
    return Sweep(house.office, "test", grace=timedelta())


def test_a_submission_gets_its_verdict_and_then_its_case(house: Desk) -> None:
    house.grader()
    house.recorder()
    sent = house.send("wrong")
    found = house.finished(sent)
    assert (found["state"], found["verdict"], found["attempt"]) == ("finished", "wrong", 1)
    assert found["groups"][0]["case"] == "sealed"
    assert found["groups"][0]["shape"] == "1-3"


def test_a_horse_killed_in_mid_grade_ends_in_one_right_verdict_by_retry(house: Desk) -> None:
    house.grader()
    house.recorder()
    found = house.finished(house.send("accepted, but die once"))
    assert (found["verdict"], found["attempt"]) == ("accepted", 2)


def test_a_grader_killed_with_its_horse_is_replaced_by_a_later_attempt(house: Desk) -> None:
    worker = house.grader()
    sent = house.send("accepted, but hang once")
    house.until(lambda: house.redis.exists(f"attempt:{sent['id']}:1"))
    horses = psutil.Process(worker.pid).children()
    kill(worker)
    for horse in horses:  # it leads a session of its own
        horse.kill()
    house.until(lambda: not house.redis.exists(f"attempt:{sent['id']}:1"))
    house.redis.hset(f"rq:job:grade-{sent['id']}-1", "started_at", "2020-01-01T00:00:00.000000Z")
    house.grader()
    house.recorder()
    found = house.finished(sent)
    assert (found["verdict"], found["attempt"]) == ("accepted", 2)


def test_three_failed_attempts_end_as_a_judge_error_that_does_not_blame_the_user(house: Desk) -> None:
    house.grader()
    house.recorder()
    found = house.finished(house.send("die"))
    assert (found["verdict"], found["attempt"]) == ("judge_error", 3)
    assert "not yours" in found["message"]


def test_a_judge_that_raises_is_retried_and_its_words_reach_nobody(house: Desk) -> None:
    house.grader()
    house.recorder()
    found = house.finished(house.send("raise once, then accepted"))
    assert (found["verdict"], found["attempt"]) == ("accepted", 2)
    assert "at fault" not in str(found)


def test_a_report_whose_record_jobs_were_lost_is_taken_from_the_grade_job(house: Desk) -> None:
    house.grader()
    house.recorder()
    found = house.finished(house.send("silent wrong"))
    assert (found["verdict"], found["groups"][0]["case"], found["attempt"]) == ("wrong", "sealed", 1)


def test_a_verdict_stands_when_its_grader_dies_before_the_cases(house: Desk) -> None:
    house.grader()
    house.recorder()
    found = house.finished(house.send("wrong mute"))
    assert (found["verdict"], found["attempt"], found["groups"][0]["case"]) == ("wrong", 1, "none")


def test_a_redis_that_forgot_everything_loses_no_submission(house: Desk) -> None:
    sent = house.send("accepted")
    house.redis.flushall()
    sweep(house).once()
    assert house.row(sent).attempt == 2
    house.grader()
    house.recorder()
    assert house.finished(sent)["verdict"] == "accepted"


def test_a_submission_committed_but_never_sent_is_sent_by_the_sweep(house: Desk) -> None:
    sent = house.send("accepted")
    house.redis.flushall()
    house.age(sent, sent_at=None)
    sweep(house).once()
    assert house.redis.lrange("rq:queue:grade-submit", 0, -1) == [f"grade-{sent['id']}-1".encode()]


def test_a_waiting_submission_is_left_alone_by_the_sweep(house: Desk) -> None:
    sent = house.send("accepted")
    house.age(sent, sent_at=now() - LONG_AGO)
    sweep(house).once()
    sweep(house).once()
    assert house.row(sent).attempt == 1


def test_a_job_that_a_dead_grader_took_off_the_queue_is_found_by_the_second_sweep(house: Desk) -> None:
    sent = house.send("accepted")
    house.redis.lpop("rq:queue:grade-submit")
    sweeper = sweep(house)
    sweeper.once()
    assert house.row(sent).attempt == 1
    sweeper.once()
    assert house.row(sent).attempt == 2


def test_a_living_attempt_is_left_alone_though_its_job_is_forgotten(house: Desk) -> None:
    sent = house.send("accepted")
    house.redis.flushall()
    house.redis.set(f"attempt:{sent['id']}:1", "1")
    sweep(house).once()
    assert house.row(sent).attempt == 1


def test_sending_twice_is_sending_once(house: Desk) -> None:
    sent = house.send("accepted")
    house.age(sent, sent_at=None)
    sweep(house).once()
    assert house.redis.llen("rq:queue:grade-submit") == 1


def test_only_one_sweeper_holds_the_lock_until_it_expires(house: Desk) -> None:
    first, second = Sweep(house.office, "first"), Sweep(house.office, "second")
    assert first.hold()
    assert not second.hold()
    assert first.hold()


def test_a_recorder_ends_on_sigterm(house: Desk) -> None:
    recorder = house.recorder()
    house.until(lambda: house.redis.smembers("rq:workers"))
    recorder.send_signal(signal.SIGTERM)
    assert recorder.wait(30) == 0


def test_a_recorder_killed_at_work_leaves_nothing_half_done(house: Desk) -> None:
    house.grader()
    recorder: subprocess.Popen[bytes] = house.recorder()
    sent = [house.send("wrong") for _ in range(5)]
    house.until(lambda: any(house.get(one)["verdict"] for one in sent))
    os.kill(recorder.pid, signal.SIGKILL)
    house.recorder()
    for one in sent:
        found = house.finished(one)
        assert (found["verdict"], found["groups"][0]["case"]) == ("wrong", "sealed")


class TestRedisItselfDies:
    """The database keeps what was sent; recorder and web outlive the Redis they use."""

    @pytest.fixture
    def socket(self) -> Iterator[Path]:
        parts.need("redis")
        with parts.short_dir() as folder:
            yield folder / "redis.sock"

    @pytest.fixture
    def redis_url(self, socket: Path) -> Iterator[str]:
        self.server = start_redis(socket)
        yield f"unix://{socket}"
        parts.end(self.server)

    def test_what_was_sent_before_and_meanwhile_is_graded_afterwards(self, house: Desk, socket: Path) -> None:
        recorder = house.recorder()
        before = house.send("accepted before")
        self.server.kill()
        self.server.wait()
        meanwhile = house.send("accepted meanwhile")
        assert house.get(meanwhile)["state"] == "queued"
        self.server = start_redis(socket)
        house.grader()
        for sent in (before, meanwhile):
            assert house.finished(sent)["verdict"] == "accepted"
        assert recorder.poll() is None


def start_redis(socket: Path) -> subprocess.Popen[bytes]:
    """A Redis that keeps nothing: the worst case."""
    words = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--dir", str(socket.parent), "--save", ""]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    parts.wait_for(lambda: socket.exists() and answers(socket), "Redis did not answer")
    return server


def answers(socket: Path) -> bool:
    with Redis(unix_socket_path=str(socket), retry=None) as client:
        try:
            return bool(client.ping())
        except ConnectionError:
            return False
