"""Pages: the catalogue. Filters live in the address, so a list can be kept and shared, and work without scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from web import desk
from web.pages.person import persons

STATUSES = {"todo": "Not started", "attempted": "Attempted", "accepted": "Accepted"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the reader filters by; an empty text means all."""

    text: str
    level: str
    engine: str
    status: str

    def keeps(self, drill: Mapping[str, Any]) -> bool:
        """Whether one drill belongs in the list."""
        return (
            self.text.casefold() in _searched(drill)
            and self.level in ("", str(drill["level"]))
            and (not self.engine or self.engine in engines_of(drill))
            and self.status in ("", drill["status"] or "todo")
        )


def home() -> ResponseReturnValue:
    """The catalogue is the front page."""
    return redirect(url_for("pages.catalogue"), 302)


@persons
def show(user: Any) -> ResponseReturnValue:
    """Every drill, by family."""
    drills = desk.drills(user)
    wanted = Wanted(*(request.args.get(name, "").strip() for name in ("q", "level", "engine", "status")))
    kept = [drill for drill in drills if wanted.keeps(drill)]
    choices = {
        "level": sorted({str(drill["level"]) for drill in drills}),
        "engine": sorted({engine for drill in drills for engine in engines_of(drill)}),
        "status": STATUSES,
    }
    return render_template(
        "catalogue.html", families=by_family(kept), count=len(kept), total=len(drills), wanted=wanted, choices=choices
    )


def engines_of(drill: Mapping[str, Any]) -> list[str]:
    """Names of the engines without their versions."""
    return [str(engine).rsplit(" ", 1)[0] for engine in drill["engines"]]


def by_family(drills: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The drills under their family's name, easiest first."""
    families: dict[str, list[Mapping[str, Any]]] = {}
    for drill in sorted(drills, key=lambda drill: (drill["family"], drill["level"], drill["title"])):
        families.setdefault(drill["family"], []).append(drill)
    return families


def _searched(drill: Mapping[str, Any]) -> str:
    return " ".join(
        [drill["title"], drill["slug"], drill["concept"] or "", *drill["tags"], *drill["engines"]]
    ).casefold()
