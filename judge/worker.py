"""The grader: an RQ worker inside a pytest session. RQ's second home.

Theory of operation. `main` collects and rehearses all drills, measures the references, and then takes jobs without ever
leaving pytest's loop; RQ forks a work-horse for each, which is the watchdog of judge/horse.py. What lies in Redis is
data: a job's function is looked up on a list here, never imported by name, and a job that brings callbacks or webhooks
is dropped unread. Nothing but a code goes back to Redis when a grading fails on our side.
"""

import hashlib
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, Worker, get_current_job
from rq.exceptions import DeserializationError
from rq.executions import Execution
from rq.job import Job

from judge.calibrate import calibrated
from judge.confine import die_with
from judge.drill import Drill
from judge.grade import CaseFound, Concluded, Graded, GroupEnded, Progress, Trouble, grading
from judge.hall import Hall, open_hall, trial
from judge.report import Shape
from judge.station import OtherRevision, Settings, Station
from judge.submission import Submission
from judge.telling import Telling
from sandbox.errors import SandboxError

GRADE = "judge.worker.grade_submission"
AGAIN_S = 1.0
RESULT_TTL_S = 3600
HANDED_BACK_S = 1.0

log = logging.getLogger("grader")


def grade_submission(payload: dict[str, Any]) -> dict[str, Any]:
    """The job. Runs in a work-horse; its answer is the final signed document."""
    job = get_current_job()
    assert job is not None
    station = _station[0]
    submission = Submission.from_json(payload)
    telling = Telling(job.connection, submission, station.report_key, station.case_key)
    telling.beat()
    try:
        telling.event("state", {"state": "running"})
        drill = _drill(station, submission)
        for progress in grading(drill, submission, station.keeper, station.terms(drill), station.hall):
            telling.beat()
            if isinstance(progress, Graded):
                document = telling.report(progress.report, progress.cases, final=True)
                telling.event("done", {})
                return document
            tell(telling, submission, progress)
        raise AssertionError("a grading ends with a report")
    finally:
        telling.rest()


def _drill(station: Station, submission: Submission) -> Drill:
    """Where another revision is asked for, the job fails after a moment: another grader, or this one once its folder
    is up to date, gets the next attempt. The recorder makes at most three."""
    try:
        return station.drill(submission)
    except OtherRevision:
        time.sleep(HANDED_BACK_S)
        raise


def tell(telling: Telling, submission: Submission, progress: Progress) -> None:
    """Pass on what everyone may see of it."""
    match progress:
        case GroupEnded(group):
            state = {"key": group.key, "title": group.title, "state": group.state, "verdict": group.verdict}
            telling.event("group", state)
        case Concluded(report):
            telling.report(report, (), final=False)
            telling.event("verdict", {"verdict": report.verdict, "message": report.message})
        case CaseFound(case):
            telling.event("case", {"group": case.group, "shape": Shape.of(case.calls)})
        case Trouble(text):
            log.error("%s attempt %d: %s", submission.id, submission.attempt, text)


JOBS: dict[str, Callable[..., Any]] = {GRADE: grade_submission}
_station: list[Station] = []


class ListedJob(Job):
    """A job whose function is on our list; nothing is ever imported because Redis says so."""

    @property
    def func(self) -> Callable[..., Any]:
        return JOBS[self.func_name or ""]

    @property
    def is_listed(self) -> bool:
        try:
            extras = (self._success_callback_name, self._failure_callback_name, self._stopped_callback_name)
            return self.func_name in JOBS and self.instance is None and not any(extras) and not self.webhooks
        except (DeserializationError, TypeError, ValueError):
            return False


class Grader(Worker):
    """RQ's worker with our list, our horse, and no error text in Redis."""

    job_class = ListedJob
    asked_to_stop = False

    def execute_job(self, job: Job, queue: Queue) -> None:
        if isinstance(job, ListedJob) and job.is_listed:
            super().execute_job(job, queue)
            return
        log.error("a job that is not on the list was dropped: %s", job.id)
        self.connection.delete(job.key)

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        die_with(self.pid or os.getppid())
        super().main_work_horse(job, queue)

    def handle_job_failure(
        self,
        job: Job,
        queue: Queue,
        started_job_registry: Any = None,
        exc_string: str = "",
        execution: Execution | None = None,
    ) -> None:
        log.error("job %s failed: %s", job.id, exc_string)
        super().handle_job_failure(job, queue, started_job_registry, "grading_failed", execution)

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        self.asked_to_stop = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # RQ's is not annotated


def main() -> None:
    """Grade until told to stop."""
    settings = Settings.from_env(os.environ)
    _with_hash_seed(settings)
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", stream=sys.stderr)
    signal.signal(signal.SIGTERM, _leave)
    station = Station.of(settings)
    usable = []
    for fault in station.catalogue.faults:
        log.error("left out: %s", fault.sentence)
    for drill in station.catalogue.drills.values():
        if problem := trial(drill):
            log.error("left out: %s: %s", drill.folder, problem)
        else:
            usable.append(drill)
    open_hall(usable, lambda hall: _serve(settings, station, hall))


def _serve(settings: Settings, station: Station, hall: Hall) -> None:
    station.hall = hall
    drills = [drill for drill in station.catalogue.drills.values() if hall.desk(drill)]
    _await_keeper(station)
    limits, problems = calibrated(drills, station.keeper, hall)
    for sentence in problems.values():
        log.error("not calibrated: %s", sentence)
    for drill in drills:
        if drill.slug in limits:
            station.cpu_s[drill.slug, drill.revision] = limits[drill.slug]
            log.info("%s %s: %.1f s of CPU time", drill.slug, drill.revision, limits[drill.slug])
    _station[:] = [station]
    while not _work(settings):
        time.sleep(AGAIN_S)


def _await_keeper(station: Station) -> None:
    while True:
        try:
            station.keeper.status()
            return
        except SandboxError as error:
            log.warning("waiting for the keeper: %s", error)
            time.sleep(AGAIN_S)


def _work(settings: Settings) -> bool:
    """Work until asked to stop (True) or until Redis goes away (False)."""
    redis = Redis.from_url(settings.redis_url, socket_timeout=None)
    worker = None
    try:
        worker = Grader(settings.queues, connection=redis, serializer="json", default_result_ttl=RESULT_TTL_S)
        worker.work(logging_level="WARNING")
        return worker.asked_to_stop
    except RedisError as error:
        log.warning("waiting for Redis: %s", type(error).__name__)
        return worker is not None and worker.asked_to_stop
    finally:
        signal.signal(signal.SIGTERM, _leave)  # RQ's own would speak to a worker that is gone
        redis.close()


def _with_hash_seed(settings: Settings) -> None:
    """Begin again with a fixed hash seed: the order of a set of strings must not change a test's draws. It is made of
    the host's key, so that nobody can prepare strings that collide."""
    wanted = str(int.from_bytes(hashlib.blake2b(settings.secret("seed_key"), person=b"hash").digest()[:4], "big"))
    if os.environ.get("PYTHONHASHSEED") != wanted:
        os.environ["PYTHONHASHSEED"] = wanted
        os.execv(sys.executable, [sys.executable, "-m", "judge.worker"])


def _leave(_signum: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
