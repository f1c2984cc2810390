"""API: puts v1 onto an app: its resources and its own way of saying what went wrong."""

from apiflask import APIFlask

from web.api import drills, meta, submissions
from web.api.blueprint import api

RESOURCES = (meta, drills, submissions)  # importing one hangs its addresses on the blueprint


def register(app: APIFlask) -> None:
    """Put API v1 onto the app."""
    app.register_blueprint(api)
