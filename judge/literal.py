"""Values that crossed the wall as Python text: exact for a file that replays them, cut for a page. Pure."""

import math
from collections.abc import Sequence
from typing import Any

from judge.same import shown
from sandbox.guest.wire import Array, Record
from sandbox.transcript import Call, Name

SHOWN_CHARS = 300
REGULAR = 16


def literal(value: Any) -> str:
    """A Python expression that makes an equal value, given the variables and `drill`."""
    kind = type(value)
    if kind is Record:
        return f"drill.contract.{value.name}({_pairs(value.fields)})"
    if kind is Array:
        return f"drill.array({value.dtype!r}, {tuple(value.shape)!r}, {value.data!r})"
    if kind is float and not math.isfinite(value):
        return f"float('{value}')"
    if kind is dict:
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if kind in (list, tuple) and (short := _regular(value)):
        return short if kind is list else f"tuple({short})"
    if kind in (list, tuple, set, frozenset):
        return _container(value, kind)
    return repr(value) if kind in (bool, int, float, str, bytes, type(None), Name) else shown(value)


def _regular(values: Sequence[Any]) -> str:
    """A long run of whole numbers in few words, or nothing: 60,000 block ids are no file that anyone reads."""
    if len(values) < REGULAR or any(type(value) is not int for value in values):
        return ""
    first, step = values[0], values[1] - values[0]
    if any(value != first + place * step for place, value in enumerate(values)):
        return ""
    if step == 0:
        return f"[{first}] * {len(values)}"
    return f"list(range({first}, {first + len(values) * step}{'' if step == 1 else f', {step}'}))"


def _container(value: Any, kind: type) -> str:
    inside = ", ".join(literal(item) for item in (value if kind in (list, tuple) else sorted(value, key=repr)))
    if kind is list:
        return f"[{inside}]"
    if kind is tuple:
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if kind is set:
        return f"{{{inside}}}" if value else "set()"
    return f"frozenset({{{inside}}})" if value else "frozenset()"


def _pairs(fields: dict[str, Any]) -> str:
    return ", ".join(f"{name}={literal(value)}" for name, value in fields.items())


def arguments(call: Call) -> str:
    given = [literal(value) for value in call.args]
    return ", ".join([*given, *(f"{name}={literal(value)}" for name, value in call.kwargs.items())])


def function(call: Call, module: str = "") -> str:
    """What is called: a method of a variable, or an entry of the module, whose name is written before it if given."""
    if call.target != "solution":
        return f"{call.target}.{call.name}"
    return f"{module}.{call.name}" if module else call.name


def expression(call: Call, module: str = "") -> str:
    return f"{function(call, module)}({arguments(call)})"


def statement(call: Call, module: str = "") -> str:
    """With the variable that keeps a new object."""
    text = expression(call, module)
    return f"{call.answer!r} = {text}" if isinstance(call.answer, Name) else text


def cut(text: str, most: int = SHOWN_CHARS) -> str:
    """For a page: the middle of what is long is left out."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} … ({len(text) - 2 * half} more) … {text[-half:]}"
