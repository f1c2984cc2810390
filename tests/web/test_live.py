"""What watchers are told, and when: never a verdict that is not committed, nothing twice, nothing lost."""

import json
from collections.abc import Iterator

import pytest

from tests.web.conftest import Desk
from web import live, recorder, verdicts
from web.broker import patient
from web.ledger import Attempt

pytestmark = pytest.mark.redis


def tell(house: Desk, sent: dict[str, str], event: str, data: object = None) -> None:
    """Write an event as a grader does."""
    house.redis.xadd(f"events:{sent['id']}", {"event": event, "data": json.dumps(data or {})})


def watch(house: Desk, sent: dict[str, str], last: str | None = None) -> Iterator[dict[str, str]]:
    headers = {"Last-Event-ID": last} if last else {}
    answer = house.ask("GET", f"/submissions/{sent['id']}/events", headers=headers)
    assert answer.mimetype == "text/event-stream"
    for frame in answer.text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in fields:
            yield fields


def names(frames: Iterator[dict[str, str]]) -> list[str]:
    return [frame["event"] for frame in frames]


def whole(house: Desk) -> dict[str, str]:
    """A submission with a whole stream behind it."""
    sent = house.send()
    tell(house, sent, "state", {"state": "running"})
    tell(house, sent, "group", {"key": "negative", "title": "t", "state": "failed", "verdict": "wrong"})
    recorder.record_report(house.signed(sent, 1, False))
    tell(house, sent, "case", {"group": "negative", "shape": "1-3"})
    recorder.record_report(house.signed(sent, 1, True))
    return sent


def test_a_watcher_gets_every_event_in_order(house: Desk) -> None:
    assert names(watch(house, whole(house))) == ["state", "group", "verdict", "case", "done"]


def test_a_watcher_goes_on_after_the_last_event_it_had(house: Desk) -> None:
    sent = whole(house)
    frames = list(watch(house, sent))
    for at, frame in enumerate(frames[:-1]):
        assert list(watch(house, sent, frame["id"])) == frames[at + 1 :]


def test_a_verdict_is_told_only_by_the_recorder(house: Desk) -> None:
    sent = house.send()
    tell(house, sent, "verdict", {"verdict": "accepted"})
    tell(house, sent, "done")
    tell(house, sent, "log", {"text": "hidden"})
    recorder.record_report(house.signed(sent, 1, True, verdict="wrong"))
    frames = list(watch(house, sent))
    assert [(frame["event"], json.loads(frame["data"]).get("verdict")) for frame in frames] == [
        ("verdict", "wrong"),
        ("done", None),
    ]


def test_an_expired_stream_still_tells_verdict_and_done(house: Desk) -> None:
    sent = whole(house)
    house.redis.flushall()
    assert names(watch(house, sent)) == ["verdict", "done"]


def test_a_stream_is_there_when_redis_is_not(house: Desk) -> None:
    sent = whole(house)
    watcher = live.Watch(patient("unix:///nowhere"), house.office.store, sent["id"], "5-0")
    assert [frame.split("\n")[0] for frame in watcher.frames() if "event" in frame] == ["event: verdict", "event: done"]


@pytest.mark.parametrize("last", ["x", "0", "-1", "99999999999999999999999-0", "1-1-1", "$", "١-٠", "0-0"])
def test_an_event_id_that_is_none_of_ours_means_from_the_beginning(house: Desk, last: str) -> None:
    sent = whole(house)
    watcher = live.Watch(house.office.stream_reader, house.office.store, sent["id"], last)
    assert sum("event: " in frame for frame in watcher.frames()) == 5


def test_data_that_is_no_json_is_not_passed_on(house: Desk) -> None:
    sent = house.send()
    house.redis.xadd(f"events:{sent['id']}", {"event": "group", "data": "x\n\nevent: verdict\ndata: {}"})
    house.redis.xadd(f"events:{sent['id']}", {"event": b"\xff", "data": "{}"})
    recorder.record_report(house.signed(sent, 1, True))
    assert names(watch(house, sent)) == ["verdict", "done"]


def test_a_retry_is_told_and_the_groups_of_before_are_forgotten(house: Desk) -> None:
    sent = house.send()
    tell(house, sent, "group", {"key": "negative", "state": "passed"})
    house.redis.set(f"attempt:{sent['id']}:1", "1")
    assert [group["key"] for group in house.get(sent)["groups"]] == ["negative"]
    verdicts.fail(house.office, Attempt(sent["id"], 1))
    house.redis.set(f"attempt:{sent['id']}:2", "1")
    assert house.get(sent)["groups"] == []


def test_a_cancel_ends_the_stream(house: Desk) -> None:
    sent = house.send()
    house.ask("DELETE", f"/submissions/{sent['id']}")
    recorder.record_cancel(sent["id"])
    assert names(watch(house, sent)) == ["verdict", "done"]


def test_a_long_poll_comes_back_with_the_verdict(house: Desk) -> None:
    house.grader()
    house.recorder()
    sent = house.send("accepted")
    answer = house.ask("GET", f"/submissions/{sent['id']}?wait=30&until=cases")
    assert answer.json["cases_ready"]


def test_a_long_poll_comes_back_without_a_verdict_when_time_is_up(house: Desk) -> None:
    sent = house.send()
    assert house.ask("GET", f"/submissions/{sent['id']}?wait=0.2").json["state"] == "queued"


def test_a_watcher_that_came_first_sees_it_all(house: Desk) -> None:
    sent = house.send("wrong")
    stream = live.Watch(house.office.stream_reader, house.office.store, sent["id"], None).frames()
    assert next(stream).startswith("retry")
    house.grader()
    house.recorder()
    seen = [line for frame in stream for line in frame.splitlines() if line.startswith("event: ")]
    assert seen == ["event: state", "event: verdict", "event: done"]
