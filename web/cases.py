"""What belongs to a submission: its report, which groups have a sealed case, which of these its owner has opened."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from web.people import User
from web.refused import Refused
from web.shapes import Found, case_state
from web.store.models import ReportRow, RevealRow, SealedCaseRow, SubmissionRow


def found(session: Session, user: User, rows: Sequence[SubmissionRow]) -> list[Found]:
    """Each row with what belongs to it, in three queries however many they are."""
    ids = [row.id for row in rows]
    reports = {r.submission_id: r for r in session.scalars(select(ReportRow).where(ReportRow.submission_id.in_(ids)))}
    sealed = _by_submission(session, SealedCaseRow, ids)
    opened = _by_submission(session, RevealRow, ids, user)
    return [
        Found(
            row=row,
            report=json.loads(reports[row.id].document) if row.id in reports else {},
            sealed=sealed.get(row.id, frozenset()),
            opened=opened.get(row.id, frozenset()),
        )
        for row in rows
    ]


def state(found: Found, group: str) -> str:
    """`open` or `sealed`; a case that is not there, or not yet, is a refusal that says so."""
    groups: Sequence[dict[str, Any]] = found.report.get("groups", ())
    result = next((one for one in groups if one["key"] == group), {})
    there = case_state(result, found)
    if there == "pending":
        raise Refused(409, "case_pending", "Not there yet", "The failing case is still being made small.")
    if there == "none":
        raise Refused(404, "no_such_case", "No failing case", "This group has no failing case.")
    return there


def public(found: Found, group: str) -> dict[str, Any] | None:
    """The case of a visible test, which was never sealed."""
    return next((case for case in found.report.get("visible_cases", ()) if case["group"] == group), None)


def sealed(session: Session, submission_id: str, group: str) -> bytes:
    """The bytes of a sealed case."""
    return session.get_one(SealedCaseRow, (submission_id, group)).sealed


def _by_submission(
    session: Session, table: type[SealedCaseRow | RevealRow], ids: Sequence[str], user: User | None = None
) -> dict[str, set[str]]:
    wanted = select(table.submission_id, table.group_key).where(table.submission_id.in_(ids))
    if user is not None:
        wanted = wanted.where(RevealRow.user_id == user.id)
    groups: dict[str, set[str]] = {}
    for submission_id, group in session.execute(wanted):
        groups.setdefault(submission_id, set()).add(group)
    return groups
