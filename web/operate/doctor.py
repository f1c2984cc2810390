"""Operating: `prefilld doctor`: looks over a machine, one line a part: ok, warn or fail, and what to do."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import docker
import docker.errors

from web.operate import redis
from web.operate.complaint import Complaint

_GIB = 1024**3


class Mark(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    part: str
    mark: Mark
    sentence: str


def examine(state: Path, say: Callable[[str], None]) -> int:
    """Say every finding; 1 if Prefill cannot run here, else 0."""
    engine, walls = _docker(), _bubblewrap()
    findings = [_python(), engine, walls, _sandbox(engine, walls), _redis(), _state(state), _disk(state)]
    for finding in findings:
        say(f"{finding.mark:<5} {finding.part:<11} {finding.sentence}")
    return int(any(finding.mark is Mark.FAIL for finding in findings))


def _python() -> Finding:
    return Finding("python", Mark.OK, sys.version.split()[0])


def _docker() -> Finding:
    try:
        client = docker.from_env(timeout=5)
        version = client.version()["Version"]
        client.close()
    except (docker.errors.DockerException, OSError):
        return Finding("docker", Mark.WARN, "no engine answers; start it, or do without: bubblewrap is a wall too")
    return Finding("docker", Mark.OK, f"engine {version}")


def _bubblewrap() -> Finding:
    if not (bwrap := shutil.which("bwrap")):
        return Finding("bubblewrap", Mark.WARN, "not installed (Debian: apt-get install bubblewrap)")
    trial = [bwrap, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]
    if subprocess.run(trial, capture_output=True, check=False).returncode == 0:
        return Finding("bubblewrap", Mark.OK, bwrap)
    advice = (
        "installed, but may not make namespaces here (a container, or a sysctl forbids it); allow them, or use Docker"
    )
    return Finding("bubblewrap", Mark.WARN, advice)


def _sandbox(engine: Finding, walls: Finding) -> Finding:
    if Mark.OK in (engine.mark, walls.mark):
        return Finding("sandbox", Mark.OK, f"{engine.part if engine.mark is Mark.OK else walls.part} holds submissions")
    advice = "NO WALL: submissions could do whatever this account can; install bubblewrap or start Docker"
    return Finding("sandbox", Mark.WARN, advice)


def _redis() -> Finding:
    try:
        return Finding("redis", Mark.OK, redis.find_server())
    except Complaint as complaint:
        return Finding("redis", Mark.FAIL, str(complaint))


def _state(state: Path) -> Finding:
    nearest = next(folder for folder in (state, *state.parents) if folder.exists())
    try:
        trial = nearest / ".prefill-trial"
        trial.touch()
        trial.unlink()
    except OSError as problem:
        advice = f"cannot write to {nearest} ({problem.strerror}); make it writable, or use --state FOLDER"
        return Finding("state", Mark.FAIL, advice)
    return Finding("state", Mark.OK, str(state))


def _disk(state: Path) -> Finding:
    nearest = next(folder for folder in (state, *state.parents) if folder.exists())
    free = shutil.disk_usage(nearest).free / _GIB
    if free < 1:
        return Finding("disk", Mark.WARN, f"{free:.1f} GiB free: make room, 1 GiB is the least to feel well")
    return Finding("disk", Mark.OK, f"{free:.0f} GiB free")
