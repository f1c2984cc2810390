"""Grading: a submission and a keeper in, a report and failing cases out. The trunk; everything else hangs on it.

`grading` yields what happens as it happens, so that whoever asked can pass it on; nothing here knows to whom. The first
pass decides and its verdict is final; the second, on a guest of its own, labels the failures and makes them small.
"""

import hashlib
import os
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from judge.confine import drop_rights
from judge.drill import Drill
from judge.exam import Desk, Exam, Paper
from judge.facts import VISIBLE
from judge.hall import Hall, at_cold_desk
from judge.horse import watch
from judge.line import ChildEnd
from judge.report import Case, GroupResult, Outcome, PublicReport, Shape, conclude, concluded
from judge.retake import First, Retake
from judge.submission import Submission
from judge.verdict import Verdict
from sandbox.errors import KeeperGone, NoRoom, SandboxError
from sandbox.lease import Facts, Keeper, Lease

TRIES = 2  # at once, on a fresh guest; further attempts are the recorder's, and both together end within RQ's clock
WAIT_SLICE_S = 5.0
OUR_MARGIN_S = 15.0


@dataclass(frozen=True, slots=True)
class Terms:
    """How one grading is held. `cpu_s` is within the class's fence; `seed_key` makes draws differ between hosts."""

    cpu_s: float
    seed_key: bytes = b""
    shrink_s: float = 20.0
    wait_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Tick:
    """Still at it."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something of ours went wrong; for the log."""

    text: str


@dataclass(frozen=True, slots=True)
class GroupEnded:
    """One group of the first pass."""

    result: GroupResult


@dataclass(frozen=True, slots=True)
class Concluded:
    """The verdict. It does not change any more."""

    report: PublicReport


@dataclass(frozen=True, slots=True)
class CaseFound:
    """One group's failing case, as small as it got."""

    case: Case


@dataclass(frozen=True, slots=True)
class Graded:
    """All of it. `cases` are those of hidden groups; visible ones are in the report."""

    report: PublicReport
    cases: tuple[Case, ...]


Progress = Tick | Trouble | GroupEnded | Concluded | CaseFound | Graded


def seed_of(key: bytes, revision: str, source: str) -> int:
    """Same bytes, same draws; other bytes, other draws; and nobody without the key can tell which."""
    digest = hashlib.blake2b(revision.encode() + b"\0" + source.encode(), key=key[:64], digest_size=8).digest()
    return int.from_bytes(digest, "big")


def grade(drill: Drill, submission: Submission, keeper: Keeper, terms: Terms, hall: Hall | None = None) -> Graded:
    """The whole grading in one call, for tests and the gate."""
    *_, last = grading(drill, submission, keeper, terms, hall)
    assert isinstance(last, Graded)
    return last


def grading(
    drill: Drill, submission: Submission, keeper: Keeper, terms: Terms, hall: Hall | None = None
) -> Iterator[Progress]:
    """Everything that happens, in order; the last is `Graded`. Without a hall the tests are collected for this once."""
    seed = seed_of(terms.seed_key, drill.revision, submission.source)
    paper = Paper(drill, submission.source, drill.groups_of(submission.kind), seed)
    return Grading(paper, keeper, terms, hall).run()


