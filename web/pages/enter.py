"""Pages: the door. A self-hosted Prefill prints one address that signs its owner in."""

from flask import make_response, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from web import security


def enter(key: str) -> ResponseReturnValue:
    """Sign in with the key of the printed address, and leave the key out of every later address."""
    if security.enter(key) is None:
        return make_response(render_template("enter.html", wrong_key=True), 403)
    answer = make_response(redirect(url_for("pages.catalogue"), 303))
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["Cache-Control"] = "no-store"
    return answer


def door() -> ResponseReturnValue:
    """How to get in."""
    return render_template("enter.html", wrong_key=False)


def closed() -> ResponseReturnValue:
    """The same, in place of a page that is somebody's."""
    return make_response(render_template("enter.html", wrong_key=False), 401)
