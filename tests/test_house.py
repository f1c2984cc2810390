"""The house as its README draws it: rooms, arrows, names across borders, and what keeps it so."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from web import queue

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("web", "judge", "sandbox")
# Names that Compose 1.29 refuses or Compose 2 dropped; the file must be read by both.
NOT_IN_BOTH_COMPOSES = {"name", "version", "gpus", "include", "develop", "configs", "start_interval", "link"}


@cache
def files() -> tuple[Path, ...]:
    """What belongs to the repository, whether committed yet or not."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    return tuple(Path(name) for name in listed if (ROOT / name).exists())


def modules(*folders: str) -> list[Path]:
    return [file for file in files() if file.suffix == ".py" and str(file).startswith(folders)]


def imported(file: Path) -> Iterator[str]:
    """The absolute modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def map_of_the_house() -> dict[str, str]:
    """Folder -> what the README says of it: the lines `path/  sentence` under "Map of the house"."""
    section = (ROOT / "README.md").read_text().split("## Map of the house")[1].split("\n## ")[0]
    lines = re.findall(r"^ *([\w./<>-]+/) {2,}(\S.*)$", section, re.MULTILINE)
    return dict(lines)


def test_the_map_shows_each_folder_that_is_there() -> None:
    """No folder of the rooms is missing on the map, and nothing on the map is missing on the disk."""
    there = {f"{parent}/" for file in files() for parent in file.parents if _is_on_the_map(parent)}
    assert set(map_of_the_house()) == there


def _is_on_the_map(folder: Path) -> bool:
    parts = folder.parts
    if not parts or parts[0].startswith("."):
        return False
    return len(parts) == 1 or (len(parts) == 2 and parts[0] in ROOMS)


def test_each_line_of_the_map_says_something() -> None:
    """A folder is shown with a sentence, not just a name."""
    assert all(len(sentence.split()) >= 3 for sentence in map_of_the_house().values())


def test_the_arrows_hold() -> None:
    """web -> judge -> sandbox -> guest, and each library in its home."""
    lint = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert lint.returncode == 0, lint.stdout


@pytest.mark.parametrize("file", modules("sandbox/guest/"), ids=str)
def test_what_goes_behind_the_wall_needs_only_python(file: Path) -> None:
    """A guest has no site-packages and none of our rooms."""
    strangers = {name for name in imported(file) if name.split(".")[0] not in {*sys.stdlib_module_names, "guest"}}
    assert strangers == set()


@pytest.mark.parametrize("file", modules("drills/"), ids=str)
def test_a_drill_knows_no_room(file: Path) -> None:
    """Drills are content: the same files run on a user's machine, where none of us is installed."""
    assert {name for name in imported(file) if name.split(".")[0] in (*ROOMS, "tests")} == set()


@pytest.mark.parametrize("name", [queue.GRADE, queue.SETTLE, queue.RECORD_REPORT, queue.RECORD_CANCEL])
def test_a_job_sent_by_name_is_there(name: str) -> None:
    """Jobs cross the belts as names, so that web imports no grader; each one must resolve."""
    module, _, function = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("file", [file for file in modules(*ROOMS) if file.name == "__init__.py"], ids=str)
def test_an_init_file_holds_a_docstring_only(file: Path) -> None:
    """A re-export here would load rooms that nobody asked for, unseen by the import contracts."""
    body = ast.parse((ROOT / file).read_text()).body
    assert len(body) == 1
    assert isinstance(body[0], ast.Expr)


@pytest.mark.parametrize("file", modules(*ROOMS), ids=str)
def test_a_module_says_what_it_is_and_stays_short(file: Path) -> None:
    """Each module begins with its purpose and ends within 360 lines."""
    text = (ROOT / file).read_text()
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 360


def test_every_command_of_the_readme_is_a_target() -> None:
    """`make x` in the README works."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", (ROOT / "README.md").read_text())) <= targets


def test_both_composes_can_read_the_file() -> None:
    """docker-compose 1.29 and `docker compose` accept it: no key that only one of them knows."""
    text = (ROOT / "docker-compose.yml").read_text()
    keys = set(re.findall(r"^\s*([a-z_]+):", text, re.MULTILINE))
    assert keys & NOT_IN_BOTH_COMPOSES == set()


def test_the_lock_pins_every_direct_dependency() -> None:
    """Everything that pyproject.toml asks for stands in the lock with one version, and no address stands in it."""
    lock = (ROOT / "requirements.lock").read_text()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lock.splitlines()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    wanted = {
        re.split(r"[<>=\[;~ ]", line)[0].lower() for group in (project["dependencies"], *extras) for line in group
    }
    assert wanted <= pinned
    assert "/" not in lock
