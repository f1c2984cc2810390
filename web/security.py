"""The doors: who a request is from, which host it may name, what a stranger's bytes may look like.

Pages know people by a cookie and forms by a CSRF token. The API knows bearer tokens and nothing else: it never reads a
cookie, so no other site can make a browser use it.
"""

import hmac
from urllib.parse import unquote_to_bytes, urlsplit

from flask import Flask, Response, g, request, session
from flask_wtf.csrf import CSRFProtect, generate_csrf

from web import people
from web.office import office
from web.people import User
from web.refused import Refused
from web.store.models import UserRow

API_PREFIX = "/api/"
MOST_BODY = 1024 * 1024
YEAR_S = 365 * 24 * 3600

csrf = CSRFProtect()  # type: ignore[no-untyped-call]  # Flask-WTF has no types

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # A page sets its own; whatever else is served is no page and may do nothing.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}


def guard(app: Flask) -> None:
    """Put the doors on an app."""
    settings = app.extensions["office"].settings
    app.config.update(
        SECRET_KEY=settings.secret("session_key"),
        MAX_CONTENT_LENGTH=MOST_BODY,
        MAX_FORM_MEMORY_SIZE=MOST_BODY,
        MAX_FORM_PARTS=100,
        SESSION_COOKIE_NAME="__Host-prefill" if settings.secure else "prefill",
        SESSION_COOKIE_SECURE=settings.secure,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        WTF_CSRF_TIME_LIMIT=None,  # a form left open over lunch still works; it is bound to the session
    )
    app.before_request(_known_host)
    app.before_request(_readable_form)  # before CSRF's own look into the form
    csrf.init_app(app)  # type: ignore[no-untyped-call]  # Flask-WTF has no types
    app.after_request(_with_headers)


def enter(key: str) -> User | None:
    """Sign the owner in with the key that `prefilld run` printed. Local mode only; None if it is not that key."""
    settings = office().settings
    told = key.encode(errors="replace")
    if not settings.local or not hmac.compare_digest(told, settings.secret("local_key").strip()):
        return None
    owner = people.owner(office().store, settings.owner_name)
    with office().store.reading() as reading:
        epoch = reading.get_one(UserRow, owner.id).session_epoch
    session.clear()
    session["user"], session["epoch"] = owner.id, epoch
    session.permanent = True
    # Now, for all pages: an answer on its way would put the cookie back to before a page made its own token.
    generate_csrf()  # type: ignore[no-untyped-call]  # Flask-WTF's is not annotated
    g.user = owner
    return owner


def leave() -> None:
    """Sign out of this browser and every other."""
    if (user := current_user()) is not None:
        people.end_sessions(office().store, user)
    session.clear()
    g.user = None


def current_user() -> User | None:
    """Whom the present request is from: by token under /api, by cookie elsewhere."""
    if "user" not in g:
        g.user = _by_token() if under_api() else _by_cookie()
    found: User | None = g.user
    return found


def under_api() -> bool:
    """Whether programs rather than people are being answered."""
    return request.path.startswith(API_PREFIX)


def bearer() -> User:
    """The user of an API request, or a refusal."""
    user = current_user()
    if user is None:
        raise Refused(401, "unauthenticated", "Not signed in", "Send a valid token: Authorization: Bearer pfl_…")
    return user


def _by_token() -> User | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not people.well_formed(token.strip()):
        return None
    with office().store.reading() as reading:
        return people.user_of_token(reading, token.strip())


def _by_cookie() -> User | None:
    user_id, epoch = session.get("user"), session.get("epoch")
    if not isinstance(user_id, int):
        return None
    with office().store.reading() as reading:
        row = reading.get(UserRow, user_id)
        return people.user_of(row) if row is not None and row.session_epoch == epoch else None


def _known_host() -> None:
    """Refuse another host's name: a page elsewhere may have pointed its own name at this machine (DNS rebinding)."""
    try:
        named = urlsplit(f"//{request.host}").hostname
    except ValueError:
        named = None
    if named not in office().settings.known_hosts:
        raise Refused(400, "unknown_host", "Unknown host", "This server does not go by that name.")


def _readable_form() -> None:
    """Refuse a form that is not text: decoding would quietly replace its bytes, and grade what nobody wrote."""
    kind = request.mimetype
    if request.method != "POST" or kind not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        return
    body = request.get_data(cache=True)
    try:
        (unquote_to_bytes(body) if kind.endswith("urlencoded") else body).decode()
    except UnicodeDecodeError:
        raise Refused(422, "not_utf8", "That is not text", "Everything in a form has to be UTF-8.") from None


def _with_headers(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    if request.endpoint != "static":
        response.headers.setdefault("Cache-Control", "private, no-store")
    if office().settings.secure:
        response.headers.setdefault("Strict-Transport-Security", f"max-age={YEAR_S}")
    return response
