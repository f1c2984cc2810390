"""What a grading concludes. Everything that decides a verdict is here, and it is pure.

Absence is never success: the outcomes must be exactly the declared tests, each group must have made its comparisons,
and `accepted` needs every group passed. A report holds only what is public; what is locked is in a `Case` beside it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from judge.facts import Group
from judge.verdict import Verdict

SCHEMA = 1


class State(StrEnum):
    """How a group ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not_reached"


class Label(StrEnum):
    """What repeating a failure in a fresh process said. It never clears one."""

    REPRODUCIBLE = "reproducible"
    ONLY_AFTER_OTHERS = "only_after_others"
    NOT_DETERMINISTIC = "not_deterministic"


class Shape(StrEnum):
    """How many calls the failing case has, in three sizes: all that is public of it."""

    SMALL = "1-3"
    MEDIUM = "4-10"
    LARGE = "more"

    @classmethod
    def of(cls, calls: int) -> "Shape":
        return cls.SMALL if calls <= 3 else cls.MEDIUM if calls <= 10 else cls.LARGE


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one test ended: `accepted`, a verdict, or None for not reached. `reason` stays in the grader's log, but for
    `import_error`, whose reason is the user's own error message. `reference_short`: the reference, too, compared less
    than declared under this seed, so the drill is at fault."""

    group: str
    test: str
    verdict: Verdict | None
    comparisons: int = 0
    reason: str = ""
    reference_short: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "test": self.test,
            "verdict": self.verdict,
            "comparisons": self.comparisons,
            "reason": self.reason,
            "reference_short": self.reference_short,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Outcome":
        verdict = data["verdict"]
        return cls(**{**data, "verdict": None if verdict is None else Verdict(verdict)})


@dataclass(frozen=True, slots=True)
class GroupResult:
    """How one group ended, as everyone may see it."""

    key: str
    title: str
    weight: int
    class_: str
    state: State
    verdict: Verdict | None = None
    label: Label | None = None
    shape: Shape | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "title": self.title,
            "weight": self.weight,
            "class": self.class_,
            "state": self.state.value,
            "verdict": self.verdict and self.verdict.value,
            "label": self.label and self.label.value,
            "shape": self.shape and self.shape.value,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "GroupResult":
        return cls(
            key=data["key"],
            title=data["title"],
            weight=data["weight"],
            class_=data["class"],
            state=State(data["state"]),
            verdict=Verdict(data["verdict"]) if data["verdict"] else None,
            label=Label(data["label"]) if data["label"] else None,
            shape=Shape(data["shape"]) if data["shape"] else None,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a failing case and what came of it; `state` is ok, raised, died or differs."""

    n: int
    call: str
    answer: str
    state: str

    def to_json(self) -> dict[str, Any]:
        return {"n": self.n, "call": self.call, "answer": self.answer, "state": self.state}


