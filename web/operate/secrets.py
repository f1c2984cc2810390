"""Operating: the keys that the house makes for itself on its first start, and who holds which.

Each role has a folder of its own with just the keys that it needs, so that under Compose each service mounts one
folder. A key that two roles share is made once and copied; a key that is there is never replaced.
"""

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from nacl.public import PrivateKey

HOLDERS = {
    "session_key": ("web",),
    "local_key": ("web",),
    "case_private_key": ("web",),
    "case_public_key": ("web", "grader"),
    "report_key": ("grader", "recorder"),
    "seed_key": ("grader",),
    "redis_password": ("redis", "web", "grader", "recorder"),
    "postgres_password": ("postgres", "web", "recorder"),
}
ROLES = ("web", "grader", "recorder", "redis", "postgres")


def distribute(folder: Path) -> None:
    """Make what is missing below `folder`, one folder a role."""
    for role in ROLES:
        (folder / role).mkdir(mode=0o700, parents=True, exist_ok=True)
    _complete(folder, "case_private_key", lambda: bytes(PrivateKey.generate()))
    private = read(folder, "case_private_key")
    _complete(folder, "case_public_key", lambda: bytes(PrivateKey(private).public_key))
    for name in HOLDERS:
        _complete(folder, name, _words if name in _TYPED else _key)


def read(folder: Path, name: str) -> bytes:
    """One key, from the folder of the first role that holds it."""
    return (folder / HOLDERS[name][0] / name).read_bytes()


# Keys that end up in a URL or a configuration file are written as words, not as raw bytes.
_TYPED = frozenset({"session_key", "local_key", "redis_password", "postgres_password"})


def _key() -> bytes:
    return secrets.token_bytes(32)


def _words() -> bytes:
    return secrets.token_urlsafe(32).encode()


def _complete(folder: Path, name: str, make: Callable[[], bytes]) -> None:
    places = [folder / role / name for role in HOLDERS[name]]
    there = next((place for place in places if place.exists()), None)
    value = there.read_bytes() if there else make()
    for place in places:
        if not place.exists():
            write_private(place, value)


def write_private(place: Path, value: bytes) -> None:
    """Write a file that only its owner reads; whole or not at all, whatever dies meanwhile."""
    draft = place.with_name(f".{place.name}.{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(value)
    draft.replace(place)
