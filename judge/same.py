"""The one comparison: typed, strict, bounded in what it prints, and counted. Standard library only.

The grader and the user's own machine run this same file (a workspace's `conftest.py` is made from it), so a test that
passes in one place passes in the other. `True` is not `1`, `1` is not `1.0`, `[1]` is not `(1,)`, `-0.0` is not `0.0`;
NaN equals NaN, since a drill that expects NaN says so by expecting it.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

SHOWN_CHARS = 400
SHOWN_ITEMS = 24


class Mismatch(AssertionError):
    """An answer is not what the drill's contract says. `path` leads to the first difference inside the answer."""

    def __init__(self, path: str, expected: str, actual: str) -> None:
        where = f" at {path}" if path else ""
        super().__init__(f"expected {expected}{where}, got {actual}")
        self.path = path
        self.expected = expected
        self.actual = actual


def shown(value: Any, budget: int = SHOWN_CHARS, depth: int = 6) -> str:
    """A Python literal of `value`, cut in the middle where it is long; never calls a stranger's `__repr__`."""
    text = _literal(value, depth)
    if len(text) <= budget:
        return text
    half = budget // 2 - 10
    return f"{text[:half]} … ({len(text) - 2 * half} more) … {text[-half:]}"


def _literal(value: Any, depth: int) -> str:
    kind = type(value)
    if kind in (list, tuple, set, frozenset, dict):
        return _container(value, kind, depth)
    if kind in (bool, int, float, type(None)):
        return repr(value)
    if kind in (str, bytes):
        return repr(value) if len(value) <= SHOWN_CHARS else f"{value[: SHOWN_CHARS // 2]!r} … ({len(value)} in all)"
    return f"<{kind.__name__}>"


def _container(value: Any, kind: type, depth: int) -> str:
    if depth == 0 and len(value):
        return "…"
    items = sorted(value, key=repr) if kind in (set, frozenset) else list(value)
    kept = items if len(items) <= SHOWN_ITEMS else items[: SHOWN_ITEMS // 2]
    parts = [_literal(item, depth - 1) for item in kept]
    if kind is dict:
        parts = [f"{key}: {_literal(value[item], depth - 1)}" for key, item in zip(parts, kept, strict=True)]
    if len(items) > SHOWN_ITEMS:
        parts.append(f"… {len(items) - SHOWN_ITEMS // 2} more")
    inside = ", ".join(parts)
    if kind is tuple:
        return f"({inside},)" if len(items) == 1 else f"({inside})"
    if kind in (set, frozenset):
        return f"{kind.__name__}({{{inside}}})" if items else f"{kind.__name__}()"
    return f"{{{inside}}}" if kind is dict else f"[{inside}]"


def difference(actual: Any, expected: Any, path: str = "") -> tuple[str, str, str] | None:
    """The first place where two plain values differ, as (path, expected, actual), or None."""
    if type(actual) is not type(expected):
        return path, f"{type(expected).__name__} {shown(expected)}", f"{type(actual).__name__} {shown(actual)}"
    if isinstance(expected, (list, tuple)):
        return _difference_in_order(actual, expected, path)
    if isinstance(expected, dict):
        return _difference_in_dict(actual, expected, path)
    if isinstance(expected, float):
        alike = actual == expected and math.copysign(1, actual) == math.copysign(1, expected)
        alike = alike or (math.isnan(actual) and math.isnan(expected))
    else:
        alike = actual == expected
    return None if alike else (path, shown(expected), shown(actual))


def _difference_in_order(actual: Any, expected: Any, path: str) -> tuple[str, str, str] | None:
    if len(actual) != len(expected):
        return path, shown(expected), shown(actual)
    for index, (ours, theirs) in enumerate(zip(expected, actual, strict=True)):
        if (found := difference(theirs, ours, f"{path}[{index}]")) is not None:
            return found
    return None


def _difference_in_dict(actual: Any, expected: Any, path: str) -> tuple[str, str, str] | None:
    keys = {(type(key), key) for key in expected}
    if keys != {(type(key), key) for key in actual}:
        return path, shown(expected), shown(actual)
    for key, ours in expected.items():
        if (found := difference(actual[key], ours, f"{path}[{shown(key, 60)}]")) is not None:
            return found
    return None


class Compared(NamedTuple):
    """The last use of `same`: what came, what should have come, and how the two were held together."""

    actual: Any
    expected: Any
    how: str = "equal"


class Same:
    """The `same` fixture. Every use counts as one comparison; a test that compares nothing has not passed."""

    def __init__(self) -> None:
        self.comparisons = 0
        self.last: Compared | None = None

    def __call__(self, actual: Any, expected: Any) -> None:
        """Both are plain values, equal in value and in type all the way down. Raises `Mismatch`."""
        self._compared(Compared(actual, expected))
        if (found := difference(actual, expected)) is not None:
            raise Mismatch(*found)

    def close(self, actual: Any, expected: float, *, relative: float = 1e-9) -> None:
        """`actual` is a float within `relative` of `expected` (and exactly it where that is 0)."""
        self._compared(Compared(actual, expected, f"close, relative={relative!r}"))
        if type(actual) is not float:
            raise Mismatch("", f"float {shown(expected)}", f"{type(actual).__name__} {shown(actual)}")
        if not math.isclose(actual, expected, rel_tol=relative, abs_tol=0.0):
            raise Mismatch("", shown(expected), shown(actual))

    def raises(self, kind: type[Exception], function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """The call raises exactly `kind`; a subclass or a sibling is another promise."""
        self._compared(Compared(None, kind, "raises"))
        try:
            answer = function(*args, **kwargs)
        except kind as error:
            if type(error) is kind:
                return
            raise Mismatch("", kind.__name__, type(error).__name__) from error
        raise Mismatch("", f"{kind.__name__} to be raised", shown(answer))

    def _compared(self, compared: Compared) -> None:
        self.comparisons += 1
        self.last = compared
