"""A drill loads, or one sentence says which file, key and value to change; a broken one takes no other down."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.drill import Drill, catalogue, load_drill
from judge.fields import DrillError
from tests.judge.conftest import COUNTER


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the counter to be broken."""
    return Path(shutil.copytree(COUNTER, tmp_path / "counting" / "counter"))


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return change


BREAKAGES = {
    "no drill.toml": (lambda folder: (folder / "drill.toml").unlink(), "drill.toml", "is missing"),
    "not TOML": (edit("drill.toml", "level = 1", "level = ="), "TOML", "correct the syntax"),
    "not UTF-8": (lambda folder: (folder / "hints.md").write_bytes(b"\xff"), "hints.md", "UTF-8"),
    "a key is missing": (edit("drill.toml", "minutes = 5\n", ""), "minutes", "is missing"),
    "a key is misspelled": (edit("drill.toml", "minutes = 5", "minuets = 5"), "minuets", "is not a key"),
    "a number out of range": (edit("drill.toml", "level = 1", "level = 9"), "level", "from 1 to 5"),
    "a bool for a number": (edit("drill.toml", "level = 1", "level = true"), "level", "whole number"),
    "a text for a list": (edit("drill.toml", 'entry = ["Counter"]', 'entry = "Counter"'), "entry", "list"),
    "an unknown limit class": (edit("drill.toml", '"small"', '"huge"'), "limit_class", "small"),
    "an entry that the stub lacks": (edit("stub.py", "class Counter", "class Other"), "entry", "stub.py"),
    "an entry that the reference lacks": (edit("reference.py", "class Counter", "class Other"), "entry", "reference"),
    "no reference": (lambda folder: (folder / "reference.py").unlink(), "reference.py", "is missing"),
    "a syntax error": (edit("model.py", "def ", "def def "), "model.py", "syntax"),
    "a visible test undeclared": (edit("drill.toml", '"test_adds_up", ', ""), "visible", "declare test_adds_up"),
    "a hidden test undeclared": (edit("test_hidden.py", "def test_negative", "def test_b(): pass\n\ndef test_negative"),
                                 "group", "declare test_b"),
    "a declared test unwritten": (edit("test_hidden.py", "def test_refusal", "def check_refusal"), "group", "write"),
    "a test in two groups": (edit("drill.toml", '"test_negative_is_refused"', '"test_history_in_order"'), "group", ""),
    "two tests of one name": (edit("test_hidden.py", "test_negative_is_refused", "test_refusal_changes_nothing"),
                              "group", "same name"),
    "two groups of one key": (edit("drill.toml", 'key = "refuse"', 'key = "sum"'), "group", "key of its own"),
    "a group called visible": (edit("drill.toml", 'key = "sum"', 'key = "visible"'), "key", "not 'visible'"),
    "no comparisons": (edit("drill.toml", "comparisons = 20", "comparisons = 0"), "comparisons", "from 1"),
    "a mistake for no group": (edit("drill.toml", 'group = "refuse"', 'group = "none"'), "wrong", "not declared"),
    "a mistake unwritten": (lambda folder: (folder / "wrong/crashes_on_seven.py").unlink(), "wrong", "write wrong/"),
    "a mistake undeclared": (lambda folder: (folder / "wrong/new.py").write_text(""), "wrong", "add a"),
    "a mistake that is accepted": (edit("drill.toml", '"crashed"', '"accepted"'), "verdict", "name a verdict"),
    "a visible test with the model": (edit("test_visible.py", "counter = ", "drill.model; counter = "), "visible",
                                      "drill.model"),
}  # fmt: skip


@pytest.mark.parametrize(("breakage", "key", "fix"), BREAKAGES.values(), ids=BREAKAGES.keys())
def test_a_broken_drill_says_what_to_change(folder: Path, breakage: Callable[[Path], None], key: str, fix: str) -> None:
    breakage(folder)
    with pytest.raises(DrillError) as caught:
        load_drill(folder)
    message = str(caught.value)
    assert str(folder) in message
    assert key in message
    assert fix in message


def test_a_broken_drill_takes_no_other_down(folder: Path) -> None:
    shutil.copytree(COUNTER, folder.parent / "broken")
    (folder.parent / "broken" / "drill.toml").write_text("nonsense")
    (folder.parent / "empty").mkdir()
    found = catalogue([folder.parents[1]])
    assert list(found.drills) == ["counter"]
    assert [fault.folder.name for fault in found.faults] == ["broken"]


def test_of_two_drills_with_one_uuid_the_first_counts(folder: Path) -> None:
    shutil.copytree(COUNTER, folder.parent / "twin")
    found = catalogue([folder.parents[1]])
    assert list(found.drills) == ["counter"]
    assert "uuid" in found.faults[0].sentence


@pytest.mark.parametrize("name", ["test_hidden.py", "drill.toml", "editorial.md", "accepted/running_total.py"])
def test_a_revision_changes_with_every_file(counter: Drill, folder: Path, name: str) -> None:
    assert load_drill(folder).revision == counter.revision
    (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
    assert load_drill(folder).revision != counter.revision


def test_a_revision_is_not_changed_by_what_running_leaves_behind(counter: Drill, folder: Path) -> None:
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / "__pycache__" / "model.cpython-311.pyc").write_bytes(b"x")
    (folder / ".hypothesis").mkdir()
    (folder / ".hypothesis" / "x").write_text("x")
    assert load_drill(folder).revision == counter.revision


def test_a_run_has_the_visible_tests_and_a_submit_all_in_order(counter: Drill) -> None:
    assert [group.key for group in counter.groups_of("run")] == ["visible"]
    assert [group.key for group in counter.groups_of("submit")] == ["visible", "sum", "refuse", "history"]
