"""Drills and submissions as pages and programs get them: plain dicts, one shape for both. Pure but for the shelf."""

import platform
from collections.abc import Mapping, Set
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from judge.drill import Drill
from judge.verdict import Verdict
from web.live import Progress
from web.shelf import Shelf, hints_of
from web.store.models import SubmissionRow


@dataclass(frozen=True, slots=True)
class Found:
    """A submission's row and what belongs to it."""

    row: SubmissionRow
    report: Mapping[str, Any] = field(default_factory=dict)
    sealed: Set[str] = frozenset()
    opened: Set[str] = frozenset()


def summary(drill: Drill, status: str | None) -> dict[str, Any]:
    """A line of the catalogue."""
    return {
        "slug": drill.slug,
        "title": drill.title,
        "family": drill.family,
        "level": drill.level,
        "minutes": drill.minutes,
        "engines": list(drill.engines),
        "concept": drill.concept,
        "tags": list(drill.tags),
        "revision": drill.revision,
        "group_count": len(drill.groups),
        "status": status,
    }


def whole(drill: Drill, status: str | None, shelf: Shelf) -> dict[str, Any]:
    """Everything about a drill that is for everyone."""
    hints = enumerate(hints_of(drill.hints))
    return summary(drill, status) | {
        "statement": drill.statement,
        "statement_html": shelf.page(drill, "statement", drill.statement),
        "stub": drill.stub,
        "entry": list(drill.entry),
        "visible_tests": drill.visible_tests,
        "hints": [shelf.page(drill, f"hint {n}", hint) for n, hint in hints],
        "groups": [{"key": g.key, "title": g.title, "class": g.class_, "weight": g.weight} for g in drill.groups],
        "limits": asdict(drill.limits),
        "environment": {"python": ".".join(platform.python_version_tuple()[:2])},
    }


def status_of(verdicts: Set[str | None]) -> str | None:
    """How far somebody has come with a drill, from the verdicts of what they submitted."""
    if not verdicts:
        return None
    return "accepted" if Verdict.ACCEPTED in verdicts else "attempted"


def submission(found: Found, progress: Progress) -> dict[str, Any]:
    """A submission as its owner sees it."""
    row = found.row
    finished = row.state == "finished"
    return {
        "id": row.id,
        "drill": row.drill,
        "title": row.title,
        "revision": row.revision,
        "kind": row.kind,
        "state": row.state if finished else "running" if progress.running else "queued",
        "verdict": row.verdict,
        "message": row.message,
        "created_at": stamp(row.created_at),
        "finished_at": stamp(row.finished_at),
        "attempt": row.attempt,
        "groups": [_group(group, found) for group in (found.report.get("groups", ()) if finished else progress.groups)],
        "visible_cases": list(found.report.get("visible_cases", ())),
        "cases_ready": row.cases_ready,
        "environment": dict(found.report.get("environment", {})),
        "links": {
            "self": f"/api/v1/submissions/{row.id}",
            "web": f"/submissions/{row.id}",
            "events": f"/api/v1/submissions/{row.id}/events",
        },
    }


def _group(group: Mapping[str, Any], found: Found) -> dict[str, Any]:
    return {**group, "case": case_state(group, found)}


def case_state(group: Mapping[str, Any], found: Found) -> str:
    """Whether this group's failing case is there, and whether its owner has opened it."""
    key = group.get("key")
    if group.get("state") != "failed":
        return "none"
    if key in found.sealed:
        return "open" if key in found.opened else "sealed"
    if any(case["group"] == key for case in found.report.get("visible_cases", ())):
        return "open"
    return "none" if found.row.cases_ready else "pending"


def stamp(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if moment else None
