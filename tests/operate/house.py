"""A real Prefill for tests: `prefilld run` in a folder of its own, and a client that submits to it."""

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import psutil

ROOT = Path(__file__).resolve().parents[2]
DRILLS = ROOT / "drills"
SMALL = ROOT / "tests" / "judge" / "drills"  # one small drill: its grader is ready sooner
DRILL = {DRILLS: "block-allocator", SMALL: "counter"}


def source(name: str, drills: Path = DRILLS) -> str:
    """A file of the drill that the tests submit."""
    (folder,) = drills.glob(f"*/{DRILL[drills]}")
    return (folder / name).read_text()


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port


def command_line(process: psutil.Process) -> list[str]:
    """Its words; none for one that has just ended and is not yet waited for."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


class Api:
    """The API as a program sees it."""

    def __init__(self, url: str, token: str, drills: Path = DRILLS) -> None:
        self._drill = DRILL[drills]
        headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx2.Client(base_url=f"{url}/api/v1", headers=headers, timeout=60)

    def grade(self, text: str, kind: str = "submit") -> dict[str, Any]:
        """Submit and wait for the end; the submission as the API shows it."""
        sent = self._client.post("/submissions", json={"drill": self._drill, "source": text, "kind": kind})
        assert sent.status_code == 201, sent.text
        return self.wait(sent.json()["id"])

    def wait(self, submission: str) -> dict[str, Any]:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            shown: dict[str, Any] = self._client.get(f"/submissions/{submission}?wait=20").json()
            if shown["state"] == "finished":
                return shown
        raise AssertionError(f"no verdict: {shown}")

    def close(self) -> None:
        self._client.close()


class House:
    """`prefilld run`, started for real."""

    def __init__(
        self, state: Path, port: int, drills: Path = SMALL, env: Mapping[str, str] | None = None, *more: str
    ) -> None:
        self.state, self.port, self.drills = state, port, drills
        self.config = state.parent / f"{state.name}-config"
        words = [sys.executable, "-m", "web.operate.main", "run", "--state", str(state), "--port", str(port)]
        words += ["--drills", str(drills), *more]
        own = {"XDG_CONFIG_HOME": str(self.config), "PREFILL_SANDBOX": "bubblewrap", "PREFILL_POOL": "1", **(env or {})}
        self.process = subprocess.Popen(
            words, cwd=ROOT, env={**os.environ, **own}, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.said: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.rstrip())
        self._lines.put("")  # the end
        self.process.stdout.close()

    def until(self, pattern: str, seconds: float = 240) -> str:
        """Read what it says until a line matches."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            line = self._lines.get(timeout=max(0.1, limit - time.monotonic()))
            self.said.append(line)
            if re.search(pattern, line):
                return line
            if not line and self.process.poll() is not None:
                break
        raise AssertionError(f"never said {pattern!r}: {self.text()}")

    def text(self) -> str:
        while not self._lines.empty():
            self.said.append(self._lines.get())
        return "\n".join(self.said)

    def ready(self) -> "House":
        self.until(r"^\(Ctrl-C")
        return self

    def link(self) -> str:
        return re.search(r"Open +(\S+)", self.text())[1]  # type: ignore[index]

    def api(self) -> Api:
        url = f"http://127.0.0.1:{self.port}"
        hosts = json.loads((self.config / "prefill" / "hosts.json").read_text())
        return Api(url, hosts["hosts"][url]["token"], self.drills)

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def room(self, name: str) -> psutil.Process:
        """The process that the supervisor started for a room: web, grader, keeper, recorder, redis."""
        word = {
            "web": "gunicorn", "grader": "judge.worker", "keeper": "sandbox.keeper", "recorder": "web.recorder",
            "redis": "redis-server",
        }[name]  # fmt: skip
        for process in psutil.Process(self.process.pid).children():
            if any(word in part for part in command_line(process)):
                return process
        raise AssertionError(f"no {name} runs")

    def run_folder(self) -> Path:
        return Path((self.state / "prefilld.lock").read_text().splitlines()[2])

    def end(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(60)
        self._reader.join()
        return status
