"""API: what this server is, and who is asking."""

from importlib.metadata import version

from flask.typing import ResponseReturnValue

from web import desk
from web.api.blueprint import api
from web.intake import MOST_SOURCE
from web.security import bearer


@api.get("/meta")
def meta() -> ResponseReturnValue:
    """The server's version and limits; needs no token."""
    limits = {"source_bytes": MOST_SOURCE, "wait_s": 30}
    return {"name": "prefill", "version": version("prefill"), "api": 1, "min_cli": "0.1.0", "limits": limits}


@api.get("/me")
def me() -> ResponseReturnValue:
    """The user that the token stands for."""
    return desk.me(bearer())
