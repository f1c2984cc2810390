"""The one module that speaks HTTP: requests, problem answers turned into `Trouble`, and the live events."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2

from web.client.credentials import Credentials
from web.client.trouble import LOCKED, NOT_SIGNED_IN, QUOTA, SERVICE, USAGE, Trouble

STATUS_OF = {400: USAGE, 401: NOT_SIGNED_IN, 402: LOCKED, 403: NOT_SIGNED_IN, 404: USAGE, 409: USAGE, 413: USAGE}
STATUS_OF |= {422: USAGE, 429: QUOTA}
RECONNECTS = 8


class Server:
    """A judge's API v1, seen by one signed-in person."""

    def __init__(self, credentials: Credentials, transport: httpx2.BaseTransport | None = None) -> None:
        self.host = credentials.host
        self._http = httpx2.Client(
            base_url=f"{credentials.host}/api/v1",
            headers={"Authorization": f"Bearer {credentials.token}", "User-Agent": "prefill/0.1"},
            timeout=httpx2.Timeout(30, connect=5),
            transport=transport,
        )

    def get(self, path: str, **params: Any) -> Any:
        return self._ask("GET", path, params=params)

    def post(self, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        return self._ask("POST", path, json=body if body is not None else {}, headers=headers)

    def delete(self, path: str) -> Any:
        return self._ask("DELETE", path)

    def events(self, submission: str) -> Iterator[tuple[str, Any]]:
        """(event, data) from the beginning to `done`, each once, across lost connections.

        The stream's own ids say where to go on, so a reconnect neither loses nor doubles an event.
        """
        last_id, failures = "", 0
        while True:
            try:
                for event in self._stream(submission, last_id):
                    last_id, failures = event.id or last_id, 0
                    yield event.event, json.loads(event.data or "{}")
                    if event.event == "done":
                        return
            except httpx2.TransportError as error:
                failures += 1
                if failures > RECONNECTS:
                    raise self._away(error) from error
            time.sleep(min(0.25 * 2**failures, 4))

    def _stream(self, submission: str, last_id: str) -> Iterator[httpx2.ServerSentEvent]:
        headers = {"Last-Event-ID": last_id} if last_id else {}
        with self._http.sse(f"/submissions/{submission}/events", headers=headers) as source:
            if source.response.status_code != httpx2.codes.OK:
                source.response.read()
                raise _trouble(source.response)
            yield from source

    def _ask(self, method: str, path: str, **how: Any) -> Any:
        try:
            response = self._http.request(method, path, **how)
        except httpx2.TransportError as error:
            raise self._away(error) from error
        if response.is_error:
            raise _trouble(response)
        try:
            return response.json()
        except ValueError as error:
            kind = response.headers.get("content-type", "no type")
            raise Trouble(f"{self.host} answered {kind} instead of JSON: is it a Prefill judge?", SERVICE) from error

    def _away(self, error: Exception) -> Trouble:
        what = type(error).__name__
        return Trouble(f"No answer from {self.host} ({what}). Is it running? `make run` starts one here.", SERVICE)


def _trouble(response: httpx2.Response) -> Trouble:
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    sentence = problem.get("detail") or problem.get("title") or f"The judge answered {response.status_code}."
    if (wait := response.headers.get("retry-after")) and response.status_code in (429, 503):
        sentence += f" Try again in {wait} s."
    if response.status_code == httpx2.codes.UNAUTHORIZED:
        sentence += " Run: prefill auth login"
    return Trouble(str(sentence), STATUS_OF.get(response.status_code, SERVICE), code=str(problem.get("code", "")))
