"""A real grader on a real Redis: it grades what is on its list, tells what it may, and goes on whatever dies."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from nacl.public import PrivateKey
from redis import Redis
from rq import Callback, Queue
from rq.command import send_stop_job_command
from rq.job import Job

from judge.drill import Drill
from judge.report import PublicReport
from judge.seal import from_text, is_signed, open_sealed
from judge.verdict import Verdict
from tests.judge.conftest import COUNTER
from tests.judge.test_grade import RIGHT, with_add
from tests.parts import end, redis_server, wait_for

pytestmark = pytest.mark.redis

ROOT = Path(__file__).parents[2]
SLEEPS = with_add("import time; time.sleep(3600 if amount > 20 else 0)")


@dataclass(frozen=True, slots=True)
class House:
    """A grader at work, seen as the web and the recorder see it."""

    redis: Redis
    process: "subprocess.Popen[bytes]"
    report_key: bytes
    private_key: bytes
    drill: Drill

    def send(self, name: str, source: str, kind: str = "submit", changed: dict[str, Any] | None = None) -> Job:
        payload = {
            "id": name, "attempt": 1, "drill": self.drill.slug, "revision": self.drill.revision, "source": source,
            "kind": kind,
        }  # fmt: skip
        queue = Queue(f"grade-{kind}", connection=self.redis, serializer="json")
        return queue.enqueue_call(
            "judge.worker.grade_submission",
            args=[{**payload, **(changed or {})}],
            job_id=f"grade-{name}-1",
            timeout=300,
        )

    def events(self, name: str) -> list[tuple[str, dict[str, Any]]]:
        entries: Any = self.redis.xrange(f"events:{name}")
        return [(fields[b"event"].decode(), json.loads(fields[b"data"])) for _, fields in entries]

    def reports(self) -> list[dict[str, Any]]:
        queue = Queue("record", connection=self.redis, serializer="json")
        return [job.args[0] for job in queue.get_jobs() if job is not None]

    def ended(self, job: Job) -> str:
        wait_for(lambda: job.get_status(refresh=True) in ("finished", "failed", "stopped"), f"{job.id} did not end")
        return job.get_status().value

    def horse(self) -> psutil.Process:
        """The work-horse, once it has a child of its own."""
        worker = psutil.Process(self.process.pid)
        wait_for(lambda: any(child.children() for child in worker.children()), "no grading began")
        return next(child for child in worker.children() if child.children())


@pytest.fixture(scope="module")
def house(keeper: Path, counter: Drill, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    secrets = tmp_path_factory.mktemp("secrets")
    private = PrivateKey.generate()
    report_key = os.urandom(32)
    for name, key in [
        ("report_key", report_key),
        ("seed_key", os.urandom(32)),
        ("case_public_key", bytes(private.public_key)),
    ]:
        (secrets / name).write_bytes(key)
    with redis_server() as url:
        env = {
            "PATH": os.environ["PATH"],
            "PREFILL_REDIS_URL": url,
            "PREFILL_RUN": str(keeper),
            "PREFILL_DRILLS": str(COUNTER.parents[1]),
            "PREFILL_SECRETS": str(secrets),
        }
        process = subprocess.Popen([sys.executable, "-m", "judge.worker"], cwd=ROOT, env=env)
        redis = Redis.from_url(url)
        try:
            wait_for(lambda: redis.smembers("rq:workers") or process.poll() is not None, "the grader did not start")
            assert process.poll() is None
            yield House(redis, process, report_key, bytes(private), counter)
        finally:
            end(process)
            redis.close()


@pytest.fixture(autouse=True)
def clean(house: House) -> Iterator[None]:
    yield
    house.redis.delete("rq:queue:record")


def test_an_accepted_submission_is_told_step_by_step(house: House) -> None:
    job = house.send("s_right", RIGHT)
    assert house.ended(job) == "finished"
    names = [name for name, _ in house.events("s_right")]
    assert names == ["state", *["group"] * 4, "verdict", "done"]
    assert house.events("s_right")[-2][1] == {"verdict": "accepted", "message": None}
    assert {data["state"] for name, data in house.events("s_right") if name == "group"} == {"passed"}


def test_a_verdict_is_reported_before_its_cases_and_both_are_signed(house: House) -> None:
    wrong = house.drill.texts["wrong/forgets_after_fifty.py"]
    job = house.send("s_wrong", wrong)
    house.ended(job)
    first, final = house.reports()
    assert (first["final"], final["final"]) == (False, True)
    assert first["cases"] == []
    assert first["report"]["verdict"] == final["report"]["verdict"] == "wrong"
    assert is_signed(first, house.report_key)
    assert is_signed(final, house.report_key)
    assert job.return_value() == final
    assert PublicReport.from_json(final["report"]).groups[1].shape == "1-3"


def test_a_case_opens_with_the_webs_key_and_is_nowhere_else(house: House) -> None:
    job = house.send("s_case", house.drill.texts["wrong/forgets_after_fifty.py"])
    house.ended(job)
    final = house.reports()[-1]
    (sealed,) = final["cases"]
    case = open_sealed(from_text(sealed["sealed"]), house.private_key)
    assert (case.group, case.verdict) == ("sum", Verdict.WRONG)
    everything = json.dumps([house.reports(), house.events("s_case")])
    assert case.sentence not in everything
    assert case.test not in everything


def test_a_run_shows_its_case_openly(house: House) -> None:
    broken = RIGHT.replace("return sum(self.amounts)", "return 0")
    house.ended(house.send("s_run", broken, "run"))
    final = house.reports()[-1]
    assert final["report"]["visible_cases"][0]["actual"] == "0"
    assert final["cases"] == []


def test_another_revision_is_handed_back_with_a_code_only(house: House) -> None:
    job = house.send("s_other", RIGHT, changed={"revision": "0" * 16})
    assert house.ended(job) == "failed"
    result = job.latest_result()
    assert result is not None
    assert result.exc_string == "grading_failed"
    assert house.reports() == []


@pytest.mark.parametrize("function", ["os.system", "judge.worker.main", "builtins.eval", "judge.grade.grade"])
def test_a_job_that_is_not_on_the_list_is_not_run(house: House, tmp_path: Path, function: str) -> None:
    queue = Queue("grade-submit", connection=house.redis, serializer="json")
    queue.enqueue_call(function, args=[f"touch {tmp_path / 'ran'}"])
    house.ended(house.send("s_after", RIGHT, "run"))
    assert not (tmp_path / "ran").exists()
    assert house.process.poll() is None


def test_a_job_with_a_callback_is_not_run(house: House) -> None:
    queue = Queue("grade-run", connection=house.redis, serializer="json")
    payload = {"id": "s_back", "attempt": 1, "drill": "counter", "revision": "x", "source": "", "kind": "run"}
    job = queue.enqueue_call("judge.worker.grade_submission", args=[payload], on_failure=Callback("os.abort"))
    house.ended(house.send("s_after2", RIGHT, "run"))
    assert not house.redis.exists(job.key)
    assert house.events("s_back") == []


@pytest.mark.parametrize("payload", [{"attempt": "1"}, {"source": None}, {"kind": "all"}])
def test_a_payload_of_another_shape_fails_alone(house: House, payload: dict[str, Any]) -> None:
    job = house.send("s_shape", RIGHT, changed=payload)
    assert house.ended(job) == "failed"
    job.delete()


def test_a_cancelled_grading_ends_and_takes_its_tests_along(house: House) -> None:
    job = house.send("s_cancel", SLEEPS)
    horse = house.horse()
    below = horse.children(recursive=True)
    send_stop_job_command(house.redis, job.id, serializer="json")
    assert house.ended(job) == "stopped"
    psutil.wait_procs([horse, *below], timeout=30)
    assert not [process for process in below if process.is_running()]


def test_a_horse_that_is_killed_takes_its_tests_along_and_the_next_job_is_graded(house: House) -> None:
    job = house.send("s_killed", SLEEPS)
    horse = house.horse()
    below = horse.children(recursive=True)
    horse.kill()
    assert house.ended(job) == "failed"
    psutil.wait_procs(below, timeout=30)
    assert not [process for process in below if process.is_running()]
    assert house.ended(house.send("s_next", RIGHT, "run")) == "finished"


def test_tests_that_are_killed_are_tried_again_on_a_fresh_guest(house: House) -> None:
    job = house.send("s_retried", with_add("import time; time.sleep(0.05)"))
    (tests,) = house.horse().children()
    tests.kill()
    assert house.ended(job) == "finished"
    assert house.reports()[-1]["report"]["verdict"] == "accepted"


def test_a_heartbeat_is_there_while_grading_and_gone_after(house: House) -> None:
    job = house.send("s_beat", SLEEPS)
    house.horse()
    assert house.redis.ttl("attempt:s_beat:1") > 0
    send_stop_job_command(house.redis, job.id, serializer="json")
    house.ended(job)
    house.ended(house.send("s_beat2", RIGHT, "run"))
    assert not house.redis.exists("attempt:s_beat2:1")
