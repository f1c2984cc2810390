"""The web process: one app of pages for people and API v1 for programs, over one desk."""

from typing import Any

from apiflask import APIFlask
from apiflask.exceptions import HTTPError
from flask import Blueprint, Response
from flask.json.provider import DefaultJSONProvider
from flask.typing import ResponseReturnValue
from sqlalchemy import text
from werkzeug.exceptions import HTTPException

from web import security
from web.api import problem
from web.api import routes as api_routes
from web.config import Settings
from web.office import KEY, office, open_office
from web.pages import routes as page_routes
from web.pages.errors import error_page, refused_page
from web.refused import Refused


class PatientJSON(DefaultJSONProvider):
    """JSON as Flask reads it, where a document nested a hundred thousand deep is a bad request, not a crash."""

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        try:
            return super().loads(s, **kwargs)
        except RecursionError as error:
            raise ValueError("nested too deep") from error


class Web(APIFlask):
    """The app's own kind, for what Flask takes from the class."""

    json_provider_class = PatientJSON


def create_app(settings: Settings | None = None) -> Web:
    """The app these settings describe (the environment's, if none are given). Connects to nothing yet."""
    app = Web(
        __name__, title="Prefill", version="1", spec_path="/api/v1/openapi.json", docs_path=None, json_errors=False
    )
    app.extensions[KEY] = open_office(settings or Settings())
    _say_what_went_wrong(app)
    security.guard(app)
    api_routes.register(app)
    page_routes.register(app)
    app.register_blueprint(_for_machines())
    return app


def _for_machines() -> Blueprint:
    """What a supervisor asks: does this process answer, and does its database?"""
    machines = Blueprint("machines", __name__)

    @machines.get("/healthz")
    def healthz() -> ResponseReturnValue:
        with office().store.reading() as session:
            session.execute(text("SELECT 1 FROM submission WHERE 1 = 0"))  # fails before the first migration
        return Response("ok\n", mimetype="text/plain")

    return machines


def _say_what_went_wrong(app: Web) -> None:
    """Under /api a problem document, elsewhere a page; never a stack, never what was sent in."""

    @app.error_processor
    def not_fitting(error: HTTPError) -> Response:
        return problem.of_validation(error)

    @app.errorhandler(HTTPException)
    def of_http(error: HTTPException) -> Any:
        if error.code is not None and error.code < 400:
            return error  # a redirect
        return problem.of_http(error) if security.under_api() else error_page(error)

    @app.errorhandler(Refused)
    def of_refusal(refused: Refused) -> Response:
        return problem.of_refusal(refused) if security.under_api() else refused_page(refused)
