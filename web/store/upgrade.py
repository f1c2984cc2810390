"""Bring a database to the present tables. Safe to call from several processes at once, and when nothing is to do."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url

from web.store.engine import engine_of

MIGRATIONS = Path(__file__).parent / "migrations"
# Any number that no one else uses: PostgreSQL's advisory locks are numbers.
LOCK = 0x50_52_45_46


def upgrade(url: str) -> None:
    """Run the migrations that this database has not seen."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = engine_of(url)
    try:
        with engine.begin() as connection:
            if parsed.get_backend_name() == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
            command.upgrade(configuration(connection), "head")
    finally:
        engine.dispose()


def configuration(connection: Connection) -> Config:
    """Alembic's configuration for one open connection; nothing is read from a file."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config
