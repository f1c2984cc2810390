"""Operating: an address may name a key, `redis://:{redis_password}@redis`, which is read from the role's own folder.

So no password stands in a Compose file, and nobody has to invent one.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from web.operate.complaint import Complaint

DRILLS = Path(__file__).resolve().parents[2] / "drills"
_ADDRESSES = ("PREFILL_REDIS_URL", "PREFILL_DATABASE_URL")


def completed(env: Mapping[str, str]) -> dict[str, str]:
    """The environment with the keys put into the addresses, an address for the pages, and the house's own drills."""
    done = {"PREFILL_DRILLS": str(DRILLS), **env}
    folder = Path(env.get("PREFILL_SECRETS", "."))
    for name in _ADDRESSES:
        if name in env:
            done[name] = re.sub(r"\{(\w+)\}", lambda key: _key(folder / key[1]), env[name])
    if not env.get("PREFILL_BASE_URL"):
        done["PREFILL_BASE_URL"] = f"http://127.0.0.1:{env.get('PREFILL_PORT', '8000')}"
    return done


def complete_environment() -> None:
    os.environ.update(completed(os.environ))


def _key(place: Path) -> str:
    try:
        return place.read_text().strip()
    except OSError as problem:
        raise Complaint(f"The key {place} cannot be read ({problem.strerror}); `prefilld init` makes it.") from problem
