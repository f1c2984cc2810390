"""Operating: where one running Prefill keeps its things, and the lock that keeps a second one out.

`state` (./var) lasts: database, Redis's append-only file, keys, logs. `run` is short-lived and its path short, since
Unix sockets lie in it: it is made at the start and removed at the end; the next start removes one that a killed
supervisor left behind. It can be walked through (0711) but not listed: the guests' own uids reach their sockets in it.
"""

import fcntl
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from web.operate.complaint import Complaint


@dataclass(frozen=True, slots=True)
class Home:
    state: Path

    @property
    def logs(self) -> Path:
        return self.state / "log"

    @property
    def secrets(self) -> Path:
        return self.state / "secrets"

    @property
    def redis(self) -> Path:
        return self.state / "redis"

    @property
    def database_url(self) -> str:
        return f"sqlite:///{self.state / 'prefill.db'}"

    def furnish(self) -> None:
        """Make the folders, or say who must make them writable."""
        try:
            for folder in (self.state, self.logs, self.secrets, self.redis):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.state):
                pass
        except OSError as problem:
            raise Complaint(
                f"Prefill may not write to {self.state} ({problem.strerror}). "
                f"Make it writable for this account, or name another folder: prefilld run --state FOLDER"
            ) from problem


class Lock:
    """Held while a supervisor lives: the kernel lets go of it whatever ends the process."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._file: IO[str] = open(home.state / "prefilld.lock", "a+", encoding="utf-8")  # noqa: SIM115 - held for life
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as taken:
            raise self._complaint() from taken
        self._remove_leftover()

    def note(self, url: str, run: Path) -> None:
        """Write down who runs here, for the second instance to read out and the next one to clean up."""
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n{url}\n{run}\n")
        self._file.flush()

    def release(self) -> None:
        self._file.truncate(0)
        self._file.close()

    def _lines(self) -> list[str]:
        self._file.seek(0)
        return self._file.read().splitlines()

    def _complaint(self) -> Complaint:
        pid, url, *_ = [*self._lines(), "", ""]
        self._file.close()
        who = f" (process {pid}, {url})" if pid else ""
        return Complaint(
            f"Prefill already runs with the folder {self._home.state}{who}. Open that page, or stop it first"
            f"{f': kill {pid}' if pid else ''}. "
            "A second one needs a folder and a port of its own: make run STATE=… PORT=…"
        )

    def _remove_leftover(self) -> None:
        lines = self._lines()
        if len(lines) == 3 and Path(lines[2]).name.startswith(_PREFIX):
            shutil.rmtree(lines[2], ignore_errors=True)


_PREFIX = "prefill-"


def make_run_folder() -> Path:
    """A short new folder. Root's guests run under uids of their own, which cannot enter root's XDG_RUNTIME_DIR."""
    place = os.environ.get("XDG_RUNTIME_DIR", "") if os.getuid() != 0 else ""
    if not os.access(place, os.W_OK) or len(place) > 40:
        place = "/tmp"
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
    folder.chmod(0o711)
    return folder
