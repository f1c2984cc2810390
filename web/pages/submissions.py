"""Pages: what became of a submission: its page, its result panel alone, its live events, and the list of them all."""

from typing import Any

from flask import Response, redirect, render_template, request, stream_with_context, url_for
from flask.typing import ResponseReturnValue

from web import desk, live
from web.pages.person import persons
from web.pages.shown import result_of

MOST_LISTED = 100


@persons
def history(user: Any) -> ResponseReturnValue:
    """One's submissions, newest first; of one drill where the address names it."""
    slug = request.args.get("drill") or None
    listed = desk.history(user, slug=slug, limit=MOST_LISTED)
    return render_template("history.html", submissions=listed, slug=slug)


@persons
def show(user: Any, submission_id: str) -> ResponseReturnValue:
    """The whole result; a plain reload brings it up to date."""
    submission = desk.submission(user, submission_id)
    return render_template("submission.html", source=desk.source(user, submission_id), **result_of(user, submission))


@persons
def panel(user: Any, submission_id: str) -> ResponseReturnValue:
    """The result panel alone, for a page that is already open."""
    return render_template("panel.html", **result_of(user, desk.submission(user, submission_id)))


@persons
def events(user: Any, submission_id: str) -> ResponseReturnValue:
    """Live events of a submission of one's own, from where the browser left off."""
    desk.submission(user, submission_id)
    stream = live.stream(submission_id, request.headers.get("Last-Event-ID"))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return Response(stream_with_context(stream), mimetype="text/event-stream", headers=headers)


@persons
def cancel(user: Any, submission_id: str) -> ResponseReturnValue:
    """Stop a grading that has not ended."""
    desk.cancel(user, submission_id)
    return redirect(url_for("pages.submission", submission_id=submission_id), 303)
