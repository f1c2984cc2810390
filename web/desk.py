"""The desk: everything that a user can ask for. Pages and API both come here, so they cannot differ.

Whoever asks gets what is theirs; what is somebody else's does not exist for them. A refusal is raised as `Refused`.
"""

import secrets
import string
from typing import Any

import structlog
from redis.exceptions import RedisError
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from judge import seal
from judge.drill import Drill
from judge.verdict import Verdict
from web import cases, live, reveals, shapes, verdicts
from web.intake import ID, SLUG, Entry, checked_key, checked_kind, checked_source
from web.office import office
from web.people import User, now
from web.refused import Refused as Refused  # pages and API catch it by this name
from web.store.models import SubmissionRow

MOST_LISTED = 100
ALPHABET = string.ascii_lowercase + string.digits

log = structlog.get_logger()


def drills(user: User) -> list[dict[str, Any]]:
    """The catalogue, with how far this user has come."""
    shelf = office().shelf.catalogue().drills
    with office().store.reading() as session:
        verdicts_of = _verdicts(session, user)
    return [shapes.summary(drill, shapes.status_of(verdicts_of.get(drill.slug, set()))) for drill in shelf.values()]


def drill(user: User, slug: str) -> dict[str, Any]:
    """One drill whole."""
    found = _drill(slug)
    with office().store.reading() as session:
        status = shapes.status_of(_verdicts(session, user, slug).get(slug, set()))
    return shapes.whole(found, status, office().shelf)


def bundle(user: User, slug: str) -> dict[str, Any]:
    """The files of a workspace for this drill."""
    found = _drill(slug)
    return {"slug": found.slug, "revision": found.revision, "title": found.title, "files": found.bundle()}


def submit(  # noqa: PLR0913  the fields of one form
    user: User,
    slug: str,
    source: bytes | str,
    kind: str,
    idempotency_key: str | None = None,
    revision: str | None = None,
) -> dict[str, Any]:
    """Take a submission. From here on it is not lost: the row is committed before anything else happens."""
    entry = Entry(slug, checked_kind(kind), checked_source(source), checked_key(idempotency_key), revision)
    found = _drill(slug)
    if revision not in (None, found.revision):
        raise Refused(409, "drill_outdated", "The drill has changed", "Fetch it again, then send your solution.")
    try:
        with office().store.writing() as session:
            row, fresh = _row_for(session, user, entry, found)
    except IntegrityError:  # the same key a moment ago, from elsewhere: that one counts
        with office().store.writing() as session:
            row, fresh = _row_for(session, user, entry, found)
    if fresh:
        _wake_a_grader(row)
    return submission(user, row.id)


def submission(user: User, submission_id: str) -> dict[str, Any]:
    """One submission of this user's, as it stands."""
    with office().store.reading() as session:
        found = cases.found(session, user, [_own(session, user, submission_id)])[0]
    return shapes.submission(found, _progress(found.row))


def history(user: User, slug: str | None = None, limit: int = 50) -> list[dict[str, Any]]:
    """This user's submissions, newest first."""
    mine = select(SubmissionRow).where(SubmissionRow.user_id == user.id)
    if slug is not None:
        mine = mine.where(SubmissionRow.drill == _slug(slug))
    newest = mine.order_by(SubmissionRow.created_at.desc(), SubmissionRow.id).limit(max(1, min(limit, MOST_LISTED)))
    with office().store.reading() as session:
        listed = cases.found(session, user, list(session.scalars(newest)))
    return [shapes.submission(found, _progress(found.row)) for found in listed]


def source(user: User, submission_id: str) -> str:
    """What was sent in."""
    with office().store.reading() as session:
        return _own(session, user, submission_id).source


def cancel(user: User, submission_id: str) -> dict[str, Any]:
    """Ask for a grading to stop. The recorder writes it down; a verdict that comes first stands."""
    with office().store.writing() as session:
        row = _own(session, user, submission_id)
        wanted = row.state != "finished"
        if wanted:
            session.execute(update(SubmissionRow).where(SubmissionRow.id == row.id).values(cancel_wanted=True))
    if wanted:
        try:
            office().belt.cancel(row.id, row.attempt)
        except RedisError as error:  # the sweep finds the wish in the database
            log.warning("a cancel waits for Redis", submission=row.id, error=type(error).__name__)
    return submission(user, submission_id)


