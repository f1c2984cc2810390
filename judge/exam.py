"""One sitting: all declared tests of a submission, in order, each with a fresh guest child.

Theory of operation. This runs in the child that judge/horse.py forks, after it gave up its rights. A group
is told as it ends, its first failure with the calls that led to it; nothing here decides more than one test's verdict.
After a guest's death the rest of its group is not reached; when the guest as a whole is gone, nothing more is. A
failure in doubt, and a group that compared too little, are put to the reference under the same seed: what the reference
passes, the answers failed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis.errors import Flaky, HypothesisException

from judge.blame import Doubt, blame, kind
from judge.drill import Drill
from judge.edgecase import Failure, Seen, case_of
from judge.facts import VISIBLE, Group
from judge.guests import Guests
from judge.line import ChildEnd
from judge.profile import SEARCH
from judge.report import Outcome
from judge.same import Same
from judge.seat import Inner, Seat, prepare, sit
from judge.siblings import Siblings, only
from judge.verdict import Verdict
from sandbox.errors import GuestFault, SandboxError

Items = dict[tuple[str, str], list[pytest.Item]]


@dataclass(frozen=True, slots=True)
class Paper:
    """What one sitting is about."""

    drill: Drill
    source: str
    groups: tuple[Group, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Desk:
    """What a drill brings along: its collected tests by file and name, and its own modules, loaded."""

    items: Items
    siblings: Siblings

    def of(self, group: Group, test: str) -> list[pytest.Item]:
        return self.items.get(("test_visible.py" if group.key == VISIBLE else "test_hidden.py", test), [])


@dataclass(frozen=True, slots=True)
class Ended:
    """How one test ended, with what a failing case is made of."""

    outcome: Outcome
    error: BaseException | None = None
    seat: Seat | None = None
    item: pytest.Item | None = None


class Aborted(BaseException):
    """Our own trouble inside a property: as an ordinary exception it would be taken for a counterexample."""


class Exam:
    """The first pass: search, no shrinking."""

    def __init__(self, paper: Paper, desk: Desk, line: ChildEnd) -> None:
        self.paper = paper
        self.desk = desk
        self.line = line
        self.guests = Guests(line, paper.drill, paper.source, desk.siblings)
        self._seen: Seen | None = None

    def sit(self) -> None:
        """Tell the outcome of every declared test, reached or not."""
        stopped = False
        for group in self.paper.groups:
            stopped = self._sit_group(group, stopped=stopped)

    def _sit_group(self, group: Group, *, stopped: bool) -> bool:
        """Whether everything stops here."""
        outcomes: list[Outcome] = []
        first = None
        skip = stopped
        for test in group.tests:
            one = Ended(Outcome(group.key, test, None)) if skip else self._sit_test(group, test)
            outcomes.append(one.outcome)
            first = first or self._first(group, one)  # now: the next test's guest has another record
            stopped = stopped or self._stops_all(one)
            skip = skip or stopped or isinstance(one.error, GuestFault)
        outcomes = self._with_reference_counts(group, outcomes)
        self.line.tell(tell="group", group=group.key, outcomes=[outcome.to_json() for outcome in outcomes], first=first)
        return stopped

    def _stops_all(self, one: Ended) -> bool:
        return self.guests.are_gone or one.outcome.verdict in (Verdict.IMPORT_ERROR, Verdict.JUDGE_ERROR)

    def _sit_test(self, group: Group, test: str) -> Ended:
        """All parameters of one test; the first that fails is its end. A test that was not collected has no outcome
        of ours: it is the judge's error."""
        items = self.desk.of(group, test)
        comparisons = 0
        for item in items:
            error, seat = self._sit_item(item)
            comparisons += seat.same.comparisons if seat else 0
            if error is not None:
                return self._failed(Outcome(group.key, test, None, comparisons), error, seat, item)
        if not items or comparisons == 0:
            return self._compared_nothing(group, test, items)
        return Ended(Outcome(group.key, test, Verdict.ACCEPTED, comparisons))

    def _sit_item(self, item: pytest.Item) -> tuple[BaseException | None, Seat | None]:
        self._seen = None
        prepare(item, self.paper.seed, SEARCH)
        try:
            solution = self.guests.fresh()
        except (GuestFault, SandboxError) as fault:
            return fault, None
        seat = Seat(solution, self.desk.siblings, self._example)
        return sit(item, seat), seat

    def _example(self, test: Inner, values: dict[str, Any]) -> Any:
        """Each example of a property begins with no objects and an empty record. The first that fails is remembered:
        Hypothesis runs it again, and where that goes otherwise it says only that something is flaky."""
        self.guests.begin_example()
        try:
            return test(**values)
        except SandboxError as trouble:
            raise Aborted(str(trouble)) from trouble
        except HypothesisException:
            raise
        except Exception as error:
            self._seen = self._seen or seen(self.guests, error, values.get("same"))
            raise

    # --- whose fault it was

    def _failed(self, outcome: Outcome, error: BaseException, seat: Seat | None, item: pytest.Item) -> Ended:
        verdict = self._verdict(error, item)
        reason = str(error)[:2048] if verdict is Verdict.IMPORT_ERROR else f"{type(error).__name__}: {error}"[:2048]
        known = Outcome(outcome.group, outcome.test, verdict, outcome.comparisons, reason)
        return Ended(known, error, seat, item)

    def _verdict(self, error: BaseException, item: pytest.Item) -> Verdict:
        if self.guests.fate is not None and self.guests.fate.cause == "host":
            return Verdict.JUDGE_ERROR
        verdict = blame(error)
        if isinstance(verdict, Verdict):
            return verdict
        assert verdict is Doubt.ANSWER_OR_TEST
        passes = self._by_reference([item])[0]
        return Verdict.WRONG if passes else Verdict.JUDGE_ERROR

    def _compared_nothing(self, group: Group, test: str, items: list[pytest.Item]) -> Ended:
        """A test that returned early has not passed; whose doing it was, the reference tells."""
        if not items:
            return Ended(Outcome(group.key, test, Verdict.JUDGE_ERROR, 0, "was not collected"))
        passes, comparisons = self._by_reference(items)
        by_answers = passes and comparisons > 0
        verdict = Verdict.WRONG if by_answers else Verdict.JUDGE_ERROR
        return Ended(Outcome(group.key, test, verdict, 0, "compared nothing"))

    def _with_reference_counts(self, group: Group, outcomes: list[Outcome]) -> list[Outcome]:
        """Where a group passed with too few comparisons, say whether the reference makes them under this seed."""
        passed = all(outcome.verdict is Verdict.ACCEPTED for outcome in outcomes)
        if not passed or sum(outcome.comparisons for outcome in outcomes) >= group.comparisons:
            return outcomes
        items = [item for test in group.tests for item in self.desk.of(group, test)]
        short = self._by_reference(items)[1] < group.comparisons
        return [Outcome(one.group, one.test, one.verdict, one.comparisons, "", short) for one in outcomes]

    def _by_reference(self, items: Sequence[pytest.Item]) -> tuple[bool, int]:
        """Whether the reference passes these tests under the same draws, and its comparisons. Runs in this process:
        the reference is ours."""
        ends = [sit_reference(item, self.paper, self.desk) for item in items]
        return all(error is None for error, _ in ends), sum(comparisons for _, comparisons in ends)

    def _first(self, group: Group, ended: Ended) -> dict[str, Any] | None:
        """A failure's case as it was first seen, and its kind."""
        verdict = ended.outcome.verdict
        if ended.seat is None or ended.item is None or ended.error is None or verdict is None:
            return None
        if verdict is Verdict.JUDGE_ERROR:
            return None
        what = self._seen if isinstance(ended.error, Flaky) else None
        what = what or seen(self.guests, ended.error, ended.seat.same)
        case = case_of(failure_of(self.guests, group, ended.item, what), verdict)
        return {"case": case.to_json(), "kind": kind(what.error)}


def seen(guests: Guests, error: BaseException, same: Same | None) -> Seen:
    """What there is to see of a failure just now; the next call changes it."""
    assert guests.link is not None
    transcript = guests.link.transcript
    return Seen(error, tuple(transcript.calls), transcript.count, same.last if same else None)


def failure_of(guests: Guests, group: Group, item: pytest.Item, what: Seen) -> Failure:
    output = guests.ask_fate().output if group.key == VISIBLE else None
    return Failure(group, name_of(item), promise(item), what, output)


def sit_reference(
    item: pytest.Item, paper: Paper, desk: Desk, most: int | None = None
) -> tuple[BaseException | None, int]:
    """The reference in this process, in place of the submission: how it ended, and its comparisons."""
    prepare(item, paper.seed, SEARCH, most)
    seat = Seat(only(desk.siblings.reference, paper.drill.entry), desk.siblings)
    return sit(item, seat), seat.same.comparisons


def name_of(item: pytest.Item) -> str:
    """The function's name, without parameters."""
    return str(getattr(item, "originalname", None) or item.name)


def promise(item: pytest.Item) -> str:
    """The first line of a test's docstring."""
    return (getattr(item, "obj", None).__doc__ or item.name).strip().splitlines()[0]
