"""Values read out of a drill.toml, each with an error that says what to change. Standard library only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")
REQUIRED = object()


class DrillError(ValueError):
    """A drill that cannot be used; names file, key, value and what to do."""

    def __init__(self, where: str, key: str, value: object, fix: str) -> None:
        super().__init__(f"{where}: {key} = {str(value)[:200]!r}: {fix}")
        self.where = where
        self.key = key
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Fields:
    """One table of a TOML file; `prefix` tells tables apart in messages, as in `group[3].`."""

    where: str
    table: Mapping[str, Any]
    prefix: str = ""

    def wrong(self, key: str, fix: str) -> DrillError:
        return DrillError(self.where, self.prefix + key, self.table.get(key), fix)

    def only(self, known: frozenset[str]) -> None:
        """A key that nobody reads is a misspelled one."""
        for key in self.table:
            if key not in known:
                raise self.wrong(key, f"is not a key here; known are {', '.join(sorted(known))}")

    def text(self, key: str, default: Any = REQUIRED) -> str:
        value = self._typed(key, str, default)
        if not value.strip() and default is REQUIRED:
            raise self.wrong(key, "say something; it is empty")
        return value

    def number(self, key: str, low: int, high: int) -> int:
        value = self._typed(key, int, REQUIRED)
        if isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(key, f"use a whole number from {low} to {high}")
        return value

    def texts(self, key: str, default: Any = REQUIRED) -> tuple[str, ...]:
        values = self._typed(key, list, default)
        if not all(isinstance(value, str) and value for value in values):
            raise self.wrong(key, "use a list of strings")
        if len(set(values)) != len(values):
            raise self.wrong(key, "name each only once")
        return tuple(values)

    def tables(self, key: str) -> "list[Fields]":
        values = self._typed(key, list, [])
        if not all(isinstance(value, dict) for value in values):
            raise self.wrong(key, f"write [[{key}]] tables")
        return [Fields(self.where, value, f"{key}[{number}].") for number, value in enumerate(values, 1)]

    def named_tables(self, key: str) -> "dict[str, Fields]":
        values = self._typed(key, dict, {})
        if not all(isinstance(value, dict) for value in values.values()):
            raise self.wrong(key, f'write [{key}."file.py"] tables')
        return {name: Fields(self.where, value, f"{key}.{name}.") for name, value in values.items()}

    def _typed(self, key: str, kind: type[T], default: Any) -> T:
        if key not in self.table:
            if default is REQUIRED:
                raise DrillError(self.where, self.prefix + key, "", f"is missing; add a {kind.__name__}")
            return default  # type: ignore[no-any-return]  # the caller's default is of `kind`
        value = self.table[key]
        if not isinstance(value, kind):
            raise self.wrong(key, f"use a {kind.__name__}, this is a {type(value).__name__}")
        return value
