"""Pages: a submission as its result panel shows it. Pure: dicts from the desk in, rows for the template out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from web.pages.words import Words, of_verdict

VISIBLE = {"key": "visible", "title": "The visible tests"}
SIGNS = {"passed": "✓", "failed": "✗", "not_reached": "–", "waiting": "·"}
WORDS = {"passed": "passed", "failed": "failed", "not_reached": "not reached", "waiting": "waiting"}
HEADLINES = {"queued": "Waiting for a grader", "running": "Running"}


@dataclass(frozen=True, slots=True)
class Row:
    """One group of tests: how it went, and how much of its failing case may be seen."""

    key: str
    title: str
    state: str
    sign: str
    word: str
    shape: str | None
    label: str | None
    case: str

    @property
    def failed(self) -> bool:
        """Whether there is something to explain."""
        return self.state == "failed"


@dataclass(frozen=True, slots=True)
class Panel:
    """Everything the result panel says, in the order it says it."""

    headline: str
    sentence: str
    tone: str
    sign: str
    finished: bool
    tally: str
    rows: tuple[Row, ...]


def panel_of(submission: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> Panel:
    """The panel of one submission; `groups` are the drill's own, for the rows that have no result yet."""
    finished = submission["state"] == "finished"
    rows = _rows(submission, () if finished else _expected(submission["kind"], groups))
    words = _headline(submission)
    return Panel(words.headline, words.sentence, words.tone, words.sign, finished, _tally(rows), rows)


def _headline(submission: Mapping[str, Any]) -> Words:
    if submission["verdict"]:
        return of_verdict(submission["verdict"], submission["kind"])
    return Words(HEADLINES.get(submission["state"], "Running"), "running", "", "busy", "·")


def _expected(kind: str, groups: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    return (VISIBLE,) if kind == "run" else (VISIBLE, *groups)


def _rows(submission: Mapping[str, Any], expected: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
    """Known results in the drill's order, then rows that still wait; an unknown key keeps its own place at the end."""
    known = {group["key"]: group for group in submission.get("groups") or ()}
    order = [group["key"] for group in expected]
    order += [key for key in known if key not in order]
    titles = {group["key"]: group["title"] for group in expected}
    return tuple(_row(known.get(key) or {"key": key, "title": titles[key], "state": "waiting"}) for key in order)


def _row(group: Mapping[str, Any]) -> Row:
    state = group["state"]
    verdict = group.get("verdict")
    word = of_verdict(verdict).short if state == "failed" and verdict else WORDS[state]
    title = VISIBLE["title"] if group["key"] == "visible" else group["title"]
    return Row(
        group["key"],
        title,
        state,
        SIGNS[state],
        word,
        group.get("shape"),
        group.get("label"),
        group.get("case", "none"),
    )


def _tally(rows: Sequence[Row]) -> str:
    passed = sum(row.state == "passed" for row in rows)
    return f"{passed} of {len(rows)} groups pass" if len(rows) > 1 else ""