def case(user: User, submission_id: str, group: str) -> dict[str, Any]:
    """The failing case of one group, if it is public or this user has opened it."""
    with office().store.reading() as session:
        found = cases.found(session, user, [_own(session, user, submission_id)])[0]
        state = cases.state(found, group)
        if state == "sealed":
            raise Refused(402, "locked", "Unlock needed", "This failing case has not been opened.")
        return cases.public(found, group) or _open(session, submission_id, group)


def reveal(user: User, submission_id: str, group: str) -> dict[str, Any]:
    """Open the failing case of one group for good."""
    local = office().settings.local
    with office().store.writing() as session:
        found = cases.found(session, user, [_own(session, user, submission_id)])[0]
        if cases.state(found, group) == "sealed":
            reveals.remember(session, user, submission_id, group, local=local)
        return cases.public(found, group) or _open(session, submission_id, group)


def me(user: User) -> dict[str, Any]:
    """Who is asking, and how many free reveals they have left (None: they are not counted)."""
    with office().store.reading() as session:
        remaining = reveals.left(session, user, local=office().settings.local)
    return {"id": user.id, "name": user.name, "owner": user.owner, "reveals_left": remaining}


def _drill(slug: str) -> Drill:
    found = office().shelf.drill(slug)
    if found is None:
        raise Refused(404, "no_such_drill", "No such drill", "The catalogue lists what there is.")
    return found


def _slug(slug: str) -> str:
    if not SLUG.fullmatch(slug):
        raise Refused(404, "no_such_drill", "No such drill", "The catalogue lists what there is.")
    return slug


def _own(session: Session, user: User, submission_id: str) -> SubmissionRow:
    row = session.get(SubmissionRow, submission_id) if ID.fullmatch(submission_id) else None
    if row is None or row.user_id != user.id:
        raise Refused(404, "no_such_submission", "No such submission", "Nothing of yours has this id.")
    return row


def _row_for(session: Session, user: User, entry: Entry, found: Drill) -> tuple[SubmissionRow, bool]:
    """The row of this entry, and whether it is new."""
    if entry.key is not None:
        same_key = (SubmissionRow.user_id == user.id) & (SubmissionRow.idempotency_key == entry.key)
        if (before := session.scalar(select(SubmissionRow).where(same_key))) is not None:
            if before.body_sha256 != entry.digest:
                raise Refused(422, "idempotency_conflict", "Key used before", "This key stands for another submission.")
            return before, False
    row = _new_row(user, entry, found)
    session.add(row)
    session.flush()
    return row, True


def _new_row(user: User, entry: Entry, found: Drill) -> SubmissionRow:
    moment = now()
    return SubmissionRow(
        id="s_" + "".join(secrets.choice(ALPHABET) for _ in range(16)),
        user_id=user.id,
        drill=found.slug,
        title=found.title,
        revision=found.revision,
        kind=entry.kind.value,
        source=entry.source,
        idempotency_key=entry.key,
        body_sha256=entry.digest,
        created_at=moment,
        state="queued",
        attempt=1,
        due_at=moment,
        cases_ready=False,
        cancel_wanted=False,
    )


def _wake_a_grader(row: SubmissionRow) -> None:
    try:
        verdicts.send(office(), row)
    except RedisError as error:  # the sweep sends it as soon as Redis answers
        log.warning("a submission waits for Redis", submission=row.id, error=type(error).__name__)


def _progress(row: SubmissionRow) -> live.Progress:
    if row.state == "finished":
        return live.Progress()
    return live.progress(office().redis, row.id, row.attempt)


def _verdicts(session: Session, user: User, slug: str | None = None) -> dict[str, set[Verdict | None]]:
    """The verdicts of what this user submitted, by drill; a run of the visible tests alone solves nothing."""
    wanted = select(SubmissionRow.drill, SubmissionRow.kind, SubmissionRow.verdict).distinct()
    wanted = wanted.where(SubmissionRow.user_id == user.id)
    if slug is not None:
        wanted = wanted.where(SubmissionRow.drill == slug)
    by_drill: dict[str, set[Verdict | None]] = {}
    for name, kind, verdict in session.execute(wanted):
        by_drill.setdefault(name, set()).add(verdict if kind == "submit" else None)
    return by_drill


def _open(session: Session, submission_id: str, group: str) -> dict[str, Any]:
    """The one place where a sealed case is opened."""
    sealed = cases.sealed(session, submission_id, group)
    return seal.open_sealed(sealed, office().settings.secret("case_private_key")).to_json()
