"""Operating: Compose's first step, run once before the services: keys into their volumes, schema into the database.

Each service mounts only the folder of its own role. What may read a key there is decided by the folder's owner: the
services run under accounts of their own.
"""

from collections.abc import Callable
from pathlib import Path

from web.operate import secrets


def init_house(folder: Path, say: Callable[[str], None]) -> None:
    secrets.distribute(folder)
    say(f"Keys are in {folder}.")
