"""API: send a solution, watch it, read what came of it."""

from typing import Any, Literal

from flask import Response, request
from flask.typing import ResponseReturnValue
from pydantic import BaseModel, ConfigDict, Field

from web import desk, live
from web.api.blueprint import api
from web.security import bearer

MOST_WAIT_S = 30
ONE = "/submissions/<submission_id>"
CASE = f"{ONE}/cases/<group>"


class NewSubmission(BaseModel):
    """What is sent in. `revision`: refuse if the drill has changed since."""

    model_config = ConfigDict(strict=True)

    drill: str = Field(min_length=1, max_length=120)
    source: str
    kind: Literal["run", "submit"]
    revision: str | None = Field(default=None, max_length=64)


class Listing(BaseModel):
    """Which submissions to list."""

    drill: str | None = Field(default=None, max_length=120)
    limit: int = Field(default=50, ge=1, le=desk.MOST_LISTED)


class Waiting(BaseModel):
    """How long to wait (seconds), and for what: the verdict, or also the failing cases."""

    wait: float = Field(default=0, ge=0, le=MOST_WAIT_S, allow_inf_nan=False)
    until: Literal["verdict", "cases"] = "verdict"


@api.post("/submissions")
@api.input(NewSubmission, arg_name="sent")
def send(sent: NewSubmission) -> ResponseReturnValue:
    """Take a submission; `Idempotency-Key` makes sending it again harmless."""
    key = request.headers.get("Idempotency-Key")
    taken = desk.submit(bearer(), sent.drill, sent.source, sent.kind, key, sent.revision)
    return taken, 201, {"Location": taken["links"]["self"]}


@api.get("/submissions")
@api.input(Listing, location="query", arg_name="wanted")
def submissions(wanted: Listing) -> ResponseReturnValue:
    """One's submissions, newest first."""
    return {"items": desk.history(bearer(), wanted.drill, wanted.limit)}


@api.get(ONE)
@api.input(Waiting, location="query", arg_name="wanted")
def submission(submission_id: str, wanted: Waiting) -> ResponseReturnValue:
    """One submission; with `wait`, when it is finished or the time is up."""
    found = desk.submission(bearer(), submission_id)
    if wanted.wait and not _over(found, wanted):
        live.wait(submission_id, wanted.wait, cases=wanted.until == "cases")
        found = desk.submission(bearer(), submission_id)
    return found


@api.get(f"{ONE}/source")
def source(submission_id: str) -> ResponseReturnValue:
    """What was sent in."""
    return {"id": submission_id, "source": desk.source(bearer(), submission_id)}


@api.delete(ONE)
def cancel(submission_id: str) -> ResponseReturnValue:
    """Stop a grading."""
    return desk.cancel(bearer(), submission_id)


@api.get(f"{ONE}/events")
def events(submission_id: str) -> ResponseReturnValue:
    """Live events; `Last-Event-ID` goes on where a connection was lost."""
    desk.submission(bearer(), submission_id)
    stream = live.stream(submission_id, request.headers.get("Last-Event-ID"))
    return Response(stream, mimetype="text/event-stream", headers={"X-Accel-Buffering": "no"})


@api.get(CASE)
def case(submission_id: str, group: str) -> ResponseReturnValue:
    """The failing case of one group."""
    return desk.case(bearer(), submission_id, group)


@api.post(f"{CASE}/reveal")
def reveal(submission_id: str, group: str) -> ResponseReturnValue:
    """Open the failing case of one group for good."""
    return desk.reveal(bearer(), submission_id, group)


def _over(found: dict[str, Any], wanted: Waiting) -> bool:
    return bool(found["cases_ready"]) if wanted.until == "cases" else found["state"] == "finished"
