"""The words of the wire: what may cross the wall, and how much of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

MAX_FRAME: Final = 8 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_NODES: Final = 200_000
MAX_ENTRIES: Final = 10_000
MAX_INT_BITS: Final = 4096
MAX_DIMENSIONS: Final = 16

# Exceptions that cross by exact name. Anything else becomes one class of ours, so no name is ever looked up.
CROSSING: Final[tuple[type[Exception], ...]] = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    LookupError,
    ArithmeticError,
    ZeroDivisionError,
    OverflowError,
    RuntimeError,
    NotImplementedError,
    MemoryError,
)

ITEM_BYTES: Final[dict[str, int]] = {
    **dict.fromkeys(("bool", "int8", "uint8"), 1),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), 2),
    **dict.fromkeys(("int32", "uint32", "float32"), 4),
    **dict.fromkeys(("int64", "uint64", "float64"), 8),
}


@dataclass(frozen=True, slots=True)
class Handle:
    """The name of an object that stays inside the guest."""

    number: int


@dataclass(frozen=True, slots=True)
class Record:
    """An instance of one of the drill's dataclasses: its name and its stored fields."""

    name: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Array:
    """An array as plain data; element `[i, j]` lies at byte `i * strides[0] + j * strides[1]` of `data`."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    data: bytes


class WireError(Exception):
    """A value or a byte string that is not in the vocabulary; `path` leads to it inside the value."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem

    def under(self, step: str) -> "WireError":
        """The same problem, seen from one level further out."""
        return WireError(step + self.path, self.problem)


Foreign = Callable[[Any], Any]


def name_of(kind: type) -> str:
    """The name of a class, at most 128 characters, read so that its metaclass has no say."""
    return str.__getitem__(type.__dict__["__name__"].__get__(kind), slice(128))


class Room:
    """What one value may still use, and who turns foreign types into words of the wire (or back)."""

    depth = MAX_DEPTH
    nodes = MAX_NODES
    entries = MAX_ENTRIES
    octets = MAX_FRAME

    def __init__(self, foreign: Foreign | None) -> None:
        self.foreign = foreign

    def enter(self, count: int) -> None:
        """Open a container of `count` values; the caller closes it by `depth += 1`."""
        self.depth -= 1
        self.nodes -= count
        if self.depth < 0:
            raise WireError("", f"nested more than {MAX_DEPTH} deep")
        if self.nodes < 0:
            raise WireError("", f"more than {MAX_NODES} values")

    def enter_hashed(self, count: int, values_each: int) -> None:
        """Open a set or dict; its entries are charged over the whole value, since many small ones add up."""
        self.entries -= count
        if self.entries < 0:
            raise WireError("", f"more than {MAX_ENTRIES} entries of dicts and sets")
        self.enter(count * values_each)

    def take(self, octets: int) -> None:
        """Charge bytes before they are copied."""
        self.octets -= octets
        if self.octets < 0:
            raise WireError("", f"larger than {MAX_FRAME} bytes")
