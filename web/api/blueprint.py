"""API: the blueprint that every resource hangs its addresses on, and the token that is asked for before each."""

from apiflask import APIBlueprint
from flask import request

from web.security import bearer, csrf

api = APIBlueprint("api", __name__, url_prefix="/api/v1", tag="Prefill")
OPEN = frozenset({"api.meta"})

# No cookie is read under /api, so there is nothing to forge.
csrf.exempt(api)  # type: ignore[no-untyped-call]  # Flask-WTF has no types


@api.before_request
def _ask_for_token() -> None:
    """Who may ask comes before what is asked: a stranger learns nothing from how a request is refused."""
    if request.endpoint not in OPEN:
        bearer()
