"""Stand-ins for what stays in the guest: a test uses them like the submission's own module and objects.

Only calls of public names cross. A name that begins with an underscore never does, since printers, debuggers and
copiers ask every object for such names, and a stranger shall not be the one who answers them.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from sandbox.guest.wire import Handle


class Caller(Protocol):
    """Whoever can carry a call into the guest."""

    def call(self, handle: Handle | None, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...


class Proxy:
    """One object in the guest. Equal to itself alone; its attributes are methods."""

    __slots__ = ("_caller", "_handle", "_label")

    def __init__(self, caller: Caller, handle: Handle, label: str) -> None:
        self._caller = caller
        self._handle = handle
        self._label = label

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(f"{name} does not cross the wall")
        return _method(self._caller, self._handle, name)

    def __repr__(self) -> str:
        return self._label


class ModuleProxy:
    """The submission as a module: the drill's entry symbols, and nothing beside them."""

    __slots__ = ("_caller", "_entry")

    def __init__(self, caller: Caller, entry: Sequence[str]) -> None:
        self._caller = caller
        self._entry = tuple(entry)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or name not in self._entry:
            raise AttributeError(f"{name} is not an entry of this drill: {', '.join(self._entry)}")
        return _method(self._caller, None, name)

    def __repr__(self) -> str:
        return "solution"


def handle_of(proxy: Proxy) -> Handle:
    """What a proxy is on the wire."""
    return proxy._handle


def _method(caller: Caller, handle: Handle | None, name: str) -> Callable[..., Any]:
    def method(*args: Any, **kwargs: Any) -> Any:
        return caller.call(handle, name, args, kwargs)

    return method
