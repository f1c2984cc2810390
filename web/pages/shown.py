"""Pages: what the result panel of one submission needs, gathered from the desk."""

from collections.abc import Mapping
from typing import Any

from flask import request

from web import desk
from web.pages.result import Panel, panel_of


def result_of(user: Any, submission: Mapping[str, Any]) -> dict[str, Any]:
    """The template's variables for one result."""
    panel = panel_of(submission, desk.drill(user, submission["drill"])["groups"])
    return {"submission": submission, "panel": panel, "opened": _opened(user, submission, panel)}


def _opened(user: Any, submission: Mapping[str, Any], panel: Panel) -> Mapping[str, Any] | None:
    """The case that the address asks for, else the first that may be seen: "what broke?" needs no further click."""
    keys = [row.key for row in panel.rows if row.case == "open" and row.key != "visible"]
    wanted = request.args.get("case")
    key = wanted if wanted in keys else next(iter(keys), None)
    return desk.case(user, submission["id"], key) if key else None
