"""API v1: who may ask, what is answered, and a clean refusal for whatever a stranger can send."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from tests.web.conftest import FILES, Desk
from tests.web.pretend_grader import sealed_case
from web import people, recorder
from web.broker import hasty
from web.intake import MOST_SOURCE
from web.store.models import TokenRow, UserRow

pytestmark = pytest.mark.redis
SECRET = ("CANARY-HIDDEN", "CANARY-REFERENCE", "CANARY-CASE")


def refused(answer: Any, status: int, code: str | None = None) -> dict[str, Any]:
    """The problem document of a refusal, well formed."""
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/problem+json"
    told = json.loads(answer.data)
    assert {"type", "title", "status", "detail", "code", "instance"} <= set(told)
    assert told["status"] == status
    assert code in (None, told["code"])
    return dict(told)


def graded(house: Desk) -> dict[str, Any]:
    sent = house.send("wrong")
    recorder.record_report(house.signed(sent, 1, True, cases=[sealed_case(house.settings.secrets_dir)]))
    return sent


def stranger(house: Desk) -> str:
    """The token of somebody else, who owns nothing."""
    with house.office.store.writing() as session:
        row = UserRow(name="stranger", owner=False, created_at=people.now(), session_epoch=0)
        session.add(row)
        session.flush()
        user = people.user_of(row)
    return people.give_token(house.office.store, user, "theirs")


def test_a_submission_has_the_agreed_shape(house: Desk) -> None:
    sent = house.send("x = 1")
    assert set(sent) == {
        *("id", "drill", "title", "revision", "kind", "state", "verdict", "message", "created_at", "finished_at"),
        *("attempt", "groups", "visible_cases", "cases_ready", "environment", "links"),
    }
    assert (sent["state"], sent["verdict"], sent["attempt"]) == ("queued", None, 1)


def test_the_source_comes_back_as_it_was_sent(house: Desk) -> None:
    text = "s = 'ünïcode 🚀'\n"
    sent = house.send(text)
    assert house.ask("GET", f"/submissions/{sent['id']}/source").json["source"] == text


def test_a_drill_shows_its_statement_clean_and_nothing_hidden(house: Desk) -> None:
    answer = house.ask("GET", "/drills/adder")
    assert "<script" not in answer.json["statement_html"]
    assert '<span class="n">add</span>' in answer.json["statement_html"]
    assert len(answer.json["hints"]) == 2
    assert not any(word in answer.text for word in SECRET)


def test_a_bundle_holds_a_workspace_and_nothing_hidden(house: Desk) -> None:
    answer = house.ask("GET", "/drills/adder/bundle")
    assert {"README.md", "solution.py", "conftest.py", "tests/test_visible.py"} <= set(answer.json["files"])
    assert answer.json["files"]["solution.py"] == FILES["stub.py"]
    assert not any(word in answer.text for word in SECRET)


def test_the_catalogue_says_how_far_one_has_come(house: Desk) -> None:
    def status() -> Any:
        return house.ask("GET", "/drills").json["items"][0]["status"]

    assert status() is None
    run = house.send("accepted", kind="run")
    recorder.record_report(house.signed(run, 1, True, verdict="accepted"))
    assert status() == "attempted"
    sent = house.send("accepted")
    recorder.record_report(house.signed(sent, 1, True, verdict="accepted"))
    assert status() == "accepted"


def test_a_changed_drill_is_served_without_a_restart(house: Desk, drills_dir: Path) -> None:
    before = house.ask("GET", "/drills/adder").json
    (drills_dir / "sums/adder/README.md").write_text("# Changed\n")
    house.office.shelf._looked_at = 0.0
    after = house.ask("GET", "/drills/adder").json
    assert after["statement"] == "# Changed\n"
    assert after["revision"] != before["revision"]
    stale = {"drill": "adder", "source": "x", "kind": "run", "revision": before["revision"]}
    refused(house.ask("POST", "/submissions", json=stale), 409, "drill_outdated")


def test_a_broken_drill_takes_no_other_down(house: Desk, drills_dir: Path) -> None:
    (drills_dir / "sums/broken").mkdir()
    (drills_dir / "sums/broken/drill.toml").write_text("= broken")
    house.office.shelf._looked_at = 0.0
    assert [drill["slug"] for drill in house.ask("GET", "/drills").json["items"]] == ["adder"]


def test_history_is_newest_first_and_bounded(house: Desk) -> None:
    sent = [house.send(f"x = {n}")["id"] for n in range(3)]
    listed = house.ask("GET", "/submissions?limit=2&drill=adder").json["items"]
    assert [one["id"] for one in listed] == [sent[2], sent[1]]
    assert house.ask("GET", "/submissions?drill=other").json["items"] == []


def test_the_same_key_and_body_is_the_same_submission(house: Desk) -> None:
    body = {"drill": "adder", "source": "x = 1", "kind": "run"}
    key = {"Idempotency-Key": "3f0c"}
    first = house.ask("POST", "/submissions", json=body, headers=key)
    again = house.ask("POST", "/submissions", json=body, headers=key)
    assert (again.status_code, again.json["id"]) == (201, first.json["id"])
    assert house.redis.llen("rq:queue:grade-run") == 1
    refused(house.ask("POST", "/submissions", json={**body, "source": "y"}, headers=key), 422, "idempotency_conflict")
    refused(house.ask("POST", "/submissions", json={**body, "kind": "submit"}, headers=key), 422)


@pytest.mark.parametrize("key", ["", "x" * 201, "a b", "\xe9"])
def test_a_bad_idempotency_key_is_refused(house: Desk, key: str) -> None:
    body = {"drill": "adder", "source": "x = 1", "kind": "run"}
    refused(house.ask("POST", "/submissions", json=body, headers={"Idempotency-Key": key}), 422)


def test_a_sealed_case_is_locked_until_revealed_and_then_stays_open(house: Desk) -> None:
    sent = graded(house)
    path = f"/submissions/{sent['id']}/cases/negative"
    locked = house.ask("GET", path)
    refused(locked, 402, "locked")
    assert "CANARY-CASE" not in locked.text + house.ask("GET", f"/submissions/{sent['id']}").text
    assert house.ask("POST", f"{path}/reveal").json["promise"] == "CANARY-CASE"
    assert house.ask("GET", path).json["promise"] == "CANARY-CASE"
    assert house.get(sent)["groups"][0]["case"] == "open"


def test_a_case_that_is_not_there_is_not_found(house: Desk) -> None:
    sent = graded(house)
    for group in ("other", "visible", "%00", "..", "x" * 500):
        refused(house.ask("GET", f"/submissions/{sent['id']}/cases/{group}"), 404)
        refused(house.ask("POST", f"/submissions/{sent['id']}/cases/{group}/reveal"), 404)


def test_a_case_that_is_still_being_made_says_so(house: Desk) -> None:
    sent = house.send("wrong")
    recorder.record_report(house.signed(sent, 1, False))
    refused(house.ask("GET", f"/submissions/{sent['id']}/cases/negative"), 409, "case_pending")


def test_what_is_somebody_elses_does_not_exist(house: Desk) -> None:
    sent, other = graded(house), stranger(house)
    one = f"/submissions/{sent['id']}"
    for method, path in (
        *(("GET", one), ("DELETE", one), ("GET", f"{one}/source"), ("GET", f"{one}/events")),
        *(("GET", f"{one}/cases/negative"), ("POST", f"{one}/cases/negative/reveal")),
    ):
        refused(house.ask(method, path, token=other), 404, "no_such_submission")
    assert house.ask("GET", "/submissions", token=other).json["items"] == []


ADDRESSES = ["/me", "/drills", "/drills/adder", "/drills/adder/bundle", "/submissions", "/submissions/s_x"]


@pytest.mark.parametrize("path", ADDRESSES)
@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer pfl_x", "Basic pfl_x", "Bearer \xff", "Bearer " + "a" * 9000]
)
def test_without_a_valid_token_nothing_is_answered(house: Desk, path: str, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = house.client.get(f"/api/v1{path}", headers=headers)
    refused(answer, 401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_cookie_opens_nothing_under_api(house: Desk) -> None:
    client = house.client
    key = house.settings.secret("local_key").decode()
    assert client.get(f"/enter/{key}").status_code == 303
    refused(client.get("/api/v1/me"), 401)


def test_a_revoked_token_opens_nothing(house: Desk) -> None:
    with house.office.store.writing() as session:
        session.execute(update(TokenRow).values(revoked_at=people.now()))
    refused(house.ask("GET", "/me"), 401)


def test_a_stranger_learns_nothing_from_how_a_bad_request_is_refused(house: Desk) -> None:
    refused(house.client.post("/api/v1/submissions", data=b"{"), 401)


def test_meta_needs_no_token(house: Desk) -> None:
    assert house.client.get("/api/v1/meta").json["api"] == 1


def test_me_says_who_asks(house: Desk) -> None:
    assert house.ask("GET", "/me").json == {"id": 1, "name": "owner", "owner": True, "reveals_left": None}
    assert house.ask("GET", "/me", token=stranger(house)).json["reveals_left"] == 3


GOOD = {"drill": "adder", "source": "x = 1", "kind": "run"}
BODIES: dict[str, tuple[bytes, int]] = {
    "nothing": (b"", 400),
    "no json": (b"{", 400),
    "not utf-8": (b'{"drill":"adder","kind":"run","source":"\xff\xfe"}', 422),
    "a list": (b"[]", 422),
    "null": (b"null", 422),
    "a number": (b"7", 422),
    "too deep": (b"[" * 200_000, 400),
    "a long number": (b'{"drill":' + b"9" * 10_000 + b"}", 400),
    "nul in source": (json.dumps({**GOOD, "source": "a\0b"}).encode(), 422),
    "half a character": (b'{"drill":"adder","kind":"run","source":"\\ud800"}', 422),
    "half a character in the slug": (b'{"drill":"\\ud800","kind":"run","source":"x"}', 422),
    "empty source": (json.dumps({**GOOD, "source": " \n"}).encode(), 422),
    "source of another type": (json.dumps({**GOOD, "source": ["x"]}).encode(), 422),
    "source of no type": (json.dumps({**GOOD, "source": None}).encode(), 422),
    "unknown kind": (json.dumps({**GOOD, "kind": "Run"}).encode(), 422),
    "no kind": (b'{"drill":"adder","source":"x"}', 422),
    "unknown drill": (json.dumps({**GOOD, "drill": "no"}).encode(), 404),
    "nul in drill": (json.dumps({**GOOD, "drill": "a\0"}).encode(), 404),
    "path as drill": (json.dumps({**GOOD, "drill": "../adder"}).encode(), 404),
    "long drill": (json.dumps({**GOOD, "drill": "a" * 1000}).encode(), 422),
    "wrong revision": (json.dumps({**GOOD, "revision": "old"}).encode(), 409),
    "revision of another type": (json.dumps({**GOOD, "revision": 7}).encode(), 422),
    "a little too large": (json.dumps({**GOOD, "source": "x" * (MOST_SOURCE + 1)}).encode(), 413),
    "1 MB": (json.dumps({**GOOD, "source": "x" * 1_000_000}).encode(), 413),
    "2 MB": (json.dumps({**GOOD, "source": "x" * 2_000_000}).encode(), 413),
}


@pytest.mark.parametrize("what", BODIES)
def test_a_bad_body_gets_a_clean_refusal_that_does_not_echo_it(house: Desk, what: str) -> None:
    body, status = BODIES[what]
    answer = house.ask("POST", "/submissions", data=body, content_type="application/json")
    refused(answer, status)
    assert len(answer.data) < 2_000
    assert house.ask("GET", "/submissions").json["items"] == []


def test_the_largest_source_is_taken(house: Desk) -> None:
    assert house.send("x" * MOST_SOURCE)["state"] == "queued"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *(("/submissions?limit=0", 422), ("/submissions?limit=101", 422), ("/submissions?limit=x", 422)),
        *(("/submissions?limit=" + "9" * 5000, 422), ("/submissions?drill=%00", 404), ("/submissions?drill=%ff", 404)),
        *(("/submissions/%00", 404), ("/submissions/s_%F0%9F%9A%80", 404), ("/submissions/" + "s" * 5000, 404)),
        *(("/submissions/s_0123456789abcdef", 404), ("/submissions/s_0123456789abcdef?wait=nan", 422)),
        *(("/submissions/s_0123456789abcdef?wait=-1", 422), ("/submissions/s_0123456789abcdef?wait=1e999", 422)),
        *(("/drills/%00", 404), ("/drills/..%2f..%2fetc%2fpasswd", 404), ("/drills/no/bundle", 404), ("/nothing", 404)),
        *(("/submissions/s_0123456789abcdef/events", 404), ("/", 404), ("//", 404), ("/drills/", 404)),
    ],
)
def test_a_bad_address_gets_a_clean_refusal(house: Desk, path: str, status: int) -> None:
    refused(house.ask("GET", path), status)


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/drills"), ("POST", "/me"), ("PATCH", "/submissions/s_x"), ("DELETE", "/meta")]
)
def test_a_wrong_method_is_a_problem_that_names_the_right_ones(house: Desk, method: str, path: str) -> None:
    answer = house.ask(method, path)
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"]


def test_a_fault_of_ours_is_a_problem_without_its_words(house: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_user: object) -> Any:
        raise RuntimeError("CANARY")

    house.app.config["PROPAGATE_EXCEPTIONS"] = False
    monkeypatch.setattr("web.desk.me", broken)
    answer = house.ask("GET", "/me")
    refused(answer, 500, "internal")
    assert "CANARY" not in answer.text


def test_the_description_of_the_api_names_its_addresses(house: Desk) -> None:
    told = house.client.get("/api/v1/openapi.json").json
    assert "/api/v1/submissions/{submission_id}/events" in told["paths"]
    assert not any(path.startswith("/drills") for path in told["paths"])


def test_a_submission_is_taken_while_redis_is_away(house: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house.office.belt, "redis", hasty("unix:///nowhere"))
    sent = house.send("x = 1")
    assert house.row(sent).sent_at is None
