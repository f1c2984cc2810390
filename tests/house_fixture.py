"""The house with its own drills, for real, and what a person does in it: submit, wait, run the `prefill` command."""

import json
import os
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

from tests.operate import house as operate

REPOSITORY = operate.ROOT
PATIENCE_S = 240


@dataclass(frozen=True, slots=True)
class House:
    """A running Prefill, seen by its owner."""

    started: operate.House

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.started.port}"

    @property
    def key(self) -> str:
        """What signs a browser in."""
        return self.started.link().rsplit("/", 1)[1]

    @property
    def state(self) -> Path:
        return self.started.state

    def api(self) -> httpx2.Client:
        hosts = json.loads((self.started.config / "prefill" / "hosts.json").read_text())
        headers = {"Authorization": f"Bearer {hosts['hosts'][self.url]['token']}"}
        return httpx2.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=60)

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
                found = api.get(f"/submissions/{submission}", params={"wait": 20, "until": "cases"}).json()
                if found["state"] == "finished" and found["cases_ready"]:
                    return dict(found)
        raise AssertionError(f"no verdict in {PATIENCE_S} s: {found}")

    def graded(self, drill: str, source: str, kind: str = "submit") -> dict[str, Any]:
        return self.finished(self.submit(drill, source, kind)["id"])

    def prefill(self, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run the command as a person would, in `folder`."""
        command = [str(Path(sys.executable).with_name("prefill")), *words]
        environment = {**os.environ, "XDG_CONFIG_HOME": str(self.started.config)}
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)

    def processes(self, word: str) -> list[psutil.Process]:
        """The house's processes whose command line has `word` in it, parents first."""
        return [
            process for process in self.started.family() if any(word in part for part in operate.command_line(process))
        ]


@contextmanager
def running_house(folder: Path, **settings: str) -> Iterator[House]:
    """Start the house in `folder`; at the end, end it politely."""
    started = operate.House(folder / "state", operate.free_port(), REPOSITORY / "drills", settings)
    try:
        yield House(started.ready())
    finally:
        started.end()
