"""The belts between the desk and the graders: the only place that knows RQ's queues.

A job is a wake-up, never the only copy of anything. Each attempt at a submission has a job of its own, named after
both, so that sending twice is sending once; and behind it waits a `settle` job, which runs when the grading has ended
in whatever way. (RQ takes letters, digits, `_` and `-` in a job's name, hence the dashes.)
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from redis import Redis
from rq import Queue
from rq.command import send_stop_job_command
from rq.exceptions import DeserializationError, DuplicateJobError, InvalidJobOperation, NoSuchJobError
from rq.job import Dependency, Job
from rq.utils import utcparse

from judge.submission import Submission

QUEUES = {"run": "grade-run", "submit": "grade-submit"}
RECORD = "record"
RECORD_REPORT = "web.recorder.record_report"
GRADE = "judge.worker.grade_submission"
SETTLE = "web.recorder.settle"
RECORD_CANCEL = "web.recorder.record_cancel"

# A far backstop only: the grader's own clocks end a grading long before.
GRADE_TIMEOUT_S = 300
KEPT_S = 3_600
OVER = frozenset({"finished", "failed", "stopped", "canceled"})
# A grader that has just taken a job may need this long to its first sign of life.
START_GRACE = timedelta(seconds=15)


class Whereabouts(StrEnum):
    """Where the job of one attempt is, as far as Redis knows."""

    WAITING = "waiting"
    RUNNING = "running"
    TAKEN = "taken"  # off the queue, not yet begun: a moment in a grader's life, or a grader that died there
    ENDED = "ended"  # finished, failed, stopped, or nothing is known of it


def job_id(submission: str, attempt: int) -> str:
    """The name of the grade job of one attempt."""
    return f"grade-{submission}-{attempt}"


class Belt:
    """Sends submissions to graders and asks what became of them."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    def send(self, submission: Submission) -> None:
        """Put one attempt on the queue of its kind; a second time changes nothing."""
        name = job_id(submission.id, submission.attempt)
        with suppress(DuplicateJobError):
            grade = self._queue(QUEUES[submission.kind]).enqueue_call(
                GRADE,
                args=[submission.to_json()],
                job_id=name,
                unique=True,
                timeout=GRADE_TIMEOUT_S,
                result_ttl=KEPT_S,
                failure_ttl=KEPT_S,
                description=name,  # RQ's own description would print the whole source
            )
            after = Dependency(grade, allow_failure=True)
            self._record(SETTLE, [submission.id, submission.attempt], f"settle-{name}", after)

    def cancel(self, submission: str, attempt: int) -> None:
        """Take one attempt off the queue or stop its grader, and have the recorder write it down."""
        name = job_id(submission, attempt)
        with suppress(NoSuchJobError, InvalidJobOperation, DeserializationError):
            job = self._fetch(name)
            if job.is_started:
                send_stop_job_command(self.redis, name, serializer="json")
            else:
                job.cancel()
        self._record(RECORD_CANCEL, [submission], f"cancel-{name}")

    def whereabouts(self, attempts: Sequence[tuple[str, int]]) -> list[Whereabouts]:
        """What Redis knows of each (submission, attempt), asked in one go."""
        waiting = {name for queue in QUEUES.values() for name in self._queue(queue).get_job_ids()}
        pipe = self.redis.pipeline(transaction=False)
        for submission, attempt in attempts:
            pipe.hmget(Job.key_for(job_id(submission, attempt)), "status", "started_at")
            pipe.exists(f"attempt:{submission}:{attempt}")
        answers = pipe.execute()
        return [
            _whereabouts(job_id(*one) in waiting, bool(beats), *(_text(field) for field in fields))
            for one, fields, beats in zip(attempts, answers[::2], answers[1::2], strict=True)
        ]

    def gone(self, submission: str, attempt: int) -> bool:
        """Whether this attempt neither waits nor runs any more."""
        return self.whereabouts([(submission, attempt)]) == [Whereabouts.ENDED]

    def answer(self, submission: str, attempt: int) -> Any:
        """What the grade job returned: the signed report once more, or None if it returned nothing."""
        try:
            return self._fetch(job_id(submission, attempt)).return_value()
        except (NoSuchJobError, DeserializationError):
            return None

    def _fetch(self, name: str) -> Job:
        return Job.fetch(name, connection=self.redis, serializer="json")

    def _queue(self, name: str) -> Queue:
        return Queue(name, connection=self.redis, serializer="json")

    def _record(self, function: str, args: list[Any], name: str, after: Dependency | None = None) -> None:
        self._queue(RECORD).enqueue_call(
            function, args=args, job_id=name, depends_on=after, description=name, result_ttl=60, failure_ttl=KEPT_S
        )


def _whereabouts(waits: bool, beats: bool, status: str, started_at: str) -> Whereabouts:  # noqa: FBT001  one caller
    if status in OVER:  # whatever a heartbeat that has not yet faded says
        return Whereabouts.ENDED
    if beats or (status == "started" and _just_now(started_at)):
        return Whereabouts.RUNNING
    if waits and status:
        return Whereabouts.WAITING
    return Whereabouts.TAKEN if status == "queued" else Whereabouts.ENDED


def _just_now(started_at: str) -> bool:
    return bool(started_at) and datetime.now(UTC) - utcparse(started_at) < START_GRACE


def _text(value: bytes | None) -> str:
    return value.decode() if value else ""
