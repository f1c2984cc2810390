"""The tables. Times are UTC and know it; JSON documents are kept as the text that was checked."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from judge.verdict import Verdict

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Instant(TypeDecorator[datetime]):
    """A moment in UTC. SQLite keeps no zone, so it is put back on the way out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The common root, so that constraints have names that a later migration can address."""

    metadata = MetaData(naming_convention=NAMES)


class UserRow(Base):
    """Someone who submits. Raising `session_epoch` ends every browser session."""

    __tablename__ = "user"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    owner: Mapped[bool] = mapped_column(server_default=false())
    created_at: Mapped[datetime] = mapped_column(Instant)
    session_epoch: Mapped[int] = mapped_column(default=0, server_default="0")


class TokenRow(Base):
    """A bearer token. Only its hash is here: a stolen database opens no account."""

    __tablename__ = "api_token"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    sha256: Mapped[str] = mapped_column(String(64), unique=True)
    label: Mapped[str] = mapped_column(String(80))
    created_at: Mapped[datetime] = mapped_column(Instant)
    revoked_at: Mapped[datetime | None] = mapped_column(Instant)


class SubmissionRow(Base):
    """One source sent in, and where its grading stands.

    `attempt` is the fence: a report counts only while it names the current attempt. `sent_at` is when that attempt was
    put on the queue (none: not yet), `due_at` when it may be. `cases_ready` says that no more cases will come.
    """

    __tablename__ = "submission"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        Index("ix_submission_user_id_created_at", "user_id", "created_at"),
        Index("ix_submission_cases_ready", "cases_ready"),
    )
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    drill: Mapped[str] = mapped_column(String(120))
    title: Mapped[str] = mapped_column(String(200))
    revision: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(8))
    source: Mapped[str] = mapped_column(Text, deferred=True)  # up to 256 KiB that most readers do not want
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    body_sha256: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(Instant)
    state: Mapped[str] = mapped_column(String(10))
    attempt: Mapped[int] = mapped_column(default=1)
    due_at: Mapped[datetime] = mapped_column(Instant)
    sent_at: Mapped[datetime | None] = mapped_column(Instant)
    cancel_wanted: Mapped[bool] = mapped_column(default=False, server_default=false())
    verdict: Mapped[Verdict | None] = mapped_column(String(16))
    message: Mapped[str | None] = mapped_column(Text)
    finished_at: Mapped[datetime | None] = mapped_column(Instant)
    cases_ready: Mapped[bool] = mapped_column(default=False, server_default=false())


class ReportRow(Base):
    """The public report of a finished submission, as the grader signed it."""

    __tablename__ = "report"
    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    document: Mapped[str] = mapped_column(Text)
    recorded_at: Mapped[datetime] = mapped_column(Instant)


class SealedCaseRow(Base):
    """A failing case of a hidden group, encrypted to this server. Only `desk.case` and `desk.reveal` read here."""

    __tablename__ = "sealed_case"
    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    group_key: Mapped[str] = mapped_column(String(120), primary_key=True)
    sealed: Mapped[bytes] = mapped_column(LargeBinary)


class RevealRow(Base):
    """Someone opened a case. What was opened once stays open."""

    __tablename__ = "reveal"
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    submission_id: Mapped[str] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    group_key: Mapped[str] = mapped_column(String(120), primary_key=True)
    way: Mapped[str] = mapped_column(String(10))
    created_at: Mapped[datetime] = mapped_column(Instant)


class LockRow(Base):
    """A named lock with an expiry: whoever dies holding it holds it no longer than that."""

    __tablename__ = "lock"
    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    holder: Mapped[str] = mapped_column(String(80))
    until: Mapped[datetime] = mapped_column(Instant)
