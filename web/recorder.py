"""The recorder: the only writer of verdicts, and the one who finds what was lost.

Two things run in its process. A worker takes jobs off the `record` belt: reports by graders, and a `settle` for every
grading that ended somehow. A sweep walks the open submissions in the database, sends what was never sent, and settles
those whose job is nowhere. Either alone would reach the right end; the worker is quick, the sweep is sure.
"""

import os
import signal
import socket
import sys
import threading
import time
from types import FrameType
from typing import Any

import structlog
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker
from rq.exceptions import DeserializationError
from rq.job import Job

from web import verdicts
from web.broker import working
from web.config import Settings
from web.ledger import Attempt
from web.office import office, open_office, settle_in
from web.queue import RECORD, RECORD_CANCEL, RECORD_REPORT, SETTLE
from web.sweep import Sweep

ALLOWED = frozenset({RECORD_REPORT, SETTLE, RECORD_CANCEL})
AGAIN_S = 1.0

log = structlog.get_logger()


def record_report(document: Any) -> None:
    """Job: a grader reports, first with the verdict, then with the cases."""
    verdicts.take(office(), document)


def settle(submission: str, attempt: int) -> None:
    """Job: a grade job has ended, in whatever way."""
    if office().belt.gone(submission, attempt):
        verdicts.settle(office(), Attempt(submission, attempt))


def record_cancel(submission: str) -> None:
    """Job: a user stopped a submission."""
    verdicts.cancel(office(), submission)


class Recorder(SimpleWorker):
    """Runs the three jobs above in this process, and refuses whatever else lies on the belt."""

    asked_to_stop = False

    def execute_job(self, job: Job, queue: Queue) -> None:
        """A job is data from Redis: only names on the list are run, and none with callbacks, which would be run too."""
        if _is_ours(job):
            super().execute_job(job, queue)
        else:
            log.error("a job that is none of ours was dropped", job=job.id)
            self.connection.delete(job.key)

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Remember that it was asked: RQ's loop also ends by itself when Redis goes away."""
        self.asked_to_stop = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # RQ's is not annotated


def _is_ours(job: Job) -> bool:
    try:
        callbacks = (job._success_callback_name, job._failure_callback_name, job._stopped_callback_name)
        return job.func_name in ALLOWED and job.instance is None and not any(callbacks)
    except DeserializationError:
        return False


def main() -> None:
    """Record until told to stop; outlives a Redis that goes away for a while."""
    signal.signal(signal.SIGTERM, _leave)
    settle_in(open_office(Settings()))
    sweep = Sweep(office(), f"{socket.gethostname()}:{os.getpid()}")
    sweeper = threading.Thread(target=sweep.run, name="sweep", daemon=True)
    sweeper.start()
    try:
        while not _work(working(office().settings.redis_url)):
            time.sleep(AGAIN_S)
    finally:
        sweep.stop.set()
        sweeper.join(5)
        office().close()


def _work(redis: Redis) -> bool:
    """Work until asked to stop (True) or until Redis goes away (False)."""
    worker = None
    try:
        worker = Recorder([RECORD], connection=redis, serializer="json")
        worker.work(logging_level="WARNING")
        return worker.asked_to_stop
    except RedisError as error:
        log.warning("the recorder waits for Redis", error=type(error).__name__)
        return worker is not None and worker.asked_to_stop
    finally:
        signal.signal(signal.SIGTERM, _leave)  # RQ's own would speak to a worker that is gone
        redis.close()


def _leave(_signum: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
