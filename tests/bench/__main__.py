"""`make bench`: what the judge adds to the tests' own run time, as ratios within one run.

(a) submit -> verdict through the running house, against `pytest.main` on the same files and the same seed in a warm
    process, collection included;
(b) against `docker run --rm` + pytest for each submission;
for an accepted and for a wrong submission of each drill, interleaved, so that a slow spell of the machine hits all
alike. Then CPU seconds a submission and submissions a second with both cores busy. Writes `bench.json`.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from judge.drill import Drill, catalogue
from judge.grade import seed_of
from tests.bench import floor
from tests.house_fixture import REPOSITORY, House, running_house

WRONG = {"block-allocator": "appends_every_free.py", "prefix-hasher": "salt_on_every_block.py"}


@dataclass(frozen=True, slots=True)
class Row:
    """One drill and one answer: medians and 95th percentiles in milliseconds, ratios of medians."""

    drill: str
    answer: str
    judge_p50_ms: float
    judge_p95_ms: float
    warm_p50_ms: float
    warm_p95_ms: float
    container_p50_ms: float
    ratio_to_warm: float
    added_ms: float
    times_faster_than_container: float
    judge_cpu_s: float
    warm_cpu_s: float


def main() -> None:
    asked = _arguments()
    drills = catalogue([REPOSITORY / "drills"]).drills
    with_docker = shutil.which("docker") is not None and not asked.no_docker
    if with_docker:
        floor.build_image(os.environ.get("PREFILL_BASE_IMAGE", "python:3.11-slim-bookworm"))
    with (
        tempfile.TemporaryDirectory() as folder,
        running_house(Path(folder), PREFILL_SANDBOX=asked.sandbox, PREFILL_POOL="2") as house,
    ):
        rows = [
            _measure(house, drills[slug], answer, asked.rounds, with_docker=with_docker)
            for slug in WRONG
            for answer in ("accepted", "wrong")
        ]
        rate = _submissions_a_second(house, drills["block-allocator"], asked.rounds * 2)
    _show(rows, rate, asked.sandbox)
    Path("bench.json").write_text(json.dumps({"rows": [asdict(row) for row in rows], "per_s": rate}, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="measured rounds of each (default 20)")
    parser.add_argument("--sandbox", default="bubblewrap", choices=["bubblewrap", "docker", "process"])
    parser.add_argument("--no-docker", action="store_true", help="leave (b) out")
    return parser.parse_args()


def _measure(house: House, drill: Drill, answer: str, rounds: int, *, with_docker: bool) -> Row:
    judged, warm, container = [], [], []
    name = "reference.py" if answer == "accepted" else f"wrong/{WRONG[drill.slug]}"
    tests = [drill.folder / "test_visible.py", drill.folder / "test_hidden.py"]
    key = (house.state / "secrets" / "grader" / "seed_key").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        solution = Path(folder) / "solution.py"
        for number in range(rounds + 1):
            source = f"{drill.texts[name]}\n# round {number} of {answer}\n"
            solution.write_text(source)
            seed = seed_of(key, drill.revision, source)
            samples = _verdict(house, drill.slug, source, answer), floor.in_a_warm_process(solution, tests, seed)
            if number == 0:
                continue  # warm-up
            judged.append(samples[0])
            warm.append(samples[1])
            if with_docker and number % 4 == 1:
                container.append(floor.in_a_new_container(solution, tests, seed))
    return _row(drill.slug, answer, judged, warm, container)


def _verdict(house: House, slug: str, source: str, answer: str) -> floor.Sample:
    """From the first byte of the request to the verdict in the event stream; CPU until all is quiet again."""
    used = _house_cpu_s(house)
    began = time.perf_counter()
    with house.api() as api:
        sent = api.post("/submissions", json={"drill": slug, "source": source, "kind": "submit"}).json()
        with api.sse(f"/submissions/{sent['id']}/events") as events:
            verdict = next(json.loads(event.data)["verdict"] for event in events if event.event == "verdict")
    took = time.perf_counter() - began
    if verdict != answer:
        raise SystemExit(f"{slug}: expected {answer}, the judge said {verdict}")
    house.finished(sent["id"])
    return floor.Sample(took, _house_cpu_s(house) - used)


def _house_cpu_s(house: House) -> float:
    """CPU of every process of the house, ended ones included."""
    return sum(_cpu_s(process) for process in house.started.family())


def _cpu_s(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


def _submissions_a_second(house: House, drill: Drill, count: int) -> float:
    sources = [f"{drill.reference}\n# load {number}\n" for number in range(count)]
    began = time.perf_counter()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda source: house.graded(drill.slug, source), sources))
    return count / (time.perf_counter() - began)


def _row(
    slug: str, answer: str, judged: list[floor.Sample], warm: list[floor.Sample], container: list[floor.Sample]
) -> Row:
    ours, theirs = _milliseconds(judged), _milliseconds(warm)
    cold = _milliseconds(container) or [float("nan")]
    return Row(
        drill=slug,
        answer=answer,
        judge_p50_ms=statistics.median(ours),
        judge_p95_ms=_p95(ours),
        warm_p50_ms=statistics.median(theirs),
        warm_p95_ms=_p95(theirs),
        container_p50_ms=statistics.median(cold),
        ratio_to_warm=statistics.median(ours) / statistics.median(theirs),
        added_ms=statistics.median(ours) - statistics.median(theirs),
        times_faster_than_container=statistics.median(cold) / statistics.median(ours),
        judge_cpu_s=statistics.median(sample.cpu_s for sample in judged),
        warm_cpu_s=statistics.median(sample.cpu_s for sample in warm),
    )


def _milliseconds(samples: list[floor.Sample]) -> list[float]:
    return [sample.wall_s * 1000 for sample in samples]


def _p95(values: list[float]) -> float:
    return sorted(values)[max(0, round(0.95 * len(values)) - 1)]


def _lines(rows: list[Row], rate: float, sandbox: str) -> Iterator[str]:
    yield f"sandbox {sandbox}; milliseconds, median / 95th percentile"
    heads = f"{'judge':>15}{'warm pytest':>15}{'container':>11}{'ratio':>7}{'added':>8}{'x faster':>9}{'CPU s':>7}"
    yield f"{'drill':<17}{'answer':<10}{heads}"
    for row in rows:
        yield (
            f"{row.drill:<17}{row.answer:<10}{row.judge_p50_ms:>7.0f} /{row.judge_p95_ms:>6.0f}"
            f"{row.warm_p50_ms:>7.0f} /{row.warm_p95_ms:>6.0f}{row.container_p50_ms:>11.0f}{row.ratio_to_warm:>7.2f}"
            f"{row.added_ms:>8.0f}{row.times_faster_than_container:>9.1f}{row.judge_cpu_s:>7.2f}"
        )
    yield f"{rate:.2f} accepted submissions a second, {os.cpu_count()} cores"


def _show(rows: list[Row], rate: float, sandbox: str) -> None:
    sys.stdout.write("\n".join(_lines(rows, rate, sandbox)) + "\n")


if __name__ == "__main__":
    main()
