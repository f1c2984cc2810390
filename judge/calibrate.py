"""How much CPU time the references take on this host, through the real wall. A submission gets a multiple of that.

A fixed loop varied 1.9 times between idle processes here, so no absolute limit is fair; the least of a few interleaved
runs is the steadiest measure there is.
"""

from collections.abc import Sequence

from judge.drill import Drill
from judge.exam import Paper
from judge.grade import Grading, Terms
from judge.hall import Hall
from judge.verdict import Verdict
from sandbox.lease import Keeper

RUNS = 2
LEAST_S = 2.0  # a few tens of milliseconds times a factor would be within the noise


class NotCalibrated(Exception):
    """The reference was not accepted here, so nobody's answer can be."""


def cpu_limit_s(drill: Drill, reference_s: float) -> float:
    return min(max(LEAST_S, drill.cpu_factor * reference_s), drill.limits.cpu_s)


def calibrated(drills: Sequence[Drill], keeper: Keeper, hall: Hall | None) -> tuple[dict[str, float], dict[str, str]]:
    """The CPU limit of each drill by its slug, and for each that has none, why."""
    used: dict[str, list[float]] = {drill.slug: [] for drill in drills}
    problems: dict[str, str] = {}
    for drill in list(drills) * RUNS:
        if drill.slug not in problems:
            try:
                used[drill.slug].append(reference_cpu_s(drill, keeper, hall))
            except NotCalibrated as error:
                problems[drill.slug] = str(error)
    limits = {drill.slug: cpu_limit_s(drill, min(used[drill.slug])) for drill in drills if drill.slug not in problems}
    return limits, problems


def reference_cpu_s(drill: Drill, keeper: Keeper, hall: Hall | None) -> float:
    """One run of all tests on the reference."""
    paper = Paper(drill, drill.reference, drill.groups_of("submit"), seed=0)
    grading = Grading(paper, keeper, Terms(cpu_s=drill.limits.cpu_s), hall)
    report = grading.verdict()
    if report.verdict is not Verdict.ACCEPTED:
        raise NotCalibrated(f"the reference of {drill.slug} gets {report.verdict.value} here: {grading.troubles[-3:]}")
    return grading.cpu_used_s
