"""The sweep: what is open in the database and nowhere on a belt is found and set going again.

Only one recorder sweeps at a time, by a lock in the database. That spares work; it is not what keeps verdicts right,
for which `web.ledger` is enough.
"""

import threading
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from redis.exceptions import RedisError
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from web import ledger, verdicts
from web.ledger import Attempt
from web.office import Office
from web.people import now
from web.queue import Whereabouts
from web.store.models import SubmissionRow

LOCK = "sweep"
TICK_S = 1.0
SWEEP_EVERY = timedelta(seconds=10)
LOCK_FOR = timedelta(seconds=30)
MOST_AT_ONCE = 500

log = structlog.get_logger()


@dataclass(slots=True)
class Sweep:
    """One recorder's sweep. `grace`: how long after being sent an attempt is left alone."""

    office: Office
    holder: str
    grace: timedelta = timedelta(seconds=10)
    stop: threading.Event = field(default_factory=threading.Event)
    _taken: set[Attempt] = field(default_factory=set, init=False)

    def run(self) -> None:
        """Sweep until stopped. A database or a Redis that is away is waited for."""
        mine, next_sweep = False, now()
        while not self.stop.wait(TICK_S):
            try:
                if now() >= next_sweep:
                    next_sweep = now() + SWEEP_EVERY
                    if mine := self.hold():
                        self.once()
                elif mine:
                    self.send_due()
            except (RedisError, SQLAlchemyError) as error:
                log.warning("the sweep waits", error=type(error).__name__)

    def hold(self) -> bool:
        """Take or keep the right to sweep."""
        with self.office.store.writing() as session:
            return ledger.hold(session, LOCK, self.holder, now() + LOCK_FOR, now())

    def once(self) -> None:
        """Send what is due, and settle every attempt whose job is nowhere."""
        self.send_due()
        before = now() - self.grace
        sent = [Attempt(row.id, row.attempt) for row in self._open() if row.sent_at and row.sent_at < before]
        found = self.office.belt.whereabouts([(one.submission, one.number) for one in sent])
        places = dict(zip(sent, found, strict=True))
        for attempt in self._lost(places):
            verdicts.settle(self.office, attempt)
        self._taken = {attempt for attempt, where in places.items() if where is Whereabouts.TAKEN}

    def send_due(self) -> None:
        """Send attempts that wait for their time, or that somebody died before sending; finish what was cancelled."""
        for row in self._open():
            if row.state != "finished" and row.cancel_wanted:
                verdicts.cancel(self.office, row.id)
            elif row.state != "finished" and row.sent_at is None and row.due_at <= now():
                verdicts.send(self.office, row)

    def _lost(self, places: dict[Attempt, Whereabouts]) -> list[Attempt]:
        """Ended, or taken off its queue for two sweeps on end without a sign of life."""
        return [
            attempt
            for attempt, where in places.items()
            if where is Whereabouts.ENDED or (where is Whereabouts.TAKEN and attempt in self._taken)
        ]

    def _open(self) -> list[SubmissionRow]:
        with self.office.store.reading() as session:
            wanted = select(SubmissionRow).where(~SubmissionRow.cases_ready).order_by(SubmissionRow.created_at)
            return list(session.scalars(wanted.limit(MOST_AT_ONCE)))
