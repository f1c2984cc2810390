"""What a grading tells the others, and where: heartbeat, live events, the signed report. All of it over Redis.

Events and heartbeat are hearsay and may be lost. The report is told twice, by a job for the recorder as soon as it is
there and by the grade job's own result, and either of them is enough.
"""

import json
import logging
import time
from collections.abc import Sequence
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue

from judge.report import Case, PublicReport
from judge.seal import seal, signed, to_text
from judge.submission import Submission

RECORD_QUEUE = "record"
RECORD_REPORT = "web.recorder.record_report"
BEAT_S = 3.0
BEAT_LASTS_S = 15
EVENTS_KEPT = 500
EVENTS_LAST_S = 3600

log = logging.getLogger("grader")


class Telling:
    """One attempt at one submission, as the others hear of it."""

    def __init__(self, redis: Redis, submission: Submission, report_key: bytes, case_key: bytes) -> None:
        self._redis = redis
        self._submission = submission
        self._report_key = report_key
        self._case_key = case_key
        self._heartbeat = f"attempt:{submission.id}:{submission.attempt}"
        self._events = f"events:{submission.id}"
        self._beaten = float("-inf")

    def beat(self) -> None:
        """Still alive; cheap to call often."""
        if time.monotonic() - self._beaten < BEAT_S:
            return
        self._beaten = time.monotonic()
        try:
            self._redis.set(self._heartbeat, b"1", ex=BEAT_LASTS_S)
        except RedisError as error:
            log.warning("%s: no heartbeat: %s", self._submission.id, type(error).__name__)

    def rest(self) -> None:
        """This attempt is over, in whatever way."""
        try:
            self._redis.delete(self._heartbeat)
        except RedisError as error:
            log.warning("%s: the heartbeat will fade: %s", self._submission.id, type(error).__name__)

    def event(self, name: str, data: dict[str, Any]) -> None:
        pipe = self._redis.pipeline(transaction=False)
        pipe.xadd(self._events, {"event": name, "data": json.dumps(data)}, maxlen=EVENTS_KEPT, approximate=True)
        pipe.expire(self._events, EVENTS_LAST_S)
        try:
            pipe.execute()
        except RedisError as error:
            log.warning("%s: %s was not told: %s", self._submission.id, name, type(error).__name__)

    def report(self, report: PublicReport, cases: Sequence[Case], *, final: bool) -> dict[str, Any]:
        """Send the signed document to the recorder; it is also the answer of the grade job, when it is final."""
        document = signed(
            {
                "id": self._submission.id,
                "attempt": self._submission.attempt,
                "final": final,
                "report": report.to_json(),
                "cases": [{"group": case.group, "sealed": to_text(seal(case, self._case_key))} for case in cases],
            },
            self._report_key,
        )
        queue = Queue(RECORD_QUEUE, connection=self._redis, serializer="json")
        name = f"report-{self._submission.id}-{self._submission.attempt}"
        try:
            queue.enqueue_call(RECORD_REPORT, args=[document], description=name, result_ttl=60)
        except RedisError as error:
            log.error("%s: the report was not sent: %s", self._submission.id, type(error).__name__)
        return document
