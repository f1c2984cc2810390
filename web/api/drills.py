"""API: drills, and the files of a workspace."""

from flask.typing import ResponseReturnValue

from web import desk
from web.api.blueprint import api
from web.security import bearer


@api.get("/drills")
def drills() -> ResponseReturnValue:
    """The catalogue."""
    return {"items": desk.drills(bearer())}


@api.get("/drills/<slug>")
def drill(slug: str) -> ResponseReturnValue:
    """One drill whole."""
    return desk.drill(bearer(), slug)


@api.get("/drills/<slug>/bundle")
def bundle(slug: str) -> ResponseReturnValue:
    """What `prefill start` writes to disk."""
    return desk.bundle(bearer(), slug)
