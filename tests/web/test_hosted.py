"""The same desk on PostgreSQL, and under the server that serves it."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import parts
from tests.web.conftest import ROOT, Desk
from tests.web.pretend_grader import sealed_case
from web import recorder
from web.sweep import Sweep

pytestmark = pytest.mark.redis
AT_ONCE = 6


class TestOnPostgres:
    """What relies on how a database locks and types things."""

    pytestmark = pytest.mark.postgres

    @pytest.fixture
    def database_url(self) -> Iterator[str]:
        parts.need("postgres")
        with parts.postgres_server() as url:
            yield url

    def test_a_submission_is_recorded_and_its_case_opened(self, house: Desk) -> None:
        sent = house.send("wrong")
        recorder.record_report(house.signed(sent, 1, True, cases=[sealed_case(house.settings.secrets_dir)]))
        assert house.get(sent)["verdict"] == "wrong"
        assert house.ask("POST", f"/submissions/{sent['id']}/cases/negative/reveal").json["promise"] == "CANARY-CASE"
        assert house.ask("GET", "/submissions?drill=%00").status_code == 404
        sweeper = Sweep(house.office, "test")
        assert sweeper.hold()
        sweeper.once()

    def test_one_key_sent_many_times_at_once_is_one_submission(self, house: Desk) -> None:
        assert len(at_once(house)) == 1


def at_once(house: Desk) -> set[str]:
    """The ids that come back for one key sent by several clients at the same time."""
    ids: list[str] = []

    def send() -> None:
        body = {"drill": "adder", "source": "x = 1", "kind": "run"}
        answer = house.ask("POST", "/submissions", json=body, headers={"Idempotency-Key": "same"})
        ids.append(answer.json["id"] if answer.status_code == 201 else answer.text)

    threads = [threading.Thread(target=send) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == AT_ONCE
    return set(ids)


def test_one_key_sent_many_times_at_once_is_one_submission_on_sqlite(house: Desk) -> None:
    assert len(at_once(house)) == 1
    assert house.redis.llen("rq:queue:grade-run") == 1


def test_the_whole_way_under_gunicorn(house: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFILL_LOCAL", "true")
    place = tmp_path / "web.sock"
    words = ("-m", "gunicorn", "-k", "gthread", "--threads", "8", "--bind", f"unix:{place}", "--no-control-socket")
    house.start(*words, "--chdir", str(ROOT), "web.app:create_app()")
    house.grader()
    house.recorder()
    house.until(place.exists, "gunicorn did not start")
    sent = ask(place, house, "POST", "/submissions", b'{"drill":"adder","kind":"submit","source":"accepted"}')
    events = ask(place, house, "GET", f"/submissions/{sent['id']}/events")
    assert events.count("event: verdict") == 1
    assert events.rstrip().endswith("event: done\ndata: {}")
    assert ask(place, house, "GET", f"/submissions/{sent['id']}?wait=5")["verdict"] == "accepted"


def ask(place: Path, house: Desk, method: str, path: str, body: bytes | None = None) -> Any:
    """One request over a Unix socket, as plain as can be."""
    line = http.client.HTTPConnection("localhost", timeout=60)
    line.sock = socket.socket(socket.AF_UNIX)
    line.sock.settimeout(60)
    line.sock.connect(str(place))
    headers = {"Authorization": f"Bearer {house.token}", "Content-Type": "application/json"}
    line.request(method, f"/api/v1{path}", body, headers)
    answer = line.getresponse()
    text = answer.read().decode()
    line.close()
    assert answer.status < 300, text
    return json.loads(text) if "json" in answer.headers["Content-Type"] else text
