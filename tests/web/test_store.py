"""The database: migrations that agree with the models, writers that wait for each other, readers that cannot write."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, update
from sqlalchemy.exc import DBAPIError

from tests import parts
from web import ledger
from web.store.engine import Store
from web.store.models import Base, LockRow, UserRow
from web.store.upgrade import upgrade

ROOT = Path(__file__).resolve().parents[2]
WRITERS, WRITES = 6, 25
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    parts.need("postgres")
    with parts.postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'db'}" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    upgrade(url)
    opened = Store(url)
    with opened.writing() as session:
        session.add(UserRow(id=1, name="one", owner=True, created_at=NOON, session_epoch=0))
    yield opened
    Base.metadata.drop_all(opened.engine)
    with opened.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE alembic_version")
    opened.close()


def test_the_tables_are_those_of_the_models(store: Store) -> None:
    with store.engine.begin() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_upgrading_again_changes_nothing(store: Store) -> None:
    upgrade(store.engine.url.render_as_string(hide_password=False))
    with store.reading() as session:
        assert session.get_one(UserRow, 1).name == "one"


def test_several_processes_may_upgrade_at_once(tmp_path: Path) -> None:
    code = "import sys; from web.store.upgrade import upgrade; upgrade(sys.argv[1])"
    words = [sys.executable, "-c", code, f"sqlite:///{tmp_path / 'new' / 'db'}"]
    started = [subprocess.Popen(words, cwd=ROOT) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]


def test_writers_that_read_first_all_get_their_turn(store: Store) -> None:
    failed: list[Exception] = []

    def count_up() -> None:
        for _ in range(WRITES):
            try:
                with store.writing() as session:
                    row = session.scalar(select(UserRow).where(UserRow.id == 1).with_for_update())
                    assert row is not None
                    row.session_epoch += 1
            except Exception as error:  # whatever it was, it is shown
                failed.append(error)

    threads = [threading.Thread(target=count_up) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with store.reading() as session:
        assert session.get_one(UserRow, 1).session_epoch == WRITERS * WRITES


def test_a_reading_transaction_cannot_write(store: Store) -> None:
    with pytest.raises(DBAPIError), store.reading() as session:
        session.execute(update(UserRow).values(name="two"))
    with store.writing() as session:
        session.execute(update(UserRow).values(name="three"))


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    def fail() -> None:
        with store.writing() as session:
            session.execute(update(UserRow).values(name="two"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with store.reading() as session:
        assert session.get_one(UserRow, 1).name == "one"


def test_a_moment_comes_back_in_utc_whatever_zone_it_was_told_in(store: Store) -> None:
    told = NOON.astimezone(timezone(timedelta(hours=5)))
    with store.writing() as session:
        session.execute(update(UserRow).values(created_at=told))
    with store.reading() as session:
        found = session.get_one(UserRow, 1).created_at
    assert (found, found.utcoffset()) == (NOON, timedelta(0))


def test_a_lock_is_held_by_one_until_its_time_is_up(store: Store) -> None:
    later = NOON + timedelta(seconds=30)
    with store.writing() as session:
        session.execute(update(LockRow).values(until=NOON - timedelta(days=1)))
    for holder, moment, held in (
        ("a", NOON, True),
        ("b", NOON, False),
        ("a", NOON, True),
        ("b", later + timedelta(1), True),
    ):
        with store.writing() as session:
            assert ledger.hold(session, "sweep", holder, moment + timedelta(seconds=30), moment) is held
