"""Pages: who reads. A view that is somebody's gets that somebody; a stranger sees the door."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from flask.typing import ResponseReturnValue

from web.pages import enter
from web.pages.errors import refused_page
from web.refused import Refused
from web.security import current_user

P = ParamSpec("P")


def persons(view: Callable[Concatenate[Any, P], ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Hand the view its user; a refusal by the desk becomes a page that says why."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        user = current_user()
        if user is None:
            return enter.closed()
        try:
            return view(user, *args, **kwargs)
        except Refused as refused:
            return refused_page(refused)

    return guarded
