"""A drill's folder on the user's disk: found from anywhere inside it, written without ever losing a file of theirs."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from web.client.trouble import USAGE, Trouble

MARK = ".prefill.json"
THEIRS = ("solution.py", "tests/test_mine.py")


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder of one drill; which drill, revision and judge stand in its `.prefill.json`, not in its name."""

    folder: Path
    host: str
    drill: str
    revision: str

    @property
    def solution(self) -> Path:
        return self.folder / "solution.py"

    def read_solution(self) -> str:
        """The source as it will be sent. Raises `Trouble` where the judge would refuse the bytes anyway."""
        try:
            return self.solution.read_bytes().decode("utf-8")
        except FileNotFoundError:
            raise Trouble(
                f"{self.solution} is not there. `prefill start {self.drill}` writes a fresh one.", USAGE
            ) from None
        except UnicodeDecodeError as error:
            raise Trouble(f"{self.solution} is not UTF-8 at byte {error.start}. Save it as UTF-8.", USAGE) from None
        except OSError as error:
            raise Trouble(f"Cannot read {self.solution}: {error.strerror}.", USAGE) from None


def find(start: Path) -> Workspace:
    """The workspace that `start` (a file or a folder) lies in."""
    start = start.resolve()
    if not start.exists():
        raise Trouble(f"{start} does not exist.", USAGE)
    for folder in [start, *start.parents]:
        if (folder / MARK).is_file():
            return _load(folder)
    raise Trouble("Not inside a drill's folder. `prefill start SLUG` makes one; then `cd` into it.", USAGE)


def _load(folder: Path) -> Workspace:
    try:
        facts = json.loads((folder / MARK).read_text())
        return Workspace(folder, facts["host"], facts["drill"], facts["revision"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Trouble(f"{folder / MARK} is damaged ({error}). Run `prefill start` again beside it.", USAGE) from None


def write(folder: Path, host: str, bundle: dict[str, object]) -> list[str]:
    """Lay the bundle's files; the user's own files are kept where they exist. Returns the names that were kept."""
    files = bundle["files"]
    if not isinstance(files, dict):
        raise Trouble("The judge sent a bundle without files.", 3)
    kept = [name for name in THEIRS if name in files and (folder / name).exists()]
    for name, text in files.items():
        if name not in kept:
            _write_whole(_inside(folder, str(name)), str(text))
    mark = {"host": host, "drill": bundle["slug"], "revision": bundle["revision"]}
    _write_whole(folder / MARK, json.dumps(mark, indent=2) + "\n")
    return kept


def _inside(folder: Path, name: str) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise Trouble(f"The judge sent a file that would land outside the folder: {name!r}.", 3)
    return path


def _write_whole(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise Trouble(f"Cannot write {path}: {error.strerror}.", USAGE) from error
