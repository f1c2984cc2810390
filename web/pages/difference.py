"""Pages: where two texts first part. Pure."""

from dataclasses import dataclass

# Enough of what both have in common to find one's bearings in a long value.
CONTEXT_CHARS = 60


@dataclass(frozen=True, slots=True)
class Parted:
    """One text cut in three: what is the same before, what differs, what is the same after."""

    before: str
    differs: str
    after: str


def part(expected: str, actual: str) -> tuple[Parted, Parted]:
    """Cut both texts at their first and after their last difference."""
    head = _common(expected, actual)
    tail = _common(expected[head:][::-1], actual[head:][::-1])
    return _cut(expected, head, tail), _cut(actual, head, tail)


def _cut(text: str, head: int, tail: int) -> Parted:
    end = len(text) - tail
    before, after = text[:head], text[end:]
    if len(before) > 2 * CONTEXT_CHARS:
        before = "… " + before[-CONTEXT_CHARS:]
    if len(after) > 2 * CONTEXT_CHARS:
        after = after[:CONTEXT_CHARS] + " …"
    return Parted(before, text[head:end], after)


def _common(one: str, other: str) -> int:
    """How many characters both begin with, cut back to a whole word so that `12` and `13` differ as wholes."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    while count > 0 and _splits_word(one, count) | _splits_word(other, count):
        count -= 1
    return count


def _splits_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
