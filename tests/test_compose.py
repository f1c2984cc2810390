"""`docker-compose up`, for real: images built here, a verdict through the API, again after each service restarted."""

import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.operate.house import ROOT, Api, free_port, source
from tests.parts import need, wait_for

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]
SERVICES = ("redis", "postgres", "recorder", "grader", "keeper", "web")


class Compose:
    """One project of Compose with a name, a port and a host folder of its own."""

    def __init__(self) -> None:
        self.name = f"prefilltest{secrets.token_hex(4)}"
        self.port = free_port()
        self.run = Path(f"/tmp/pf-{self.name[-8:]}")
        self._env = {
            **os.environ,
            "PREFILL_PORT": str(self.port),
            "PREFILL_RUN": str(self.run),
            "PREFILL_IMAGE": "prefill-test-app",
            "PREFILL_POOL": "1",
        }

    def __call__(self, *words: str) -> str:
        command = ["docker-compose", "--ansi", "never", "-p", self.name, *words]
        done = subprocess.run(
            command, cwd=ROOT, env=self._env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        assert done.returncode == 0, done.stdout[-6000:]
        return done.stdout

    def healthy(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/healthz", timeout=5).status_code == 200
        except httpx2.HTTPError:
            return False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture(scope="module")
def compose() -> Iterator[Compose]:
    need("docker")
    need("compose")
    compose = Compose()
    compose("build")
    try:
        compose("up", "-d")
        wait_for(compose.healthy, "web never became healthy", 120)
        yield compose
    finally:
        compose("down", "--volumes", "--timeout", "5")
        shutil.rmtree(compose.run, ignore_errors=True)


@pytest.fixture(scope="module")
def api(compose: Compose) -> Iterator[Api]:
    told = compose("exec", "-T", "web", "prefilld", "owner")
    token = re.search(r"pfl_\w+", told)
    assert token, told
    api = Api(compose.url, token[0])
    yield api
    api.close()


def test_a_submission_gets_its_verdict(api: Api) -> None:
    """From the published port through Redis, grader, keeper and a container to PostgreSQL and back."""
    assert api.grade(source("reference.py"))["verdict"] == "accepted"
    assert api.grade(source("wrong/appends_every_free.py"))["verdict"] == "wrong"


@pytest.mark.parametrize("service", SERVICES)
def test_it_still_works_after_a_restart(compose: Compose, api: Api, service: str) -> None:
    """Any one service may be restarted; the next submission gets its verdict."""
    compose("restart", "--timeout", "10", service)
    wait_for(compose.healthy, "web never came back", 120)
    assert api.grade(source("reference.py"))["verdict"] == "accepted"


def test_only_web_is_published(compose: Compose) -> None:
    """No other service has a port on the host, and web's is on loopback."""
    ids = compose("ps", "-q").split()
    shape = "{{range $p, $b := .NetworkSettings.Ports}}{{range $b}}{{.HostIp}}:{{.HostPort}}{{end}}{{end}}"
    published = subprocess.run(
        ["docker", "inspect", "-f", shape, *ids], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert [port for port in published if port] == [f"127.0.0.1:{compose.port}"]


def test_no_service_is_privileged_and_one_reaches_the_engine(compose: Compose) -> None:
    """Only keeper has the engine's socket; none runs privileged."""
    ids = compose("ps", "-q").split()
    label = '{{index .Config.Labels "com.docker.compose.service"}}'
    shape = f"{{{{.HostConfig.Privileged}}}} {label} {{{{range .Mounts}}}}{{{{.Destination}}}},{{{{end}}}}"
    lines = subprocess.run(["docker", "inspect", "-f", shape, *ids], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    assert {row[0] for row in rows} == {"false"}
    assert [row[1] for row in rows if "docker.sock" in row[-1]] == ["keeper"]


@pytest.mark.parametrize(
    ("service", "keys"),
    [
        ("web", "case_private_key case_public_key local_key postgres_password redis_password session_key"),
        ("recorder", "postgres_password redis_password report_key"),
        ("grader", "case_public_key redis_password report_key seed_key"),
        ("redis", "redis_password"),
        ("postgres", "postgres_password"),
    ],
)
def test_a_service_holds_only_its_keys(compose: Compose, service: str, keys: str) -> None:
    """The grader cannot open a sealed case; nothing but web can make a session."""
    assert compose("exec", "-T", service, "ls", "/secrets").split() == keys.split()
