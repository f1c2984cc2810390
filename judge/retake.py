"""The second pass: each group's failure repeated, labelled and made small. It changes no verdict.

Theory of operation. The first pass ran all examples of a property in one process of the guest; here each example gets a
fresh one, so a case that is found here fails alone. A guest's death is an ordinary exception here, or Hypothesis would
stop at the first and never shrink. Only failures of the same kind as the first count, so that shrinking cannot slip
from one mistake to another. What cannot be found again alone is repeated as in the first pass, and labelled by how that
ends. Time is short and bounded: when it is over, the smallest case seen so far is the case.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import hypothesis
import pytest
from hypothesis.errors import Flaky, HypothesisException

from judge.blame import kind
from judge.edgecase import Seen, case_of
from judge.exam import Aborted, Desk, Paper, failure_of, seen
from judge.facts import Group
from judge.guests import Guests
from judge.line import ChildEnd
from judge.profile import SEARCH, SEARCH_AND_SHRINK
from judge.report import Case, Label
from judge.seat import Inner, Seat, is_property, prepare, sit
from judge.verdict import Verdict
from sandbox.errors import GuestFault, SandboxError

NOT_SHRUNK = {
    Verdict.TIMEOUT: "A timeout is not made smaller: every try would cost the whole limit.",
    Verdict.IMPORT_ERROR: "The source did not load.",
}


@dataclass(frozen=True, slots=True)
class First:
    """A group's first failure, as the first pass saw it."""

    group: Group
    case: Case
    kind: str


class OutOfTime(BaseException):
    """The time for this case is used up."""


class Fell(Exception):
    """A guest's death as an ordinary exception."""

    def __init__(self, fault: GuestFault) -> None:
        super().__init__(fault.reason)
        self.fault = fault


class Retake:
    """All failures of one submission within `seconds`."""

    def __init__(self, paper: Paper, desk: Desk, line: ChildEnd, seconds: float) -> None:
        self.paper = paper
        self.desk = desk
        self.line = line
        self.until = time.monotonic() + seconds
        self.guests = Guests(line, paper.drill, paper.source, desk.siblings)

    def sit(self, failures: Sequence[First]) -> None:
        for left, first in zip(range(len(failures), 0, -1), failures, strict=True):
            deadline = time.monotonic() + (self.until - time.monotonic()) / left
            case = self._case(first, deadline)
            self.line.tell(tell="case", group=first.group.key, case=case.to_json())

    def _case(self, first: First, deadline: float) -> Case:
        if first.case.verdict in NOT_SHRUNK:
            return replace(first.case, note=NOT_SHRUNK[first.case.verdict])
        for item in self.desk.of(first.group, first.case.test):
            try:
                if (case := Trial(self, first, item, deadline).case()) is not None:
                    return case
            except (GuestFault, SandboxError):
                return replace(
                    first.case, note="No guest could be had to repeat this case; it is as it was first seen."
                )
        return replace(first.case, label=Label.NOT_DETERMINISTIC, note="Repeated, the same test passed.")


class Trial:
    """One failure, tried again until it is labelled."""

    def __init__(self, retake: Retake, first: First, item: pytest.Item, deadline: float) -> None:
        self.retake = retake
        self.guests = retake.guests
        self.first = first
        self.item = item
        self.deadline = deadline
        self.best: Seen | None = None

    def case(self) -> Case | None:
        """None where the test passes now."""
        alone, label = self._alone()
        if alone is not None:
            return self._finished(alone, label)
        if not is_property(self.item):
            return None
        together = self._together()
        return self._finished(together, Label.ONLY_AFTER_OTHERS) if together else None

    def _alone(self) -> tuple[Seen | None, Label]:
        """Search and shrink with a fresh guest child for each example."""
        prepare(self.item, self.retake.paper.seed, SEARCH_AND_SHRINK)
        seat = self._seat(self._fresh_example)
        error = sit(self.item, seat)
        if isinstance(error, Flaky):
            return self.best, Label.NOT_DETERMINISTIC
        error = error.fault if isinstance(error, Fell) else error
        if error is None or self._is_other(error):  # nothing found, or stopped by us
            return self.best, Label.REPRODUCIBLE
        return seen(self.guests, error, seat.same), Label.REPRODUCIBLE

    def _together(self) -> Seen | None:
        """As in the first pass; the record goes on over all examples, since it is all of them that fail."""
        prepare(self.item, self.retake.paper.seed, SEARCH)
        found: list[Seen] = []

        def around(test: Inner, values: dict[str, Any]) -> None:
            try:
                test(**values)
            except HypothesisException:
                raise
            except (GuestFault, Exception) as error:
                found.append(seen(self.guests, error, values.get("same")))
                raise

        sit(self.item, self._seat(around))
        return found[0] if found else None

    def _seat(self, around: Any) -> Seat:
        return Seat(self.guests.fresh(), self.retake.desk.siblings, around)

    def _fresh_example(self, test: Inner, values: dict[str, Any]) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfTime
        try:
            test(**{**values, "solution": self.guests.fresh()} if "solution" in values else values)
        except SandboxError as trouble:
            raise Aborted(str(trouble)) from trouble
        except HypothesisException:
            raise
        except (GuestFault, Exception) as error:
            if not self._keep(error, values):
                hypothesis.reject()
            raise (Fell(error) if isinstance(error, GuestFault) else error) from None

    def _keep(self, error: BaseException, values: dict[str, Any]) -> bool:
        """Whether this is the failure we are after; the smallest one seen is kept."""
        if self._is_other(error):
            return False
        what = seen(self.guests, error, values.get("same"))
        if self.best is None or what.count <= self.best.count:
            self.best = what
        return True

    def _is_other(self, error: BaseException) -> bool:
        return kind(error) != self.first.kind

    def _finished(self, what: Seen, label: Label) -> Case:
        failure = failure_of(self.guests, self.first.group, self.item, what)
        case = case_of(failure, self.first.case.verdict)
        larger = self.first.case.calls if self.first.case.calls > case.calls else None
        return replace(case, label=label, shrunk_from=larger)
