"""Pages: one failing case: what broke, step by step, expected against actual, and a test to take home."""

from collections.abc import Mapping
from typing import Any

from flask import abort, make_response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from web import desk
from web.pages.person import persons
from web.pages.result import Row, panel_of

# What the page answers while there is a case that cannot be shown.
STATUS = {"open": 200, "sealed": 402, "pending": 200}


@persons
def show(user: Any, submission_id: str, group: str) -> ResponseReturnValue:
    """The case, or the way to open it."""
    submission = desk.submission(user, submission_id)
    failing = _failing(user, submission)
    row = next((row for row in failing if row.key == group), None)
    if row is None:
        abort(404)
    case = desk.case(user, submission_id, group) if row.case == "open" else None
    page = render_template("case.html", submission=submission, case=case, row=row, failing=failing)
    return make_response(page, STATUS[row.case])


@persons
def reveal(user: Any, submission_id: str, group: str) -> ResponseReturnValue:
    """Open a sealed case; that it was opened is kept."""
    desk.reveal(user, submission_id, group)
    if request.headers.get("X-Requested-With") == "fetch":
        return "", 204
    return redirect(url_for("pages.case", submission_id=submission_id, group=group), 303)


def _failing(user: Any, submission: Mapping[str, Any]) -> list[Row]:
    rows = panel_of(submission, desk.drill(user, submission["drill"])["groups"]).rows
    return [row for row in rows if row.failed and row.case in STATUS]
