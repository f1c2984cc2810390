"""Pages: what went wrong, in a sentence, with a way on."""

from dataclasses import dataclass

from flask import Response, make_response, render_template
from werkzeug.exceptions import HTTPException

from web.refused import Refused


@dataclass(frozen=True, slots=True)
class Trouble:
    """One error page."""

    status: int
    title: str
    detail: str


_SENTENCES: dict[int, tuple[str, str]] = {
    400: (
        "That request could not be read",
        "The page may have been open for a long time. Go back, reload it, try again.",
    ),
    401: ("You are not signed in", "Open the address that Prefill printed when it started."),
    402: ("This is locked", "The failing case has not been opened for this account."),
    403: ("That is not yours to open", "You are signed in, but this page belongs to somebody else."),
    404: ("There is nothing here", "The address may be old, or a character may have got lost."),
    405: ("That does not work this way", "This address takes another kind of request."),
    409: ("Something changed meanwhile", "Reload the page and try again."),
    413: ("That is too much", "One source file of at most 256 KiB can be graded."),
    422: ("That could not be graded", "The source has to be text in UTF-8."),
    429: ("A little slower, please", "There were too many requests. Wait a moment and try again."),
    503: ("Prefill is not ready", "A part of it does not answer. It tries again by itself; so may you, in a moment."),
}
_OUR_FAULT = ("Something broke on our side", "It has been logged. Nothing that you submitted is lost.")


def error_page(error: HTTPException) -> Response:
    """The page for an HTTP error; never shows what the exception said, which may quote the request."""
    status = error.code or 500
    answer = _page(Trouble(status, *_SENTENCES.get(status, _OUR_FAULT)))
    for name, value in error.get_headers():
        if name.lower() in ("allow", "retry-after"):
            answer.headers[name] = value
    return answer


def refused_page(refused: Refused) -> Response:
    """The page for a refusal by the desk, whose words are meant for the reader."""
    return _page(Trouble(refused.status, refused.title, refused.detail))


def _page(trouble: Trouble) -> Response:
    return make_response(render_template("error.html", trouble=trouble), trouble.status)
