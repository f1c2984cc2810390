"""What was said across the wall in one example: the calls, the answers, and names for the objects between them.

Kept as the bytes that crossed, so that keeping is cheap and nothing that happens to a value later can change the
record; it becomes values when somebody reads it.
"""

import keyword
import re
from dataclasses import dataclass, replace
from typing import Any

from sandbox.guest.wire import Handle, decode

MAX_CALLS = 2_000
MAX_OCTETS = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Name:
    """An object of the guest in a transcript: the variable that a reader would keep it in."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Call:
    """One question and what came of it. `target` is "solution" or the variable of an object; `died` if nothing came."""

    number: int
    target: str
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    answer: Any = None
    raised: tuple[str, str] | None = None
    died: bool = False


class Transcript:
    """The calls since the last `clear`. `count` goes on where `calls` stops: at 2,000, or when 16 MiB are kept."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._taken: dict[str, int] = {}
        self.clear()

    def clear(self) -> None:
        """Begin an example."""
        self.count = 0
        self._octets = 0
        self._requests: list[bytes] = []
        self._answers: dict[int, bytes] = {}
        if not self._taken:
            self._names.clear()

    def asked(self, request: bytes) -> None:
        """A call leaves for the guest. Until it is answered, it counts as one that killed it."""
        self.count += 1
        whole_so_far = self.count == len(self._requests) + 1
        if whole_so_far and self.count <= MAX_CALLS and self._octets + len(request) <= MAX_OCTETS:
            self._octets += len(request)
            self._requests.append(request)

    def answered(self, answer: bytes) -> None:
        """The answer of the last call, once it is known to be well-formed."""
        if self.count == len(self._requests):
            self._octets += len(answer)
            self._answers[self.count] = answer

    def name_object(self, number: int, made_by: str) -> str:
        """The variable for a new object: the last word of what made it, with a number if that is taken."""
        words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", made_by) or ["it"]
        word = words[-1].lower()
        word = f"a_{word}" if keyword.iskeyword(word) or word == "solution" else word
        count = self._taken[word] = self._taken.get(word, 0) + 1
        self._names[number] = word if count == 1 else f"{word}{count}"
        return self._names[number]

    def forget_names(self) -> None:
        """The objects are gone, and their names free. What was said about them keeps them until `clear`."""
        self._taken.clear()

    @property
    def calls(self) -> list[Call]:
        """What was kept, as values."""
        return [self._call(number, request) for number, request in enumerate(self._requests, 1)]

    def _call(self, number: int, request: bytes) -> Call:
        _, on, name, args, *rest = decode(request, self._named)
        question = Call(number, "solution" if on is None else on.text, name, args, rest[0] if rest else {})
        if (answer := self._answers.get(number)) is None:
            return replace(question, died=True)
        match decode(answer, self._named):
            case ["raise", kind, message]:
                return replace(question, raised=(kind, message))
            case ["value", value, *_]:
                return replace(question, answer=value)
            case other:
                raise AssertionError(f"{other!r} is not an answer that the link lets in")

    def _named(self, word: Any) -> Any:
        return Name(self._names.get(word.number, f"object{word.number}")) if isinstance(word, Handle) else word
