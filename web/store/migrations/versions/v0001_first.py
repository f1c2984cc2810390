"""The first tables: users and tokens, submissions and their reports, sealed cases and reveals, locks."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    _people()
    _submissions()
    _cases()
    lock = op.create_table(
        "lock",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("holder", sa.String(80), nullable=False),
        sa.Column("until", TIME, nullable=False),
    )
    # Taking the lock is one conditional UPDATE, so its row has to be there.
    op.bulk_insert(lock, [{"name": "sweep", "holder": "", "until": datetime(2000, 1, 1, tzinfo=UTC)}])


def _people() -> None:
    op.create_table(
        "user",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(80), nullable=False, unique=True),
        sa.Column("owner", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("session_epoch", sa.Integer(), nullable=False, server_default="0"),
    )
    op.create_table(
        "api_token",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("user_id", sa.Integer(), sa.ForeignKey("user.id"), nullable=False, index=True),
        sa.Column("sha256", sa.String(64), nullable=False, unique=True),
        sa.Column("label", sa.String(80), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("revoked_at", TIME),
    )


def _submissions() -> None:
    op.create_table(
        "submission",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("user_id", sa.Integer(), sa.ForeignKey("user.id"), nullable=False),
        sa.Column("drill", sa.String(120), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("revision", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.String(200)),
        sa.Column("body_sha256", sa.String(64), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("due_at", TIME, nullable=False),
        sa.Column("sent_at", TIME),
        sa.Column("cancel_wanted", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("verdict", sa.String(16)),
        sa.Column("message", sa.Text()),
        sa.Column("finished_at", TIME),
        sa.Column("cases_ready", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.UniqueConstraint("user_id", "idempotency_key"),
    )
    op.create_index("ix_submission_user_id_created_at", "submission", ["user_id", "created_at"])
    op.create_index("ix_submission_cases_ready", "submission", ["cases_ready"])


def _cases() -> None:
    op.create_table(
        "report",
        sa.Column("submission_id", sa.String(32), sa.ForeignKey("submission.id"), primary_key=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("recorded_at", TIME, nullable=False),
    )
    op.create_table(
        "sealed_case",
        sa.Column("submission_id", sa.String(32), sa.ForeignKey("submission.id"), primary_key=True),
        sa.Column("group_key", sa.String(120), primary_key=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
    )
    op.create_table(
        "reveal",
        sa.Column("user_id", sa.Integer(), sa.ForeignKey("user.id"), primary_key=True),
        sa.Column("submission_id", sa.String(32), sa.ForeignKey("submission.id"), primary_key=True),
        sa.Column("group_key", sa.String(120), primary_key=True),
        sa.Column("way", sa.String(10), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
    )


def downgrade() -> None:
    for table in ("lock", "reveal", "sealed_case", "report", "submission", "api_token", "user"):
        op.drop_table(table)
