"""Errors under /api as RFC 9457 problem documents, whatever raised them. What was sent in is never echoed."""

import json
from collections.abc import Mapping
from typing import Any

from apiflask.exceptions import HTTPError
from flask import Response, request
from werkzeug.exceptions import HTTPException

from web.refused import Refused

CODES = {
    400: "bad_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
    415: "unsupported_media_type",
    422: "validation",
    429: "rate_limited",
}
SENTENCES = {
    400: "The request could not be read.",
    404: "There is nothing at this address.",
    405: "This address takes another method.",
    413: "The request is larger than this server takes.",
    415: "Send JSON.",
    500: "Something broke on our side. It has been logged.",
}


def of_refusal(refused: Refused) -> Response:
    """What the desk turned down."""
    answer = problem(refused.status, refused.code, refused.title, refused.detail)
    if refused.status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="prefill"'
    return answer


def of_http(error: HTTPException) -> Response:
    """What Flask or Werkzeug raised: no such address, wrong method, too large, unreadable, broken."""
    status = error.code or 500
    if status == 400 and (garbled := _not_utf8()):
        return problem(422, "not_utf8", "Not UTF-8", garbled)
    code = CODES.get(status, "internal" if status >= 500 else "refused")
    answer = problem(status, code, error.name, SENTENCES.get(status, ""))
    for name, value in error.get_headers():
        if name.lower() in ("allow", "retry-after"):
            answer.headers[name] = value
    return answer


def _not_utf8() -> str:
    """Where the body stops being UTF-8, for a body that could not be read as JSON for that reason."""
    try:
        request.get_data().decode()
    except UnicodeDecodeError as error:
        return f"The request is not UTF-8 at byte {error.start}. Save the source as UTF-8, then send it again."
    return ""


def of_validation(error: HTTPError) -> Response:
    """What does not fit the declared shape: each place with a sentence, never the value."""
    status = int(error.status_code)
    code = CODES.get(status, "refused")
    if status != 422:
        return problem(status, code, str(error.message), SENTENCES.get(status, ""))
    errors = list(_places(error.detail if isinstance(error.detail, Mapping) else {}))
    detail = "; ".join(f"{error['pointer']}: {error['detail']}" for error in errors)
    return problem(422, code, "The request does not fit", detail, errors=errors)


def _places(detail: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {"pointer": "/" + str(field).replace(".", "/")[:200], "detail": str(message)[:300]}
        for fields in detail.values()
        for field, messages in fields.items()
        for message in messages
    ][:20]


def problem(status: int, code: str, title: str, detail: str = "", **more: Any) -> Response:
    """One problem document."""
    told = {"type": f"urn:prefill:problem:{code}", "title": title, "status": status, "detail": detail, "code": code}
    body = json.dumps({**told, "instance": request.path, **more})
    return Response(body, status, content_type="application/problem+json")
