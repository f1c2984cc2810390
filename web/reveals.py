"""Who may open a failing case for nothing, and how that is remembered. What was opened once stays open."""

from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from web.people import User, now
from web.refused import Refused
from web.store.models import RevealRow, UserRow

FREE = 3


class Way(StrEnum):
    """By what right a case was opened."""

    OWNER = "owner"  # the machine is theirs
    FREE = "free"


def way_for(user: User, used: int, *, local: bool) -> Way | None:
    """By what right this user may open one more case, after `used` free ones; None: by none."""
    if local and user.owner:
        return Way.OWNER
    return Way.FREE if used < FREE else None


def left(session: Session, user: User, *, local: bool) -> int | None:
    """How many free reveals remain; None where they are not counted."""
    if local and user.owner:
        return None
    return max(0, FREE - _used(session, user))


def remember(session: Session, user: User, submission: str, group: str, *, local: bool) -> None:
    """Open one case for this user, or refuse. Opening it again costs nothing."""
    # Two at once must not both be the third: the user's row is held while the count is taken.
    session.scalar(select(UserRow.id).where(UserRow.id == user.id).with_for_update())
    if session.get(RevealRow, (user.id, submission, group)) is not None:
        return
    way = way_for(user, _used(session, user), local=local)
    if way is None:
        raise Refused(402, "locked", "Unlock needed", f"You have used your {FREE} free reveals.")
    opened = {"user_id": user.id, "submission_id": submission, "group_key": group}
    session.add(RevealRow(**opened, way=way, created_at=now()))


def _used(session: Session, user: User) -> int:
    free = select(func.count()).where(RevealRow.user_id == user.id, RevealRow.way == Way.FREE)
    return session.scalar(free) or 0
