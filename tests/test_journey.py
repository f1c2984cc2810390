"""From the command to a verdict and back, through every process of the house; and what happens when one is killed."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import psutil
import pytest
from _pytest.mark import ParameterSet
from redis import Redis
from rq import Queue

from tests.house_fixture import REPOSITORY, House, running_house
from tests.parts import need, wait_for

DRILLS = REPOSITORY / "drills" / "kv-cache"
SLUGS = ["block-allocator", "prefix-hasher"]
EVERY_RUN = 3


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    need("redis")
    need("bubblewrap")
    with running_house(tmp_path_factory.mktemp("house"), PREFILL_SANDBOX="bubblewrap") as running:
        yield running


def wrongs() -> list[ParameterSet]:
    """Every known mistake of every drill; the first few of each on every run, all of them in the long one."""
    found = []
    for slug in SLUGS:
        facts = tomllib.loads((DRILLS / slug / "drill.toml").read_text())
        for number, (name, expected) in enumerate(facts["wrong"].items()):
            marks = [] if number < EVERY_RUN else [pytest.mark.long]
            found.append(pytest.param(slug, name, expected, id=f"{slug}-{name}", marks=marks))
    return found


def reference(slug: str) -> str:
    return (DRILLS / slug / "reference.py").read_text()


def slow_reference(slug: str) -> str:
    """A right answer that takes long enough to be interrupted; it sleeps, so it costs no CPU."""
    return reference(slug) + "\n\nimport time as _time\n_time.sleep(0.1)\n"


def test_the_command_lists_starts_tests_and_submits_a_right_answer(house: House, tmp_path: Path):
    """From nothing to `accepted` in the terminal."""
    listed = house.prefill("list", folder=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert all(slug in listed.stdout for slug in SLUGS)

    assert house.prefill("start", "block-allocator", folder=tmp_path).returncode == 0
    folder = tmp_path / "block-allocator"
    assert house.prefill("test", folder=folder).returncode == 1, "the stub passes the visible tests"

    (folder / "solution.py").write_text(reference("block-allocator"))
    tested = house.prefill("test", folder=folder)
    assert tested.returncode == 0, tested.stdout
    submitted = house.prefill("submit", folder=folder)
    assert submitted.returncode == 0, submitted.stdout + submitted.stderr
    assert "ACCEPTED" in submitted.stdout
    assert "accepted" in house.prefill("log", folder=folder).stdout


@pytest.mark.parametrize(("slug", "name", "expected"), wrongs())
def test_a_wrong_answer_comes_back_as_a_small_case_that_fails_at_home_too(
    house: House, tmp_path: Path, slug: str, name: str, expected: dict
):
    """Each known mistake: its verdict, its group, a small case, and a test that fails for it alone."""
    house.prefill("start", slug, folder=tmp_path)
    folder = tmp_path / slug
    (folder / "solution.py").write_text((DRILLS / slug / "wrong" / name).read_text())
    submitted = house.prefill("submit", folder=folder)
    assert submitted.returncode == 1, submitted.stdout + submitted.stderr

    why = house.prefill("why", "--save", "--reveal", folder=folder)
    assert why.returncode == 0, why.stderr
    [saved] = [path for path in (folder / "tests").iterdir() if path.name.endswith(".py") and "_s_" in path.name]
    assert _pytest(folder, saved) == 1, "the saved case does not fail for the wrong answer"
    (folder / "solution.py").write_text(reference(slug))
    assert _pytest(folder, saved) == 0, "the saved case fails for the reference"

    with house.api() as api:
        newest = api.get("/submissions", params={"drill": slug, "limit": 1}).json()["items"][0]["id"]
    graded = house.finished(newest)
    assert graded["verdict"] == expected.get("verdict", "wrong")
    failed = {group["key"] for group in graded["groups"] if group["state"] == "failed"}
    assert expected["group"] in failed
    with house.api() as api:
        case = api.post(f"/submissions/{newest}/cases/{expected['group']}/reveal").json()
    assert case["calls"] <= expected["calls"], case["steps"]


def _pytest(folder: Path, path: Path) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(path)]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=60).returncode


LOADS_BADLY = {
    "a syntax error": ("def broken(:\n", "import_error", "line 1"),
    "the wrong entry name": ("class BlockPol:\n    pass\n", "import_error", "BlockPool"),
    "an import that does not exist": ("import no_such_module_here\n", "import_error", "no_such_module_here"),
    "sys.exit(0) at import": ("import sys\nsys.exit(0)\n", "import_error", "ends its process"),
    "an endless module body": ("while True:\n    pass\n", "timeout", None),
}


@pytest.mark.parametrize("what", LOADS_BADLY)
def test_a_source_that_does_not_load_gets_its_own_verdict_and_message(house: House, what: str):
    source, verdict, said = LOADS_BADLY[what]
    graded = house.graded("block-allocator", source)
    assert graded["verdict"] == verdict
    assert said is None or said in graded["message"]


REFUSED = {
    "1 MB of source": (b"x = 1\n" * 175_000, 413),
    "NUL bytes": (b"x = 1\0\n", 422),
    "bytes that are not UTF-8": (b"x = '\xff\xfe'\n", 422),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_source_that_cannot_be_judged_is_refused_at_the_door(house: House, what: str):
    source, status = REFUSED[what]
    body = b'{"drill": "block-allocator", "kind": "submit", "source": "%s"}' % source.replace(b"\n", b"\\n").replace(
        b"\0", b"\\u0000"
    )
    with house.api() as api:
        answer = api.post("/submissions", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert answer.json()["detail"]


def test_a_job_that_names_another_function_is_dropped_unread(house: House, tmp_path: Path):
    """Whoever can write to the queue cannot have the grader call what they like (attacks K140, K141)."""
    canary = tmp_path / "called"
    password = (house.state / "secrets" / "grader" / "redis_password").read_text().strip()
    address = _grader(house).environ()["PREFILL_REDIS_URL"].replace("{redis_password}", password)
    with Redis.from_url(address) as redis:
        for function in ("os.system", "subprocess.getoutput"):
            Queue("grade-submit", connection=redis, serializer="json").enqueue(function, f"touch {canary}")
    assert house.graded("block-allocator", reference("block-allocator"))["verdict"] == "accepted"
    assert not canary.exists()


def _until_running(house: House, submission: str) -> None:
    until = time.monotonic() + 60
    with house.api() as api:
        while api.get(f"/submissions/{submission}").json()["state"] != "running":
            assert time.monotonic() < until, "never began"
            time.sleep(0.02)
    time.sleep(0.5)  # into the middle of the tests


def _grader(house: House) -> psutil.Process:
    return house.processes("judge.worker")[0]


def _horse(house: House) -> psutil.Process:
    return _grader(house).children()[0]


def _guest(house: House) -> psutil.Process:
    """The busy guest's process 1: of the keeper's guests, the one with a child, which holds the submission."""
    busy: list[psutil.Process] = []
    wait_for(lambda: busy.extend(filter(_is_busy, house.processes("guest/__main__.py"))) or busy, "no guest was busy")
    return busy[0]


def _is_busy(process: psutil.Process) -> bool:
    """Between two tests a guest has no child for a moment."""
    try:
        return process.name().startswith("python") and bool(process.children())
    except psutil.Error:
        return False


@pytest.mark.parametrize(
    ("victim", "attempt"), [(_grader, 2), (_horse, 2), (_guest, 1)], ids=["grader", "work-horse", "guest"]
)
def test_what_is_killed_in_mid_grade_still_ends_in_one_right_verdict(house: House, victim, attempt: int):
    """SIGKILL to the grader, its work-horse or the guest: it is graded again (after a guest by the same work-horse, in
    the same attempt), and the verdict is `accepted`."""
    sent = house.submit("block-allocator", slow_reference("block-allocator"))
    _until_running(house, sent["id"])
    os.kill(victim(house).pid, signal.SIGKILL)
    graded = house.finished(sent["id"])
    assert graded["verdict"] == "accepted", graded
    assert graded["attempt"] == attempt
    if victim is _guest:
        assert "guest" in (house.state / "log" / "grader.log").read_text()
