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
from sqlalchemy.orm import undefer

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
MOST_AT_ONCE = 2_000
MOST_SENT_AT_ONCE = 50

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
        sent = self._sent()
        found = self.office.belt.whereabouts([(one.submission, one.number) for one in sent])
        places = dict(zip(sent, found, strict=True))
        for attempt in self._lost(places):
            verdicts.settle(self.office, attempt)
        self._taken = {attempt for attempt, where in places.items() if where is Whereabouts.TAKEN}

    def send_due(self) -> None:
        """Send attempts that wait for their time, or that somebody died before sending; finish what was cancelled."""
        for row in self._due():
            if row.cancel_wanted:
                verdicts.cancel(self.office, row.id)
            else:
                verdicts.send(self.office, row)

    def _lost(self, places: dict[Attempt, Whereabouts]) -> list[Attempt]:
        """Ended, or taken off its queue for two sweeps on end without a sign of life."""
        return [
            attempt
            for attempt, where in places.items()
            if where is Whereabouts.ENDED or (where is Whereabouts.TAKEN and attempt in self._taken)
        ]

    def _sent(self) -> list[Attempt]:
        """The open attempts that were sent long enough ago."""
        sent = ~SubmissionRow.cases_ready & (SubmissionRow.sent_at < now() - self.grace)
        wanted = select(SubmissionRow.id, SubmissionRow.attempt).where(sent).order_by(SubmissionRow.created_at)
        with self.office.store.reading() as session:
            return [Attempt(*one) for one in session.execute(wanted.limit(MOST_AT_ONCE))]

    def _due(self) -> list[SubmissionRow]:
        """The unfinished submissions that wait for being sent, or for being written down as cancelled."""
        unsent = SubmissionRow.sent_at.is_(None) & (SubmissionRow.due_at <= now())
        open_still = ~SubmissionRow.cases_ready & (SubmissionRow.state != "finished")
        wanted = select(SubmissionRow).where(open_still, unsent | SubmissionRow.cancel_wanted)
        wanted = wanted.options(undefer(SubmissionRow.source)).order_by(SubmissionRow.created_at)
        with self.office.store.reading() as session:
            return list(session.scalars(wanted.limit(MOST_SENT_AT_ONCE)))
