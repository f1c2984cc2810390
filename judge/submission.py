"""One user's source for one drill revision, as it travels from the web to a grader. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """`run` grades the visible tests, `submit` all of them."""

    RUN = "run"
    SUBMIT = "submit"


@dataclass(frozen=True, slots=True)
class Submission:
    """`attempt` tells the tries of one submission apart; only the newest counts."""

    id: str
    attempt: int
    drill: str
    revision: str
    source: str
    kind: Kind

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "attempt": self.attempt,
            "drill": self.drill,
            "revision": self.revision,
            "source": self.source,
            "kind": self.kind.value,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Submission":
        return cls(
            id=_typed(data, "id", str),
            attempt=_typed(data, "attempt", int),
            drill=_typed(data, "drill", str),
            revision=_typed(data, "revision", str),
            source=_typed(data, "source", str),
            kind=Kind(_typed(data, "kind", str)),
        )


def _typed(data: dict[str, Any], key: str, kind: type) -> Any:
    value = data.get(key)
    if type(value) is not kind:
        raise ValueError(f"submission: {key} is {type(value).__name__}, not {kind.__name__}")
    return value
