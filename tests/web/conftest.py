"""A desk for real: its own database, its own Redis, a small drill. Graders are pretended (pretend_grader.py)."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from nacl.public import PrivateKey
from redis import Redis
from sqlalchemy import update

from judge import seal
from tests import parts
from web import people
from web.app import create_app
from web.config import Settings
from web.office import KEY, Office, settle_in
from web.people import User
from web.store.models import SubmissionRow
from web.store.upgrade import upgrade

ROOT = Path(__file__).resolve().parents[2]
TOML = """
uuid = "0d0c1d52-7f2e-4a3e-9b1e-000000000001"
title = "Adder"
level = 1
minutes = 5
engines = ["vLLM 0.32.0"]
concept = "sums"
entry = ["add"]
limit_class = "small"
cpu_factor = 10
visible = ["test_small"]
[[source]]
what = "sums"
where = "everywhere"
[[group]]
key = "negative"
title = "Negative numbers add up"
weight = 1
class = "signs"
tests = ["test_negative"]
comparisons = 1
"""
FILES = {
    "drill.toml": TOML,
    "README.md": "# Adder\n\nAdd.\n\n```python\nadd(1, 2)\n```\n\n<script>alert(1)</script>\n",
    "stub.py": "def add(a, b):\n    raise NotImplementedError\n",
    "reference.py": "def add(a, b):\n    return a + b  # CANARY-REFERENCE\n",
    "test_visible.py": 'def test_small(solution, same):\n    """One and one."""\n    same(solution.add(1, 1), 2)\n',
    "test_hidden.py": 'def test_negative(solution, same):\n    """CANARY-HIDDEN."""\n    same(solution.add(0, 0), 0)\n',
    "hints.md": "## First\n\nThink.\n\n## Second\n\nThink *more*.\n",
}


@dataclass(slots=True)
class Desk:
    """One desk under test and the ways to talk to it."""

    office: Office
    settings: Settings
    app: Any
    owner: User
    token: str
    redis: Redis
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def client(self) -> FlaskClient:
        return self.app.test_client()

    def ask(self, method: str, path: str, token: str | None = None, **more: Any) -> Any:
        """One API request with the owner's token (or another one)."""
        headers = {"Authorization": f"Bearer {token or self.token}", **more.pop("headers", {})}
        return self.client.open(f"/api/v1{path}", method=method, headers=headers, **more)

    def send(self, source: str = "x = 1", kind: str = "submit", **more: Any) -> dict[str, Any]:
        answer = self.ask("POST", "/submissions", json={"drill": "adder", "source": source, "kind": kind, **more})
        assert answer.status_code == 201, answer.text
        return dict(answer.json)

    def get(self, submission: dict[str, Any]) -> dict[str, Any]:
        answer = self.ask("GET", f"/submissions/{submission['id']}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json)

    def row(self, submission: dict[str, Any]) -> SubmissionRow:
        with self.office.store.reading() as session:
            return session.get_one(SubmissionRow, submission["id"])

    def age(self, submission: dict[str, Any], **values: Any) -> None:
        """Change a row as the passing of time would have."""
        with self.office.store.writing() as session:
            session.execute(update(SubmissionRow).where(SubmissionRow.id == submission["id"]).values(**values))

    def signed(self, submission: dict[str, Any], attempt: int, final: bool, **report: Any) -> dict[str, Any]:
        """A report as a grader would send it; `report` may say verdict and cases."""
        return signed(
            self.settings.secrets_dir,
            submission["id"],
            attempt,
            final,
            report.get("verdict", "wrong"),
            report.get("cases"),
        )

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """A process of the house (grader pretended), ended with the test."""
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PREFILL_REDIS_URL": self.settings.redis_url,
            "PREFILL_DATABASE_URL": self.settings.database_url,
            "PREFILL_SECRETS": str(self.settings.secrets_dir),
            "PREFILL_STATE": str(self.settings.state),
            "PREFILL_DRILLS": self.settings.drills,
        }
        process = subprocess.Popen([sys.executable, *words], env=env, cwd=self.settings.state, start_new_session=True)
        self.children.append(process)
        return process

    def grader(self) -> subprocess.Popen[bytes]:
        return self.start(str(ROOT / "tests/web/pretend_grader.py"))

    def recorder(self) -> subprocess.Popen[bytes]:
        return self.start("-m", "web.recorder")

    def until(self, ready: Callable[[], Any], problem: str = "it did not happen") -> None:
        parts.wait_for(ready, problem, seconds=90)

    def finished(self, submission: dict[str, Any]) -> dict[str, Any]:
        self.until(lambda: self.get(submission)["cases_ready"], "no end of the grading")
        return self.get(submission)


def signed(
    secrets_dir: Path, submission: str, attempt: int, final: bool, verdict: str, cases: list[Any] | None = None
) -> dict[str, Any]:
    """The document of `record_report`."""
    failed = verdict != "accepted"
    group = {"key": "negative", "title": "Negative numbers add up", "weight": 1, "class": "signs"}
    result = {"state": "failed" if failed else "passed", "verdict": verdict if failed else None}
    report = {
        "schema": 1,
        "verdict": verdict,
        "message": None,
        "revision": "r",
        "groups": [{**group, **result, "label": None, "shape": "1-3" if failed and final else None}],
        "visible_cases": [],
        "environment": {"sandbox": "pretended"},
    }
    document = {"id": submission, "attempt": attempt, "final": final, "report": report, "cases": cases or []}
    return seal.signed(document, (secrets_dir / "report_key").read_bytes())


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    parts.need("redis")
    with parts.redis_server() as url:
        yield url


@pytest.fixture
def drills_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "drills" / "sums" / "adder"
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return tmp_path / "drills"


@pytest.fixture
def secrets_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "secrets"
    folder.mkdir()
    private = PrivateKey.generate()
    (folder / "case_private_key").write_bytes(bytes(private))
    (folder / "case_public_key").write_bytes(bytes(private.public_key))
    (folder / "report_key").write_bytes(secrets.token_bytes(32))
    for name in ("session_key", "local_key"):
        (folder / name).write_text(secrets.token_urlsafe(32))
    return folder


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'prefill.db'}"


@pytest.fixture
def settings(tmp_path: Path, redis_url: str, database_url: str, drills_dir: Path, secrets_dir: Path) -> Settings:
    upgrade(database_url)
    return Settings(
        state=tmp_path,
        redis_url=redis_url,
        database_url=database_url,
        drills=str(drills_dir),
        secrets=secrets_dir,
        local=True,
    )


@pytest.fixture
def desk_under_test(settings: Settings) -> Iterator[Desk]:
    app = create_app(settings)
    office: Office = app.extensions[KEY]
    office.redis.flushall()
    owner = people.owner(office.store, "owner")
    token = people.give_token(office.store, owner, "tests")
    settle_in(office)
    under_test = Desk(office, settings, app, owner, token, office.redis)
    yield under_test
    settle_in(None)
    for child in under_test.children:
        kill(child)
    office.close()


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and everything it began, as a power cut would."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def house(desk_under_test: Desk) -> Desk:
    """A short name for the desk under test."""
    return desk_under_test
