"""Who asks: users, and the bearer tokens that stand for them. A token is shown once; only its hash is kept."""

import hashlib
import re
import secrets
import string
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from web.store.engine import Store
from web.store.models import TokenRow, UserRow

ALPHABET = string.digits + string.ascii_letters
PREFIX = "pfl_"
SECRET_CHARS = 43  # 256 bits
CHECK_CHARS = 6
SHAPE = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{SECRET_CHARS + CHECK_CHARS}}}")


@dataclass(frozen=True, slots=True)
class User:
    """Someone who may submit; `owner` is the one whose machine this is, or who runs the service."""

    id: int
    name: str
    owner: bool


def now() -> datetime:
    """The moment, in UTC."""
    return datetime.now(UTC)


def owner(store: Store, name: str) -> User:
    """The owner of a machine in local mode, made when first needed."""
    with store.writing() as session:
        row = session.scalar(select(UserRow).where(UserRow.owner).order_by(UserRow.id))
        if row is None:
            row = UserRow(name=name, owner=True, created_at=now(), session_epoch=0)
            session.add(row)
            session.flush()
        return user_of(row)


def user_of(row: UserRow) -> User:
    """The plain facts of a row."""
    return User(row.id, row.name, row.owner)


def give_token(store: Store, user: User, label: str) -> str:
    """A new token for this user. It cannot be shown again."""
    token = new_token()
    with store.writing() as session:
        session.add(TokenRow(user_id=user.id, sha256=digest(token), label=label[:80], created_at=now()))
    return token


def owner_token(database_url: str, owner_name: str, label: str) -> str:
    """A token for the owner, for a process that holds nothing but the address of an up-to-date database."""
    store = Store(database_url)
    try:
        return give_token(store, owner(store, owner_name), label)
    finally:
        store.close()


def user_of_token(session: Session, token: str) -> User | None:
    """Whose token this is. A malformed one costs no look into the database."""
    if not well_formed(token):
        return None
    row = session.scalar(
        select(UserRow)
        .join(TokenRow, TokenRow.user_id == UserRow.id)
        .where(TokenRow.sha256 == digest(token), TokenRow.revoked_at.is_(None))
    )
    return None if row is None else user_of(row)


def end_sessions(store: Store, user: User) -> None:
    """Sign this user out of every browser."""
    with store.writing() as session:
        raised = {"session_epoch": UserRow.session_epoch + 1}
        session.execute(update(UserRow).where(UserRow.id == user.id).values(raised))


def new_token(choice: Callable[[str], str] = secrets.choice) -> str:
    """`pfl_`, a secret, and a check that tells a mistyped token from a revoked one."""
    secret = "".join(choice(ALPHABET) for _ in range(SECRET_CHARS))
    return f"{PREFIX}{secret}{_check(secret)}"


def well_formed(token: str) -> bool:
    """Whether this can be a token at all."""
    body = token.removeprefix(PREFIX)
    return bool(SHAPE.fullmatch(token)) and _check(body[:SECRET_CHARS]) == body[SECRET_CHARS:]


def digest(token: str) -> str:
    """What is kept of a token. It is random in full, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def _check(secret: str) -> str:
    number, letters = zlib.crc32(secret.encode()), ""
    for _ in range(CHECK_CHARS):
        number, rest = divmod(number, len(ALPHABET))
        letters += ALPHABET[rest]
    return letters
