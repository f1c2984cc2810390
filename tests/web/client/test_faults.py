"""A judge that is away, half-answering or no judge at all: one clear sentence and the right exit status."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from web.client import server as server_module
from web.client.credentials import Credentials
from web.client.server import Server
from web.client.trouble import Trouble

CANARY = "pfl_canary7f3a"


@pytest.fixture
def answering():
    """Start a loopback server that gives the answers listed, in turn; yields a function that returns its address."""
    servers = []

    def start(*answers):
        left = list(answers)

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                status, kind, body, *headers = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                self.send_header("Content-Type", kind)
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        web = HTTPServer(("127.0.0.1", 0), Answer)
        thread = threading.Thread(target=web.serve_forever, daemon=True)
        thread.start()
        servers.append((web, thread))
        return f"http://127.0.0.1:{web.server_port}"

    yield start
    for web, thread in servers:
        web.shutdown()
        thread.join()
        web.server_close()


@pytest.mark.parametrize(
    ("status", "body", "sentence", "exit_status"),
    [
        (401, b'{"detail":"Bad token."}', "prefill auth login", 4),
        (402, b'{"detail":"Locked."}', "Locked.", 5),
        (404, b'{"detail":"No such drill."}', "No such drill.", 2),
        (409, b'{"detail":"The drill has changed."}', "has changed", 2),
        (413, b'{"detail":"Over 256 KiB."}', "256 KiB", 2),
        (500, b"<html>", "answered 500", 3),
        (502, b"[1]", "answered 502", 3),
    ],
)
def test_each_refusal_has_its_sentence_and_status(answering, status, body, sentence, exit_status):
    with pytest.raises(Trouble, match=sentence) as trouble:
        Server(Credentials(answering((status, "application/problem+json", body)), CANARY)).get("/me")
    assert trouble.value.exit_code == exit_status
    assert CANARY not in str(trouble.value)


def test_a_rate_limit_says_how_long_to_wait(answering):
    host = answering((429, "application/json", b'{"detail":"Too many."}', ("Retry-After", "7")))
    with pytest.raises(Trouble, match="in 7 s") as trouble:
        Server(Credentials(host, CANARY)).post("/submissions")
    assert trouble.value.exit_code == 6


def test_a_page_in_place_of_json_is_not_a_traceback(answering):
    with pytest.raises(Trouble, match="is it a Prefill judge") as trouble:
        Server(Credentials(answering((200, "text/html", b"<html>")), CANARY)).get("/me")
    assert trouble.value.exit_code == 3


def test_nobody_listening_is_a_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Trouble, match="No answer from") as trouble:
            Server(Credentials(host, CANARY)).get("/me")
    assert trouble.value.exit_code == 3


def test_a_lost_event_stream_goes_on_where_it_stopped(answering, monkeypatch):
    monkeypatch.setattr(server_module.time, "sleep", lambda _: None)
    host = answering(
        (200, "text/event-stream", b'id: 1\nevent: group\ndata: {"key": "a"}\n\n'),
        (200, "text/event-stream", b"id: 2\nevent: verdict\ndata: {}\n\nid: 3\nevent: done\ndata: {}\n\n"),
    )
    seen = [event for event, _ in Server(Credentials(host, CANARY)).events("s_1")]
    assert seen == ["group", "verdict", "done"]