@dataclass(frozen=True, slots=True)
class Case:
    """One promise broken by a small input: the calls, what came, what should have come, and a file that replays it."""

    group: str
    title: str
    test: str
    promise: str
    verdict: Verdict
    sentence: str
    steps: tuple[Step, ...]
    first_bad_step: int
    expected: str | None
    actual: str | None
    path: str
    label: Label | None
    calls: int
    shrunk_from: int | None
    note: str | None
    output: str | None
    repro: str

    def to_json(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {
            "schema": SCHEMA,
            **plain,
            "verdict": self.verdict.value,
            "label": self.label and self.label.value,
            "steps": [step.to_json() for step in self.steps],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Case":
        known = {name: data[name] for name in cls.__slots__}
        known["verdict"] = Verdict(known["verdict"])
        known["label"] = Label(known["label"]) if known["label"] else None
        known["steps"] = tuple(Step(**step) for step in known["steps"])
        return cls(**known)


@dataclass(frozen=True, slots=True)
class SealedCase:
    """A failing case that only the unlock path can open."""

    group: str
    sealed: bytes


@dataclass(frozen=True, slots=True)
class PublicReport:
    """All that everyone may see of a grading: no times, no counts, nothing the guest wrote."""

    verdict: Verdict
    message: str | None
    revision: str
    groups: tuple[GroupResult, ...]
    visible_cases: tuple[Case, ...] = ()
    environment: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "verdict": self.verdict.value,
            "message": self.message,
            "revision": self.revision,
            "groups": [group.to_json() for group in self.groups],
            "visible_cases": [case.to_json() for case in self.visible_cases],
            "environment": dict(self.environment or {}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "PublicReport":
        return cls(
            verdict=Verdict(data["verdict"]),
            message=data["message"],
            revision=data["revision"],
            groups=tuple(GroupResult.from_json(group) for group in data["groups"]),
            visible_cases=tuple(Case.from_json(case) for case in data["visible_cases"]),
            environment=data["environment"],
        )

    def with_cases(
        self, visible: Sequence[Case], found: Mapping[str, tuple[Label | None, Shape | None]]
    ) -> "PublicReport":
        """The same verdict and states, with what the second pass learned: labels, sizes, visible cases."""
        groups = tuple(
            replace(group, label=found[group.key][0], shape=found[group.key][1]) if group.key in found else group
            for group in self.groups
        )
        return replace(self, groups=groups, visible_cases=tuple(visible))


MESSAGES = {
    Verdict.JUDGE_ERROR: "The judge could not finish. This is not your fault and does not count.",
}


def conclude(revision: str, declared: Sequence[Group], outcomes: Sequence[Outcome]) -> PublicReport:
    """The report of a first pass: outcomes that are not exactly the declared tests are the judge's error."""
    tests = [(group.key, test) for group in declared for test in group.tests]
    complete = Counter(tests) == Counter((outcome.group, outcome.test) for outcome in outcomes) and bool(tests)
    groups = tuple(concluded(group, outcomes) for group in declared)
    verdict = _verdict(groups, outcomes) if complete else Verdict.JUDGE_ERROR
    return PublicReport(verdict, _message(verdict, outcomes), revision, groups)


def concluded(group: Group, outcomes: Iterable[Outcome]) -> GroupResult:
    """How one group ended. A test without an outcome was not reached."""
    by_test = {outcome.test: outcome for outcome in outcomes if outcome.group == group.key}
    known = [by_test.get(test) or Outcome(group.key, test, None) for test in group.tests]
    state, verdict = _state(group, known)
    return GroupResult(group.key, group.title, group.weight, group.class_, state, verdict)


def _state(group: Group, outcomes: Sequence[Outcome]) -> tuple[State, Verdict | None]:
    for outcome in outcomes:
        if outcome.verdict is Verdict.IMPORT_ERROR:
            return State.NOT_REACHED, None
        if outcome.verdict is Verdict.JUDGE_ERROR:
            return State.NOT_REACHED, Verdict.JUDGE_ERROR  # never shown as failed: it is not the user's
        if outcome.verdict not in (None, Verdict.ACCEPTED):
            return State.FAILED, outcome.verdict
    if any(outcome.verdict is None for outcome in outcomes):
        return State.NOT_REACHED, None
    if sum(outcome.comparisons for outcome in outcomes) < group.comparisons:
        if any(outcome.reference_short for outcome in outcomes):
            return State.NOT_REACHED, Verdict.JUDGE_ERROR
        return State.FAILED, Verdict.WRONG
    return State.PASSED, None


def _verdict(groups: Sequence[GroupResult], outcomes: Sequence[Outcome]) -> Verdict:
    if any(outcome.verdict is Verdict.IMPORT_ERROR for outcome in outcomes):
        return Verdict.IMPORT_ERROR
    for group in groups:
        if group.verdict is not None:
            return group.verdict
    if all(group.state is State.PASSED for group in groups):
        return Verdict.ACCEPTED
    return Verdict.JUDGE_ERROR  # something was not reached, and nothing says why


def _message(verdict: Verdict, outcomes: Sequence[Outcome]) -> str | None:
    if verdict is Verdict.IMPORT_ERROR:
        return next(outcome.reason for outcome in outcomes if outcome.verdict is Verdict.IMPORT_ERROR)
    return MESSAGES.get(verdict)
