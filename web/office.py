"""What every process of the front desk holds: its settings, the database, the belts, the drills on the shelf."""

from dataclasses import dataclass

from flask import current_app, has_app_context
from redis import Redis

from web.broker import hasty, patient
from web.config import Settings
from web.queue import Belt
from web.shelf import Shelf
from web.store.engine import Store

KEY = "office"  # where an app keeps it


@dataclass(frozen=True, slots=True)
class Office:
    """One process's things. Opening one connects to nothing yet, so it may be opened before a fork."""

    settings: Settings
    store: Store
    redis: Redis
    stream_reader: Redis
    belt: Belt
    shelf: Shelf

    def close(self) -> None:
        """Close every connection."""
        self.store.close()
        self.redis.close()
        self.stream_reader.close()


def open_office(settings: Settings) -> Office:
    """The office that these settings describe."""
    redis = hasty(settings.redis_url)
    return Office(
        settings=settings,
        store=Store(settings.database),
        redis=redis,
        stream_reader=patient(settings.redis_url),
        belt=Belt(redis),
        shelf=Shelf(settings.drill_roots),
    )


_of_process: list[Office] = []


def settle_in(office: Office | None) -> None:
    """Make `office` the one of this process (the recorder's way; a web process has it on its app)."""
    _of_process[:] = [] if office is None else [office]


def office() -> Office:
    """The office at hand."""
    if has_app_context():
        held: Office = current_app.extensions[KEY]
        return held
    if not _of_process:
        raise LookupError("no office is open in this process")
    return _of_process[-1]
