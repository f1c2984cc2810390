"""What Alembic runs around the steps: the caller's own connection and transaction, our tables to compare with."""

from alembic import context

from web.store.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite alters a table by making it anew
    transaction_per_migration=False,
)
context.run_migrations()
