"""A failing case as a test file for the user's own workspace: the same calls, and the check that failed. Pure.

Calls before the last check are repeated as they went: one that raised there was meant to. Where the test compared
something made of several answers, only this is known: with these answers it fails. So the file then refuses the answer
that was given, which a corrected solution no longer gives.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from judge.literal import arguments, expression, function, literal, statement
from judge.same import Compared
from sandbox.guest.wire import CROSSING
from sandbox.transcript import Call, Name

MAX_CHARS = 60_000
CROSSING_NAMES = frozenset(kind.__name__ for kind in CROSSING)
MODULE = "solution"


class Check(Enum):
    """How the replay ends."""

    COMPARES = "the answer of one call is compared"
    RAISES = "the last call should have raised"
    DERIVED = "something made of the answers is compared"
    DIES = "the last call itself fails"


@dataclass(frozen=True, slots=True)
class Ending:
    """`bad` is the number of the call in question; `comment` says what went wrong there."""

    check: Check
    bad: int
    last: Compared | None
    comment: str


@dataclass(frozen=True, slots=True)
class Heading:
    """What the file says of itself."""

    title: str
    test: str
    promise: str


def replay(heading: Heading, calls: Sequence[Call], ending: Ending) -> str:
    """A runnable pytest file; where the case is too large for one, a file that says so and skips."""
    lines = [line for call in calls for line in _lines(call, ending)]
    lines += _last_lines(calls, ending)
    body = textwrap.indent("\n".join(lines or ["solution  # it fails before any call"]), "    ")
    if len(body) > MAX_CHARS:
        body = "    pytest.skip('this case is too large to be written down')"
    return _head(heading, body) + body + "\n"


def _head(heading: Heading, body: str) -> str:
    fixtures = "solution, same, drill" if "drill.contract." in body else "solution, same"
    docstring = _commented(f"{heading.title}. {heading.promise}").replace("# ", "", 1).replace("\n# ", "\n")
    imports = "import pytest\n\n\n" if "pytest." in body else "\n"
    text = docstring.replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""\n\n{imports}def {heading.test}_case({fixtures}):\n'


def _commented(text: str) -> str:
    words = " ".join(text.split())
    return "\n".join(f"# {line}" for line in textwrap.wrap(words, 110, break_long_words=False)) or "#"


def _lines(call: Call, ending: Ending) -> Iterator[str]:
    """One call of the record, but for the check itself."""
    text = statement(call, MODULE)
    is_bad = call.number == ending.bad
    if is_bad and ending.check is Check.COMPARES:
        yield f"answer = {text}"
    elif is_bad and ending.check is Check.RAISES:
        kind = getattr(ending.last and ending.last.expected, "__name__", "Exception")
        yield _commented(ending.comment)
        yield _raises(kind, call)
    elif is_bad and ending.check is Check.DIES:
        yield _commented(ending.comment)
        yield text
    elif call.raised is not None and call.raised[0] in CROSSING_NAMES:
        yield _raises(call.raised[0], call)
    elif call.raised is not None:
        yield f"with pytest.raises(Exception):  # {call.raised[0]}"
        yield f"    {expression(call, MODULE)}"
    elif is_bad and ending.check is Check.DERIVED and not isinstance(call.answer, Name):
        yield f"answer = {text}"
    else:
        yield text


def _raises(kind: str, call: Call) -> str:
    given = arguments(call)
    return f"same.raises({kind}, {function(call, MODULE)}{', ' + given if given else ''})"


def _last_lines(calls: Sequence[Call], ending: Ending) -> Iterator[str]:
    bad = next((call for call in calls if call.number == ending.bad), None)
    if ending.check is Check.COMPARES and ending.last is not None:
        expected = literal(ending.last.expected)
        yield _commented(ending.comment)
        if ending.last.how.startswith("close"):
            yield f"same.close(answer, {expected}{ending.last.how.removeprefix('close')})"
        else:
            yield f"same(answer, {expected})"
    elif ending.check is Check.DERIVED:
        yield _commented(ending.comment)
        if bad is not None and bad.raised is None and not isinstance(bad.answer, Name):
            yield f"assert answer != {literal(bad.answer)}, 'the answer that the judge refused'"