class Grading:
    """One submission on its way."""

    def __init__(self, paper: Paper, keeper: Keeper, terms: Terms, hall: Hall | None) -> None:
        self.paper = paper
        self.keeper = keeper
        self.terms = terms
        self.desk = hall.desk(paper.drill) if hall else None
        self.cpu_used_s = 0.0
        self.troubles: list[str] = []

    def verdict(self) -> PublicReport:
        """The first pass alone."""
        steps = self.first_pass()
        while True:
            try:
                if isinstance(step := next(steps), Trouble):
                    self.troubles.append(step.text)
            except StopIteration as stop:
                return stop.value[0]  # type: ignore[no-any-return]  # what a generator returns is not typed here

    def run(self) -> Iterator[Progress]:
        for _ in range(TRIES):
            report, firsts = yield from self.first_pass()
            if report.verdict is not Verdict.JUDGE_ERROR:
                break
        yield Concluded(report)
        cases = yield from self._second_pass(firsts)
        found = {case.group: (case.label, Shape.of(case.calls)) for case in cases}
        visible = [case for case in cases if case.group == VISIBLE]
        hidden = tuple(case for case in cases if case.group != VISIBLE)
        yield Graded(report.with_cases(visible, found), hidden)

    def first_pass(self) -> Generator[Progress, None, tuple[PublicReport, list[First]]]:
        """The verdict, and each failing group's first failure."""
        outcomes: list[Outcome] = []
        firsts: list[First] = []
        facts = None
        try:
            with (yield from self._lease(self.terms.cpu_s)) as lease:
                facts = lease.facts
                sitting = self._sitting(lambda desk, line: Exam(self.paper, desk, line).sit())
                for message in watch(lease, sitting, self.paper.drill.limits.wall_s + OUR_MARGIN_S):
                    yield self._heard(message, outcomes, firsts)
                self.cpu_used_s = lease.fate().cpu_s
        except SandboxError as error:
            yield Trouble(f"{type(error).__name__}: {error}")
        return self._report(outcomes, firsts, facts), firsts

    def _heard(self, message: dict[str, Any], outcomes: list[Outcome], firsts: list[First]) -> Progress:
        if message["tell"] == "trouble":
            return Trouble(message["text"])
        if message["tell"] != "group":
            return Tick()
        group = next(group for group in self.paper.groups if group.key == message["group"])
        new = [Outcome.from_json(outcome) for outcome in message["outcomes"]]
        outcomes += new
        if (first := message["first"]) is not None:
            firsts.append(First(group, Case.from_json(first["case"]), first["kind"]))
        ours = [f"{one.test}: {one.reason}" for one in new if one.verdict is Verdict.JUDGE_ERROR]
        return Trouble(f"group {group.key}: {ours[0]}") if ours else GroupEnded(concluded(group, outcomes))

    def _report(self, outcomes: list[Outcome], firsts: list[First], facts: Facts | None) -> PublicReport:
        report = conclude(self.paper.drill.revision, self.paper.groups, outcomes)
        visible = tuple(first.case for first in firsts if first.group.key == VISIBLE)
        return replace(report, visible_cases=visible, environment=self._environment(facts))

    def _environment(self, facts: Facts | None) -> dict[str, Any]:
        limits = {**asdict(self.paper.drill.limits), "cpu_s": round(self.terms.cpu_s, 2)}
        return {
            "sandbox": facts.sandbox if facts else None,
            "python": facts.python if facts else None,
            "limits": limits,
        }

    def _second_pass(self, firsts: list[First]) -> Generator[Progress, None, list[Case]]:
        """A case for each first failure: the smaller one if there was time, else as it was first seen."""
        cases: dict[str, Case] = {}
        try:
            if firsts and self.terms.shrink_s > 0:
                yield from self._retake(firsts, cases)
        except SandboxError as error:
            yield Trouble(f"{type(error).__name__}: {error}")
        for first in firsts:
            if first.group.key not in cases:
                cases[first.group.key] = replace(first.case, note=first.case.note or "This case was not made smaller.")
                yield CaseFound(cases[first.group.key])
        return [cases[first.group.key] for first in firsts]

    def _retake(self, firsts: list[First], cases: dict[str, Case]) -> Iterator[Progress]:
        limits = self.paper.drill.limits
        with (yield from self._lease(limits.cpu_s)) as lease:
            sitting = self._sitting(
                lambda desk, line: Retake(self.paper, desk, line, self.terms.shrink_s).sit(firsts),
            )
            for message in watch(lease, sitting, self.terms.shrink_s + OUR_MARGIN_S):
                if message["tell"] == "case":
                    cases[message["group"]] = case = Case.from_json(message["case"])
                    yield CaseFound(case)
                else:
                    yield Trouble(message["text"]) if message["tell"] == "trouble" else Tick()

    def _sitting(self, then: Callable[[Desk, ChildEnd], None]) -> Callable[[ChildEnd], None]:
        """What the tests' process does: give up its rights, at the last moment at which all files have been read."""
        horse, desk, drill = os.getpid(), self.desk, self.paper.drill

        def begin(desk: Desk, line: ChildEnd) -> None:
            drop_rights(horse)
            then(desk, line)

        def sit(line: ChildEnd) -> None:
            if desk is not None:
                begin(desk, line)
            else:
                at_cold_desk(drill, lambda cold: begin(cold, line))

        return sit

    def _lease(self, cpu_s: float) -> Generator[Progress, None, Lease]:
        """Ask in slices, so that whoever watches us hears that we wait. A keeper may be starting again."""
        limits = self.paper.drill.limits
        until = time.monotonic() + self.terms.wait_s
        while True:
            try:
                return self.keeper.lease(self.paper.drill.limit_class, cpu_s, limits.wall_s, WAIT_SLICE_S)
            except (NoRoom, KeeperGone) as error:
                if time.monotonic() > until:
                    raise
                yield Trouble(f"waiting for a guest: {error}")
                time.sleep(0.5)
