"""Pages: the solve page: the statement on one side, the editor on the other, the results beneath.

One form serves the script and the plain browser: the script sends JSON and stays on the page, the form is answered
with the submission's own page. Both end in the one desk function that the API calls too.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from flask import jsonify, make_response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from web import desk
from web.pages.person import persons
from web.pages.shown import result_of
from web.refused import Refused

KINDS = {"run", "submit"}


@dataclass(frozen=True, slots=True)
class Sent:
    """What came from the editor."""

    source: str
    kind: str
    key: str


@persons
def show(user: Any, slug: str) -> ResponseReturnValue:
    """The page, with the reader's last code in the editor."""
    drill = desk.drill(user, slug)
    past = desk.history(user, slug=slug, limit=10)
    shown = _shown(user, slug, past)
    result = result_of(user, shown) if shown else {}
    return _page(drill, past, source=_source(user, drill, past), **result)


@persons
def send(user: Any, slug: str) -> ResponseReturnValue:
    """Take the code and queue its grading."""
    sent = _sent()
    try:
        submission = desk.submit(user, slug, sent.source, sent.kind, idempotency_key=sent.key)
    except Refused as refused:
        return _refused(user, slug, sent, refused)
    address = url_for("pages.submission", submission_id=submission["id"])
    if request.is_json:
        return jsonify(id=submission["id"], page=address, panel=url_for("pages.panel", submission_id=submission["id"]))
    return redirect(address, 303)


def _sent() -> Sent:
    fields: Mapping[str, Any] = (request.get_json(silent=True) or {}) if request.is_json else request.form
    source, kind = fields.get("source"), fields.get("action")
    if not isinstance(source, str) or kind not in KINDS:
        raise Refused(400, "bad_form", "That form is not complete", "Reload the page and try again.")
    # A form sends \r\n at each line's end, whatever the text area held.
    source = source.replace("\r\n", "\n")
    return Sent(source, str(kind), _key(source, str(kind), fields.get("once")))


def _key(source: str, kind: str, once: Any) -> str:
    """The same page sending the same bytes twice (a double click, a reload) is one submission; new bytes are not."""
    body = f"{once or secrets.token_hex(16)}\n{kind}\n{source}"
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def _refused(user: Any, slug: str, sent: Sent, refused: Refused) -> ResponseReturnValue:
    if request.is_json:
        return jsonify(
            status=refused.status, code=refused.code, title=refused.title, detail=refused.detail
        ), refused.status
    if refused.status == 404:
        raise refused
    drill, past = desk.drill(user, slug), desk.history(user, slug=slug, limit=10)
    # What they wrote stays in the form; a control character that cannot be shown is left out.
    source = sent.source.replace("\0", "")
    return make_response(_page(drill, past, source=source, refused=refused), refused.status)


def _page(drill: Mapping[str, Any], past: list[Any], source: str, **more: Any) -> str:
    once = secrets.token_hex(16)
    return render_template("solve.html", drill=drill, past=past, source=source, once=once, **more)


def _source(user: Any, drill: Mapping[str, Any], past: list[Any]) -> str:
    """The submission that the address asks for, else the latest one, else the stub."""
    wanted = request.args.get("from") or (past[0]["id"] if past else None)
    return str(desk.source(user, wanted)) if wanted else str(drill["stub"])


def _shown(user: Any, slug: str, past: list[Any]) -> dict[str, Any] | None:
    """The result to show: the one that the address names, else one that is still being graded."""
    wanted = request.args.get("submission")
    if wanted is None and past and past[0]["state"] != "finished":
        wanted = past[0]["id"]
    submission = desk.submission(user, wanted) if wanted else None
    return submission if submission and submission["drill"] == slug else None
