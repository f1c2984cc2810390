"""What may happen to a submission's row, each as one conditional change.

Theory of operation. `attempt` is the fence. Every change names the attempt that it speaks for and the state that it
starts from, in the WHERE of a single UPDATE; the database says by its row count whether the change was still right.
So the same report twice, a report of an attempt that was overtaken, or two recorders at once change nothing, and a
submission gets exactly one verdict, which is never changed.

    queued ──conclude──▶ finished (cases to come) ──attach / close──▶ finished, cases_ready
       │ ▲
       └─┘ retry: next attempt, up to ATTEMPTS; then give_up: finished as judge_error
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, CursorResult, delete, or_, update
from sqlalchemy.orm import Session

from judge.report import PublicReport, SealedCase
from judge.seal import canonical
from judge.verdict import Verdict
from web.store.models import LockRow, ReportRow, SealedCaseRow, SubmissionRow

ATTEMPTS = 3
BACK_OFF = {1: timedelta(seconds=1), 2: timedelta(seconds=5)}
GAVE_UP = (
    "The judge failed three times while grading this, so there is no verdict. "
    "The fault is ours, not yours, and it does not count. Please submit again."
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at one submission."""

    submission: str
    number: int


def conclude(session: Session, attempt: Attempt, report: PublicReport, now: datetime) -> bool:
    """Record the verdict, if this attempt is the present one and there is none yet."""
    finished = {"state": "finished", "verdict": report.verdict, "message": report.message, "finished_at": now}
    if not _change(session, attempt, SubmissionRow.state != "finished", finished):
        return False
    session.add(ReportRow(submission_id=attempt.submission, document=_text(report.to_json()), recorded_at=now))
    return True


def attach(session: Session, attempt: Attempt, report: PublicReport, cases: tuple[SealedCase, ...]) -> bool:
    """Add what the second look found to a verdict that stands. No more will come."""
    open_still = (SubmissionRow.state == "finished") & ~SubmissionRow.cases_ready
    same_verdict = SubmissionRow.verdict == report.verdict
    if not _change(session, attempt, open_still & same_verdict, {"cases_ready": True}):
        return False
    document = {"document": _text(report.to_json())}
    session.execute(update(ReportRow).where(ReportRow.submission_id == attempt.submission).values(document))
    session.execute(delete(SealedCaseRow).where(SealedCaseRow.submission_id == attempt.submission))
    session.add_all(SealedCaseRow(submission_id=attempt.submission, group_key=c.group, sealed=c.sealed) for c in cases)
    return True


def close(session: Session, attempt: Attempt) -> bool:
    """No case will come any more: whoever was making them is gone. The verdict stands."""
    open_still = (SubmissionRow.state == "finished") & ~SubmissionRow.cases_ready
    return _change(session, attempt, open_still, {"cases_ready": True})


def retry(session: Session, attempt: Attempt, now: datetime) -> bool:
    """Go on to the next attempt, a little later; it is not sent yet."""
    if attempt.number >= ATTEMPTS:
        return False
    due_at = now + BACK_OFF.get(attempt.number, timedelta())
    ahead = {"attempt": attempt.number + 1, "due_at": due_at, "sent_at": None}
    return _change(session, attempt, SubmissionRow.state != "finished", ahead)


def give_up(session: Session, attempt: Attempt, now: datetime) -> bool:
    """The last attempt failed, too: our fault, and said so."""
    return _end(session, attempt, Verdict.JUDGE_ERROR, GAVE_UP, now)


def cancel(session: Session, attempt: Attempt, now: datetime) -> bool:
    """The user asked to stop, and no verdict came first."""
    return _end(session, attempt, Verdict.CANCELLED, None, now)


def mark_sent(session: Session, attempt: Attempt, now: datetime) -> bool:
    """The job of this attempt is on its queue."""
    return _change(session, attempt, SubmissionRow.sent_at.is_(None), {"sent_at": now})


def hold(session: Session, lock: str, holder: str, until: datetime, now: datetime) -> bool:
    """Take or keep a named lock; its holder of before has it until the time it named, dead or alive."""
    free = or_(LockRow.until < now, LockRow.holder == holder)
    taken = session.execute(update(LockRow).where(LockRow.name == lock, free).values(holder=holder, until=until))
    return isinstance(taken, CursorResult) and taken.rowcount == 1


def _end(session: Session, attempt: Attempt, verdict: Verdict, message: str | None, now: datetime) -> bool:
    ended = {"state": "finished", "verdict": verdict, "message": message, "finished_at": now, "cases_ready": True}
    return _change(session, attempt, SubmissionRow.state != "finished", ended)


def _change(session: Session, attempt: Attempt, state: ColumnElement[bool], values: Mapping[str, Any]) -> bool:
    present = (SubmissionRow.id == attempt.submission) & (SubmissionRow.attempt == attempt.number)
    changed = session.execute(update(SubmissionRow).where(present, state).values(values))
    return isinstance(changed, CursorResult) and changed.rowcount == 1


def _text(document: Mapping[str, Any]) -> str:
    return canonical(document).decode()
