"""Make a module of a submission, and say in one sentence why where that does not work."""

import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

from .blame import SOURCE_NAME, bounded, line_in_source, message_of
from .words import name_of


class WouldNotLoad(Exception):
    """`kind` is one of syntax, import, raised, exit, missing_entry."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = bounded(message)


def load(source: str, entry: Sequence[str], contract: str | None) -> dict[str, Any]:
    """The entry symbols of a submission, by name. The drill's contract is what it can import as `contract`."""
    if contract is not None:
        module = _new_module("contract", "contract.py")
        exec(compile(contract, "contract.py", "exec", dont_inherit=True), module.__dict__)
    code = _compiled(source)
    module = _new_module("solution", SOURCE_NAME)
    _run(code, module)
    missing = [name for name in entry if not callable(module.__dict__.get(name))]
    if missing:
        raise WouldNotLoad("missing_entry", _what_is_there(missing, module.__dict__))
    return {name: module.__dict__[name] for name in entry}


def _new_module(name: str, file: str) -> ModuleType:
    """Registered under its name: dataclasses and typing look their module up there."""
    module = ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    return module


def _compiled(source: str) -> CodeType:
    try:
        # An editor's byte order mark is no part of the text; an encoding cookie means nothing in text.
        return compile(source.removeprefix("\ufeff"), SOURCE_NAME, "exec", dont_inherit=True)
    except SyntaxError as error:
        text = f": {error.text.strip()[:200]}" if error.text else ""
        raise WouldNotLoad("syntax", f"{error.msg}{_place(error.lineno)}{text}") from None
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        raise WouldNotLoad("syntax", f"{message_of(error) or 'too deeply nested'}{_place(None)}") from None


def _run(code: CodeType, module: ModuleType) -> None:
    try:
        exec(code, module.__dict__)
    except SystemExit as error:
        raise WouldNotLoad("exit", _sentence("the module ends its process while it loads", error)) from None
    except ImportError as error:
        raise WouldNotLoad("import", _sentence(message_of(error), error)) from None
    except BaseException as error:
        raise WouldNotLoad("raised", _sentence(f"{name_of(type(error))}: {message_of(error)}", error)) from None


def _sentence(what: str, error: BaseException) -> str:
    return what + _place(line_in_source(error.__traceback__))


def _place(line: int | None) -> str:
    return f" ({SOURCE_NAME})" if line is None else f" ({SOURCE_NAME}, line {line})"


def _what_is_there(missing: Sequence[str], names: dict[str, Any]) -> str:
    defined = [
        name
        for name, value in names.items()
        if type(name) is str and not name.startswith("_") and getattr(value, "__module__", None) == "solution"
    ]
    there = ", ".join(sorted(defined)[:20]) or "no class or function"
    return f"{', '.join(missing)} must be defined as a class or function; the module defines {there}"
