"""How a grading's end reaches the database: reports taken, attempts settled, watchers told. Used by the recorder only.

Whatever is told to watchers is told after the commit, and whatever is done here may be done twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy.orm import Session

from judge import seal
from judge.report import PublicReport, SealedCase
from judge.submission import Kind, Submission
from judge.verdict import Verdict
from web import ledger, live
from web.ledger import Attempt
from web.office import Office
from web.people import now
from web.store.models import SubmissionRow

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Signed:
    """A grader's report whose MAC was ours."""

    attempt: Attempt
    report: PublicReport
    cases: tuple[SealedCase, ...]
    final: bool


def take(office: Office, document: Any) -> bool:
    """Record what a grader reports; whether anything changed by it."""
    if not isinstance(document, Mapping) or not seal.is_signed(dict(document), office.settings.secret("report_key")):
        log.error("a report without our signature was refused", claims=str(document)[:60])
        return False
    signed = _signed(document)
    if signed.report.verdict is Verdict.JUDGE_ERROR:
        return fail(office, signed.attempt)
    with office.store.writing() as session:
        concluded = ledger.conclude(session, signed.attempt, signed.report, now())
        attached = signed.final and ledger.attach(session, signed.attempt, signed.report, signed.cases)
    if concluded:
        tell_verdict(office, signed.attempt, signed.report.verdict, signed.report.message)
    if attached:
        live.announce(office.redis, signed.attempt.submission, "done", {})
    return concluded or attached


def settle(office: Office, attempt: Attempt) -> None:
    """The job of this attempt has ended: whatever of it did not arrive will not arrive any more."""
    document = office.belt.answer(attempt.submission, attempt.number)
    if document is not None:  # its own report jobs may have been lost
        take(office, document)
    with office.store.writing() as session:
        row = session.get(SubmissionRow, attempt.submission)
        unfinished = row is not None and row.attempt == attempt.number and row.state != "finished"
        closed = ledger.close(session, attempt)
    if closed:
        live.announce(office.redis, attempt.submission, "done", {})
    if unfinished:
        fail(office, attempt)


def fail(office: Office, attempt: Attempt) -> bool:
    """This attempt brought no verdict: try again, or, after the last one, say that the judge failed."""
    with office.store.writing() as session:
        ended = _cancelled(session, attempt)
        retried = not ended and ledger.retry(session, attempt, now())
        gave_up = not ended and attempt.number >= ledger.ATTEMPTS and ledger.give_up(session, attempt, now())
    if ended:
        tell_verdict(office, attempt, Verdict.CANCELLED, None)
    if retried:
        log.warning("an attempt brought no verdict", submission=attempt.submission, attempt=attempt.number)
        live.announce(office.redis, attempt.submission, "state", {"state": "queued", "attempt": attempt.number + 1})
    if gave_up:
        log.error("judge error", submission=attempt.submission, attempts=attempt.number)  # the bell
        tell_verdict(office, attempt, Verdict.JUDGE_ERROR, ledger.GAVE_UP)
    return ended or retried or gave_up


def cancel(office: Office, submission: str) -> bool:
    """Write down that a submission was stopped, if its user asked for that and no verdict came first."""
    with office.store.writing() as session:
        row = session.get(SubmissionRow, submission)
        attempt = Attempt(submission, row.attempt if row else 0)
        cancelled = _cancelled(session, attempt)
    if cancelled:
        tell_verdict(office, attempt, Verdict.CANCELLED, None)
    return cancelled


def send(office: Office, row: SubmissionRow) -> None:
    """Put the present attempt of a submission on its queue, and note that it is there."""
    office.belt.send(
        Submission(row.id, row.attempt, row.drill, row.revision, row.source, Kind(row.kind)),
    )
    with office.store.writing() as session:
        ledger.mark_sent(session, Attempt(row.id, row.attempt), now())


def tell_verdict(office: Office, attempt: Attempt, verdict: Verdict, message: str | None) -> None:
    """Tell watchers a committed verdict; where no cases will follow, also that this was all."""
    live.announce(office.redis, attempt.submission, "verdict", {"verdict": verdict.value, "message": message})
    if verdict in (Verdict.CANCELLED, Verdict.JUDGE_ERROR):
        live.announce(office.redis, attempt.submission, "done", {})


def _cancelled(session: Session, attempt: Attempt) -> bool:
    row = session.get(SubmissionRow, attempt.submission)
    return row is not None and row.cancel_wanted and ledger.cancel(session, attempt, now())


def _signed(document: Mapping[str, Any]) -> Signed:
    return Signed(
        attempt=Attempt(document["id"], document["attempt"]),
        report=PublicReport.from_json(document["report"]),
        cases=tuple(SealedCase(case["group"], seal.from_text(case["sealed"])) for case in document["cases"]),
        final=document["final"] is True,
    )
