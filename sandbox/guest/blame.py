"""What an exception of the submission may say about itself. None of its own methods is asked: they may loop or lie."""

from types import TracebackType
from typing import Any

from .words import CROSSING, name_of

SOURCE_NAME = "solution.py"
MAX_MESSAGE = 2048
_MAX_ARGS = 8
_SCALARS = (bool, int, float, bytes, type(None))
_CROSSING: dict[type[BaseException], str] = {kind: kind.__name__ for kind in CROSSING}
_NAMES = frozenset(_CROSSING.values())


def name_and_message(error: BaseException) -> tuple[str, str]:
    """The name under which an exception crosses, and its message. A class of the same name as a builtin is not it."""
    kind = type(error)
    name = _CROSSING.get(kind)
    if name is None:
        name = bounded(name_of(kind))
        name = f"solution.{name}" if name in _NAMES else name
    return name, message_of(error)


def message_of(error: BaseException) -> str:
    """The arguments of an exception as text."""
    args = BaseException.args.__get__(error)  # type: ignore[attr-defined] # a property that a subclass could replace
    return bounded(", ".join(_plain(arg) for arg in args[:_MAX_ARGS]))


def bounded(text: str) -> str:
    """At most 2 KiB of well-formed text."""
    return str.encode(text[:MAX_MESSAGE], errors="replace")[:MAX_MESSAGE].decode(errors="ignore")


def line_in_source(trace: TracebackType | None) -> int | None:
    """The line of the submission that was running when the exception passed, the innermost one."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SOURCE_NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _plain(arg: Any) -> str:
    if type(arg) is str:
        return arg[:MAX_MESSAGE]
    if type(arg) is int and arg.bit_length() > MAX_MESSAGE:
        return "<int>"
    if type(arg) in _SCALARS:
        return repr(arg[:MAX_MESSAGE] if type(arg) is bytes else arg)
    return f"<{name_of(type(arg))}>"
