"""Operating: the children of one machine's Prefill, each with only what it needs to know.

The same commands (`prefilld web`, `prefilld grader`, ...) serve Compose; there the environment comes from the services.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from web.operate import readiness
from web.operate.home import Home
from web.operate.process import Child
from web.operate.redis import Redis

_ORDINARY = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONDONTWRITEBYTECODE")
_FOR_THE_KEEPER = ("SANDBOX", "GUEST_IMAGE", "BASE_IMAGE", "POOL", "CLASSES", "ROOM", "RUNTIME")
_ENGINE = ("DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "DOCKER_CONFIG", "DOCKER_BUILDKIT")


@dataclass(frozen=True, slots=True)
class Rooms:
    """One machine's rooms, as the supervisor starts them."""

    home: Home
    run: Path
    redis: Redis
    host: str
    port: int
    drills: str

    @property
    def base_url(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}"

    def waves(self) -> tuple[tuple[Child, ...], ...]:
        return (self._redis(),), (self._keeper(), self._recorder()), (self._web(), self._grader())

    def _redis(self) -> Child:
        ready = readiness.redis_ready(self.redis.url, f"{self.redis.binary}, append-only file in {self.redis.data}")
        return Child(
            "redis",
            tuple(self.redis.configure()),
            _environment({}),
            ready,
            grace_s=10,
            death_signal=signal.SIGTERM,
            restarts=0,
        )

    def _keeper(self) -> Child:
        passed_on = (*(f"PREFILL_{name}" for name in _FOR_THE_KEEPER), *_ENGINE)
        own = {"PREFILL_RUN": str(self.run), "PREFILL_GUEST_PYTHON": guest_python()}
        env = _environment(own, *passed_on)
        # The first start of all builds the guest's image.
        return Child(
            "keeper",
            command("keeper"),
            env,
            readiness.keeper_ready(self.run),
            start_s=300,
            grace_s=10,
            death_signal=signal.SIGTERM,
        )

    def _recorder(self) -> Child:
        ready = readiness.worker_ready(self.redis.url, "writes verdicts, looks after lost submissions")
        env = {**self._shared("recorder"), "PREFILL_DATABASE_URL": self.home.database_url}
        return Child("recorder", command("recorder"), _environment(env), ready)

    def _grader(self) -> Child:
        ready = readiness.worker_ready(self.redis.url, f"grades the drills of {self.drills}")
        env = {**self._shared("grader"), "PREFILL_RUN": str(self.run)}
        # It first measures each drill's reference on this machine, which takes as long as there are drills.
        return Child("grader", command("grader"), _environment(env), ready, start_s=600)

    def _web(self) -> Child:
        env = {
            **self._shared("web"),
            "PREFILL_STATE": str(self.home.state),
            "PREFILL_RUN": str(self.run),
            "PREFILL_DATABASE_URL": self.home.database_url,
            "PREFILL_BASE_URL": self.base_url,
            "PREFILL_LOCAL": "true",
        }
        argv = command("web", "--host", self.host, "--port", str(self.port))
        return Child("web", argv, _environment(env), readiness.web_ready(self.host, self.port, self.base_url))

    def _shared(self, role: str) -> dict[str, str]:
        return {
            "PREFILL_REDIS_URL": self.redis.url,
            "PREFILL_DRILLS": self.drills,
            "PREFILL_SECRETS": str(self.home.secrets / role),
        }


def guest_python() -> str:
    """The interpreter of guests without an image: the system's if it is new enough, since a wall shows /usr whole."""
    wanted = os.environ.get("PREFILL_GUEST_PYTHON")
    base = str(Path(sys.base_prefix) / "bin" / "python3")
    candidates = [wanted] if wanted else ["/usr/bin/python3", "/usr/bin/python3.11", "/usr/bin/python3.12", base]
    return next((python for python in candidates if _new_enough(python)), base)


def _new_enough(python: str) -> bool:
    check = [python, "-I", "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    try:
        return subprocess.run(check, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def command(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "web.operate.main", *words)


def _environment(own: Mapping[str, str], *passed_on: str) -> dict[str, str]:
    """A small environment: what a program needs anywhere, what is passed on, what is this room's own."""
    kept = {name: os.environ[name] for name in (*_ORDINARY, *passed_on) if name in os.environ}
    return {**kept, "PYTHONUNBUFFERED": "1", **own}
