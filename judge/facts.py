"""The tables of a drill.toml as data: groups, kept mistakes, sources. Pure."""

from dataclasses import dataclass

from judge.fields import Fields
from judge.verdict import Verdict

VISIBLE = "visible"


@dataclass(frozen=True, slots=True)
class Group:
    """Tests that keep one promise; `comparisons` is the least number they make together."""

    key: str
    title: str
    weight: int
    class_: str
    tests: tuple[str, ...]
    comparisons: int


@dataclass(frozen=True, slots=True)
class Wrong:
    """A kept mistake: the group that refuses it, with a failing case of at most `calls` calls."""

    file: str
    group: str
    calls: int
    why: str
    source: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Source:
    """Where the drill was taken from."""

    what: str
    where: str


def group_from(table: Fields) -> Group:
    table.only(frozenset({"key", "title", "weight", "class", "tests", "comparisons"}))
    if not table.text("key").replace("-", "").isalnum() or table.text("key") == VISIBLE:
        raise table.wrong("key", f"use letters, digits and dashes, and not {VISIBLE!r}")
    return Group(
        key=table.text("key"),
        title=table.text("title"),
        weight=table.number("weight", 1, 100),
        class_=table.text("class"),
        tests=table.texts("tests"),
        comparisons=table.number("comparisons", 1, 1_000_000),
    )


def wrong_from(name: str, table: Fields) -> Wrong:
    table.only(frozenset({"group", "calls", "why", "source", "verdict"}))
    verdict = table.text("verdict", Verdict.WRONG.value)
    if verdict not in set(Verdict) - {Verdict.ACCEPTED, Verdict.JUDGE_ERROR, Verdict.CANCELLED}:
        raise table.wrong("verdict", "name a verdict that a wrong solution can get")
    return Wrong(
        file=name,
        group=table.text("group"),
        calls=table.number("calls", 0, 10_000),
        why=table.text("why"),
        source=table.text("source"),
        verdict=Verdict(verdict),
    )
