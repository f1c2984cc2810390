"""Cookies, hosts, forms and headers: what stands between a browser and the desk."""

from typing import Any

import pytest

from tests.web.conftest import Desk
from web import people
from web.app import create_app
from web.config import Settings
from web.office import KEY

pytestmark = pytest.mark.redis


def enter(house: Desk) -> Any:
    client = house.client
    key = house.settings.secret("local_key").decode()
    answer = client.get(f"/enter/{key}")
    assert answer.status_code == 303
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    return client


def test_the_printed_key_signs_the_owner_in(house: Desk) -> None:
    assert enter(house).get("/drills").status_code == 200


@pytest.mark.parametrize("key", ["wrong", "%00", "%ff", "é", "k" * 5000])
def test_another_key_signs_nobody_in(house: Desk, key: str) -> None:
    client = house.client
    assert client.get(f"/enter/{key}").status_code == 403
    assert client.get("/drills").status_code == 401


def test_the_key_opens_nothing_where_this_is_no_local_machine(house: Desk, settings: Settings) -> None:
    app = create_app(settings.model_copy(update={"local": False, "base_url": "http://localhost"}))
    assert app.test_client().get(f"/enter/{settings.secret('local_key').decode()}").status_code == 403
    app.extensions[KEY].close()


def test_a_copied_cookie_is_worth_nothing_after_signing_out_everywhere(house: Desk) -> None:
    client = enter(house)
    people.end_sessions(house.office.store, house.owner)
    assert client.get("/drills").status_code == 401


def test_a_cookie_that_was_touched_is_no_cookie(house: Desk) -> None:
    client = enter(house)
    client.set_cookie("prefill", "eyJ1c2VyIjoxfQ.xxxx.yyyy")
    assert client.get("/drills").status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost:9x", "", "[::1", "[::2]:8000"])
def test_another_host_name_is_refused(house: Desk, host: str) -> None:
    assert house.client.get("/api/v1/meta", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:1234", "[::1]:8000"])
def test_the_names_of_this_machine_are_taken(house: Desk, host: str) -> None:
    assert house.client.get("/api/v1/meta", headers={"Host": host}).status_code == 200


def test_a_form_without_a_csrf_token_is_refused(house: Desk) -> None:
    client = enter(house)
    assert client.post("/drills/adder", data={"source": "x = 1", "action": "run"}).status_code == 400
    assert house.ask("GET", "/submissions").json["items"] == []


URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
PART = b'--b\r\nContent-Disposition: form-data; name="source"\r\n\r\n%s\r\n--b--\r\n'


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"source=%FF%FE&action=run", URLENCODED, 422),
        (b"source=\xff&action=run", URLENCODED, 422),
        (PART % b"\xff", MULTIPART, 422),
        (b"source=" + b"x" * 2_000_000, URLENCODED, 413),
        (PART % (b"x" * 2_000_000), MULTIPART, 413),
        (b"&" * 100_000, URLENCODED, 400),
        (b"nonsense", MULTIPART, 400),
    ],
)
def test_a_form_that_is_no_text_or_too_large_is_refused(house: Desk, body: bytes, kind: str, status: int) -> None:
    answer = enter(house).post("/drills/adder", data=body, content_type=kind)
    assert answer.status_code == status
    assert answer.mimetype == "text/html"


@pytest.mark.parametrize("path", ["/api/v1/meta", "/api/v1/none", "/drills", "/nothing-here"])
def test_every_answer_carries_the_headers_that_keep_it_in_its_place(house: Desk, path: str) -> None:
    headers = house.client.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "no-" in headers["Cache-Control"]


def test_a_supervisor_is_told_that_the_process_and_its_database_answer(house: Desk) -> None:
    assert house.client.get("/healthz").status_code == 200
    house.app.config["PROPAGATE_EXCEPTIONS"] = False
    with house.office.store.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE submission RENAME TO gone")
    assert house.client.get("/healthz").status_code == 500


def test_errors_outside_the_api_are_pages(house: Desk) -> None:
    answer = house.client.get("/nothing-here")
    assert (answer.status_code, answer.mimetype) == (404, "text/html")


def test_https_makes_cookies_secure(house: Desk, settings: Settings) -> None:
    app = create_app(settings.model_copy(update={"base_url": "https://drills.example"}))
    assert app.config["SESSION_COOKIE_SECURE"]
    assert app.config["SESSION_COOKIE_NAME"].startswith("__Host-")
    answer = app.test_client().get("/api/v1/meta", headers={"Host": "drills.example"})
    assert "Strict-Transport-Security" in answer.headers
    app.extensions[KEY].close()
