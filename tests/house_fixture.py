"""The whole house, for real: `prefilld run` on a free port with a state folder of its own, and ways to talk to it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psutil

REPOSITORY = Path(__file__).resolve().parents[1]
READY = re.compile(r"(http://\S+)/enter/(\S+)")
PATIENCE_S = 240


@dataclass(frozen=True, slots=True)
class House:
    """A running Prefill."""

    url: str
    key: str
    state: Path
    environment: dict[str, str]
    supervisor: subprocess.Popen[str]

    @property
    def token(self) -> str:
        hosts = json.loads((Path(self.environment["XDG_CONFIG_HOME"]) / "prefill" / "hosts.json").read_text())
        return str(hosts["hosts"][self.url]["token"])

    def api(self) -> httpx2.Client:
        return httpx2.Client(
            base_url=f"{self.url}/api/v1", headers={"Authorization": f"Bearer {self.token}"}, timeout=60
        )

    def submit(self, drill: str, source: str, kind: str = "submit") -> dict[str, Any]:
        with self.api() as api:
            answer = api.post("/submissions", json={"drill": drill, "source": source, "kind": kind})
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    def finished(self, submission: str) -> dict[str, Any]:
        """The submission when its verdict is final and its cases are there."""
        until = time.monotonic() + PATIENCE_S
        with self.api() as api:
            while time.monotonic() < until:
                found = api.get(f"/submissions/{submission}", params={"wait": 20}).json()
                if found["state"] == "finished" and found["cases_ready"]:
                    return dict(found)
                time.sleep(0.05)
        raise AssertionError(f"no verdict in {PATIENCE_S} s: {found}")

    def graded(self, drill: str, source: str, kind: str = "submit") -> dict[str, Any]:
        return self.finished(self.submit(drill, source, kind)["id"])

    def prefill(self, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run the command as a person would, in `folder`."""
        command = [str(Path(sys.executable).with_name("prefill")), *words]
        return subprocess.run(command, cwd=folder, env=self.environment, capture_output=True, text=True, timeout=120)

    def processes(self, module: str) -> list[psutil.Process]:
        """The house's processes whose command line names `module`, parents first."""
        tree = psutil.Process(self.supervisor.pid).children(recursive=True)
        return [process for process in tree if any(module in word for word in _command_line(process))]


def _command_line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@contextmanager
def running_house(folder: Path, **settings: str) -> Iterator[House]:
    """Start the house in `folder`; at the end SIGTERM it and see that it leaves with status 0."""
    port = _free_port()
    environment = os.environ | {"XDG_CONFIG_HOME": str(folder / "config"), "PYTHONUNBUFFERED": "1"} | settings
    command = [sys.executable, "-m", "web.operate.main", "run", "--port", str(port), "--state", str(folder / "state")]
    log = (folder / "supervisor.log").open("w+")
    supervisor = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=log, stderr=log, text=True)
    try:
        url, key = _wait_until_ready(supervisor, folder / "supervisor.log")
        yield House(url, key, folder / "state", environment, supervisor)
    finally:
        if supervisor.poll() is None:
            supervisor.send_signal(signal.SIGTERM)
        supervisor.wait(60)
        log.close()


def _wait_until_ready(supervisor: subprocess.Popen[str], log: Path) -> tuple[str, str]:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if found := READY.search(log.read_text()):
            return found[1], found[2]
        if supervisor.poll() is not None:
            break
        time.sleep(0.1)
    raise AssertionError(f"the house did not come up:\n{log.read_text()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
