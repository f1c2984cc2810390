"""The keeper's runtime folder: made ours alone at the start, left empty at the end."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from sandbox.box import Place
from sandbox.errors import SandboxError

GUEST = Path(__file__).parent / "guest"
LONGEST_PATH = 107 - len("/g/0123456789abcdef/s")


def prepare(place: Place) -> int:
    """Make the runtime folder ours alone: a lock, no leftovers, a copy of the guest code that any user can read."""
    if len(str(place.run)) > LONGEST_PATH:
        raise SandboxError(f"PREFILL_RUN is too long for a socket's path: at most {LONGEST_PATH} bytes, {place.run}")
    place.run.mkdir(parents=True, exist_ok=True)
    place.run.chmod(0o711)
    lock = os.open(place.run / "keeper.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise SandboxError(f"another keeper lives in {place.run}") from error
    clear(place)
    for folder in {place.run, place.ground}:
        folder.mkdir(exist_ok=True)
        (folder / "g").mkdir()
        (folder / "g").chmod(0o711)
    _copy_guest(place)
    return lock


def clear(place: Place) -> None:
    for folder in {place.run, place.ground}:
        shutil.rmtree(folder / "g", ignore_errors=True)
        shutil.rmtree(folder / "guest-code", ignore_errors=True)
    (place.run / "keeper.sock").unlink(missing_ok=True)
    if place.ground != place.run:
        shutil.rmtree(place.ground, ignore_errors=True)


def _copy_guest(place: Place) -> None:
    """Compiled ahead, since a guest can't keep what it compiles."""
    code = place.ground / "guest-code"
    shutil.copytree(GUEST, code / "guest", ignore=shutil.ignore_patterns("__pycache__"))
    if shutil.which(place.guest_python):
        compiling = [place.guest_python, "-I", "-m", "compileall", "-q", str(code)]
        subprocess.run(compiling, check=False, stdout=subprocess.DEVNULL)
    for path in [code, *code.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
