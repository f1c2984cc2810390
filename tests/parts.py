"""The parts that some tests need: Docker, bubblewrap, Redis, PostgreSQL, a browser.

On a person's machine a test whose part is missing is skipped, and the skip names the part. Under CI=true it fails:
a part that CI lacks is a hole in CI, not a reason to pass.
"""

import contextlib
import functools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import docker.errors
import pytest
import redis as redis_client

IN_CI = os.environ.get("CI") == "true"


def need(part: str) -> None:
    """Skip the running test if `part` is missing here; under CI=true fail it."""
    if missing := _missing(part):
        say = pytest.fail if IN_CI else pytest.skip
        say(f"needs {part}: {missing}")


@functools.cache
def _missing(part: str) -> str:
    """What is missing, as a sentence; nothing when the part is there."""
    return _PARTS[part]()


def _docker() -> str:
    try:
        client = docker.from_env()
        client.ping()
        client.close()
    except (docker.errors.DockerException, OSError):
        return "no Docker engine answers"
    return ""


def _compose() -> str:
    return "" if shutil.which("docker-compose") else "docker-compose is not installed"


def _bubblewrap() -> str:
    if not (bwrap := shutil.which("bwrap")):
        return "bwrap is not installed"
    words = [bwrap, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]
    trial = subprocess.run(words, capture_output=True, check=False)
    return "" if trial.returncode == 0 else "bwrap may not make namespaces here"


def _redis() -> str:
    return "" if shutil.which("redis-server") else "redis-server is not installed"


def _postgres() -> str:
    return "" if postgres_program("initdb") else "PostgreSQL's initdb is not installed"


def _browser() -> str:
    return "" if browser() else "Chromium is not installed"


def _gpu() -> str:
    return "" if shutil.which("nvidia-smi") else "no GPU is here"


_PARTS: dict[str, Callable[[], str]] = {
    "docker": _docker,
    "compose": _compose,
    "bubblewrap": _bubblewrap,
    "redis": _redis,
    "postgres": _postgres,
    "browser": _browser,
    "gpu": _gpu,
}
PARTS = tuple(_PARTS)


def browser() -> str | None:
    """Where Chromium is, or nothing."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def postgres_program(name: str) -> str | None:
    """Where a program of PostgreSQL is: Debian keeps the server's out of PATH."""
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(map(str, homes)))


@contextlib.contextmanager
def short_dir() -> Iterator[Path]:
    """A temporary directory whose path is short enough for Unix sockets (107 bytes), gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="pf-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def redis_server(tmp: Path | None = None, *options: str) -> Iterator[str]:
    """A real Redis of this test's own on a Unix socket; yields its URL.

    `tmp` keeps its data (and an append-only file, with `--appendonly yes`) when a test restarts it.
    """
    with short_dir() as folder:
        sock = folder / "redis.sock"
        words = ["redis-server", "--port", "0", "--unixsocket", str(sock), "--dir", str(tmp or folder), "--save", ""]
        server = subprocess.Popen([*words, *options], stdout=subprocess.DEVNULL)
        try:
            wait_for(functools.partial(_redis_answers, sock), "Redis did not answer")
            yield f"unix://{sock}"
        finally:
            end(server)


def _redis_answers(sock: Path) -> bool:
    client = redis_client.Redis(unix_socket_path=str(sock))
    try:
        return bool(client.ping())
    except redis_client.ResponseError:  # it asks for a password: it is there
        return True
    except (redis_client.ConnectionError, OSError):
        return False
    finally:
        client.close()


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """A real PostgreSQL of this test's own on a Unix socket; yields an SQLAlchemy URL."""
    initdb, postgres = postgres_program("initdb"), postgres_program("postgres")
    if not initdb or not postgres:
        raise AssertionError("call need('postgres') first")
    with short_dir() as folder:
        user = _give_to_postgres(folder)
        words = [initdb, "-D", f"{folder}/data", "-U", "prefill", "-A", "trust", "--no-sync"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, user=user, cwd=folder)
        words = [postgres, "-D", f"{folder}/data", "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"]
        server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, cwd=folder)
        try:
            url = f"postgresql+psycopg://prefill@/postgres?host={folder}"
            wait_for(functools.partial(_postgres_answers, folder), "PostgreSQL did not answer")
            yield url
        finally:
            end(server, signal.SIGINT)


def _give_to_postgres(folder: Path) -> int | None:
    """PostgreSQL refuses to run as root: hand the folder to another account."""
    if os.getuid() != 0:
        return None
    account = next(name for name in ("postgres", "nobody") if any(name == entry.pw_name for entry in pwd.getpwall()))
    shutil.chown(folder, account)
    return pwd.getpwnam(account).pw_uid


def _postgres_answers(folder: Path) -> bool:
    ready = postgres_program("pg_isready") or "pg_isready"
    return subprocess.run([ready, "-q", "-h", str(folder)], check=False).returncode == 0


def wait_for(ready: Callable[[], object], problem: str, seconds: float = 60) -> None:
    """Poll until `ready` is true; a test waits for what happens, never for a time."""
    until = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > until:
            raise AssertionError(problem)
        time.sleep(0.05)


def end(process: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> None:
    """End one process that this test started."""
    process.send_signal(number)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
