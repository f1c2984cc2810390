"""Live events of a grading, as server-sent events that can be resumed.

Theory of operation. A grader writes what it sees to the Redis stream `events:<submission>` while it works. Those events
are hearsay: an attempt that was overtaken may still talk. So the verdict and the end of a grading are told only after
the recorder has committed them, by an entry of the recorder's own (field `by`); a grader's `verdict` and `done` are
not passed on. The database is looked at whenever the stream is quiet, so a watcher learns the truth even if the stream
has expired, was lost, or Redis is away; polling is always equivalent.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from redis import Redis
from redis.exceptions import RedisError

from web.broker import BLOCK_MS
from web.office import office
from web.store.engine import Store
from web.store.models import SubmissionRow

LIFE_S = 600
RETRY_MS = 2_000
KEPT_S = 3_600
MOST_EVENTS = 500
RECORDER = "recorder"
OF_GRADERS = frozenset({"state", "group", "case"})
OF_RECORDER = frozenset({"state", "verdict", "done"})
STREAM_ID = re.compile(r"[0-9]{1,19}-[0-9]{1,19}")
START = "0-0"

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a stream that may be shown to the submission's owner."""

    id: str
    name: str
    data: str

    def frame(self) -> str:
        """The event as it goes over the wire; a synthetic one has no id, so it is never resumed from."""
        where = f"id: {self.id}\n" if self.id else ""
        return f"{where}event: {self.name}\ndata: {self.data}\n\n"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a grading has come, for those who poll."""

    running: bool = False
    groups: tuple[dict[str, Any], ...] = ()


def stream(submission: str, last_event_id: str | None = None) -> Iterator[str]:
    """Frames for one watcher. The caller has made sure that the submission is the watcher's to see."""
    return Watch(office().stream_reader, office().store, submission, last_event_id).frames()


def announce(redis: Redis, submission: str, name: str, data: Mapping[str, Any]) -> None:
    """Tell watchers what has just been committed. If Redis is away they will find it in the database."""
    key = f"events:{submission}"
    pipe = redis.pipeline()
    pipe.xadd(key, {"event": name, "data": json.dumps(data), "by": RECORDER}, maxlen=MOST_EVENTS, approximate=True)
    pipe.expire(key, KEPT_S)
    try:
        pipe.execute()
    except RedisError as error:
        log.warning("watchers were not told", submission=submission, told=name, error=type(error).__name__)


def progress(redis: Redis, submission: str, attempt: int) -> Progress:
    """The groups that the present attempt has reported so far."""
    try:
        running = bool(redis.exists(f"attempt:{submission}:{attempt}"))
        events = _public(redis.xrange(f"events:{submission}", count=MOST_EVENTS)) if running else []
    except RedisError:
        return Progress()  # the database has said all that is certain
    groups: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.name == "state":
            groups.clear()  # a new attempt begins anew
        elif event.name == "group" and isinstance(told := json.loads(event.data), dict) and "key" in told:
            groups[str(told["key"])] = told
    return Progress(running, tuple(groups.values()))


def wait(submission: str, seconds: float, *, cases: bool = False) -> None:
    """Come back when the submission is finished (with `cases`: when no more cases will come), or time is up."""
    watch = Watch(office().stream_reader, office().store, submission, None)
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not watch.over(cases=cases):
        watch.read(max(1, int(min(left * 1000, BLOCK_MS))))


@dataclass(slots=True)
class Watch:
    """One watcher's way along one stream."""

    redis: Redis
    store: Store
    submission: str
    last_event_id: str | None
    position: str = field(init=False, default=START)
    told: bool = field(init=False, default=False)

    def frames(self) -> Iterator[str]:
        """Everything since `last_event_id`, then what comes, until `done` or for at most LIFE_S."""
        yield f"retry: {RETRY_MS}\n\n"
        self._resume()
        until = time.monotonic() + LIFE_S
        block_ms = None  # first what is there already, without waiting
        while time.monotonic() < until:
            for event in self._fresh(self.read(block_ms)):
                yield event.frame()
                if event.name == "done":
                    return
            block_ms = BLOCK_MS
            yield ": still here\n\n"

    def read(self, block_ms: int | None) -> list[Event]:
        """New public events, waiting for some at most `block_ms`."""
        key = f"events:{self.submission}"
        try:
            found: Any = self.redis.xread({key: self.position}, count=MOST_EVENTS, block=block_ms)
        except RedisError as error:
            log.warning("the event stream cannot be read", submission=self.submission, error=type(error).__name__)
            time.sleep(1)
            return []
        entries = found[0][1] if found else []
        if entries:
            self.position = entries[-1][0].decode()
        return _public(entries)

    def over(self, *, cases: bool) -> bool:
        """Whether the database says that the wait is over."""
        row = self._row()
        return row is None or (row.cases_ready if cases else row.state == "finished")

    def _fresh(self, events: list[Event]) -> Iterator[Event]:
        """The events that this watcher has not had, and what the database adds where the stream is behind."""
        for event in events:
            if event.name != "verdict" or not self.told:
                self.told |= event.name == "verdict"
                yield event
        if events and events[-1].name == "done":
            return
        row = self._row()
        if row is not None and row.state == "finished" and not self.told:
            self.told = True
            yield Event("", "verdict", json.dumps({"verdict": row.verdict, "message": row.message}))
        if row is None or row.cases_ready:
            yield Event("", "done", "{}")

    def _resume(self) -> None:
        """Go on after the last event the client has; an id that is none of ours means from the beginning."""
        wanted = STREAM_ID.fullmatch(self.last_event_id or "")
        if wanted is None:
            return
        self.position = wanted.group()
        try:
            before = _public(self.redis.xrange(f"events:{self.submission}", max=self.position, count=MOST_EVENTS))
        except RedisError:
            return  # told twice is better than not told
        self.told = any(event.name == "verdict" for event in before)

    def _row(self) -> SubmissionRow | None:
        with self.store.reading() as session:
            return session.get(SubmissionRow, self.submission)


def _public(entries: Any) -> list[Event]:
    return [event for entry in entries if (event := _event(*entry)) is not None]


def _event(entry_id: bytes, fields: Mapping[bytes, bytes]) -> Event | None:
    """A stream entry as a public event; None where it is not one, or is not the writer's to tell."""
    name = fields.get(b"event", b"").decode(errors="replace")
    allowed = OF_RECORDER if fields.get(b"by") == RECORDER.encode() else OF_GRADERS
    try:
        data = json.dumps(json.loads(fields.get(b"data", b"{}")))  # one line, whatever was written
    except (ValueError, RecursionError):
        return None
    return Event(entry_id.decode(), name, data) if name in allowed else None
