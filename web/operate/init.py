"""Operating: Compose's first step, run once as root before the services: keys into their volumes.

Each service mounts only the folder of its own role, and finds the keys there owned by the account that it runs under.
"""

import os
from collections.abc import Callable
from pathlib import Path

from web.operate import secrets

ACCOUNT = 10001  # web/Dockerfile makes it
ROOT_ROLES = frozenset({"grader"})  # it changes to the tests' own account by itself


def init_house(folder: Path, say: Callable[[str], None]) -> None:
    secrets.distribute(folder)
    for role in secrets.ROLES:
        owner = 0 if role in ROOT_ROLES else ACCOUNT
        for place in (folder / role, *(folder / role).iterdir()):
            os.chown(place, owner, owner)
    say(f"The keys of {', '.join(secrets.ROLES)} are in {folder}.")
