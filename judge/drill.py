"""One folder of drills/, loaded and checked: the only place that reads drills. Standard library only.

A drill is read once, whole, so that its revision is the hash of exactly what was read. A broken drill is a fault in the
catalogue with a sentence that says what to change; it never takes the others down.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from judge.checks import Declared, check
from judge.facts import VISIBLE, Group, Source, Wrong, group_from, wrong_from
from judge.fields import DrillError, Fields
from judge.workspace import bundle
from sandbox.limits import LIMIT_CLASSES, Limits


@dataclass(frozen=True, slots=True)
class Drill:
    """One exercise. `texts` holds every text file of the folder by its path inside it."""

    uuid: str
    slug: str
    family: str
    folder: Path
    title: str
    level: int
    minutes: int
    engines: tuple[str, ...]
    companies: tuple[str, ...]
    concept: str
    tags: tuple[str, ...]
    entry: tuple[str, ...]
    limit_class: str
    cpu_factor: int
    visible: tuple[str, ...]
    groups: tuple[Group, ...]
    wrong: tuple[Wrong, ...]
    sources: tuple[Source, ...]
    revision: str
    texts: Mapping[str, str]

    @property
    def limits(self) -> Limits:
        return LIMIT_CLASSES[self.limit_class]

    @property
    def statement(self) -> str:
        return self.texts["README.md"]

    @property
    def stub(self) -> str:
        return self.texts["stub.py"]

    @property
    def reference(self) -> str:
        return self.texts["reference.py"]

    @property
    def contract(self) -> str | None:
        return self.texts.get("contract.py")

    @property
    def visible_tests(self) -> str:
        return self.texts["test_visible.py"]

    @property
    def hints(self) -> str:
        return self.texts.get("hints.md", "")

    @property
    def editorial(self) -> str:
        return self.texts.get("editorial.md", "")

    @property
    def visible_group(self) -> Group:
        return Group(VISIBLE, "Visible tests", 1, VISIBLE, self.visible, len(self.visible))

    def groups_of(self, kind: str) -> tuple[Group, ...]:
        """What a grading of this kind runs: `run` the visible tests, `submit` all, in this order."""
        return (self.visible_group,) if kind == "run" else (self.visible_group, *self.groups)

    def bundle(self) -> dict[str, str]:
        """The files of a workspace, by path; nothing hidden is among them."""
        return bundle(self.title, self.texts)


@dataclass(frozen=True, slots=True)
class Fault:
    """A folder that is not a usable drill, and what to do about it."""

    folder: Path
    sentence: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every usable drill by slug, and every folder that is none."""

    drills: Mapping[str, Drill]
    faults: tuple[Fault, ...]


def catalogue(roots: Iterable[Path]) -> Catalogue:
    """Every `<family>/<slug>/drill.toml` under the roots; of two with one slug or uuid the first counts."""
    drills: dict[str, Drill] = {}
    faults: list[Fault] = []
    for file in sorted(file for root in roots for file in Path(root).glob("*/*/drill.toml")):
        try:
            drill = load_drill(file.parent)
            _refuse_twins(drill, drills.values())
        except (DrillError, OSError) as error:
            faults.append(Fault(file.parent, str(error)))
        else:
            drills[drill.slug] = drill
    return Catalogue(drills, tuple(faults))


def _refuse_twins(drill: Drill, others: Iterable[Drill]) -> None:
    for other in others:
        if drill.slug == other.slug:
            raise DrillError(f"{drill.folder}", "slug", drill.slug, f"rename the folder; {other.folder} has this name")
        if drill.uuid == other.uuid:
            raise DrillError(f"{drill.folder}/drill.toml", "uuid", drill.uuid, f"take a new one; {other.folder} has it")


def load_drill(folder: Path) -> Drill:
    """The drill in `folder`. Raises `DrillError` for a broken one."""
    folder = folder.resolve()
    files = _read(folder)
    texts = _decoded(folder, files)
    where = f"{folder / 'drill.toml'}"
    try:
        fields = Fields(where, tomllib.loads(texts["drill.toml"]))
    except KeyError:
        raise DrillError(where, "drill.toml", "", "is missing; write it as drills/README.md says") from None
    except tomllib.TOMLDecodeError as error:
        raise DrillError(where, "TOML", error, "correct the syntax at that place") from error
    drill = _drill(folder, fields, texts, _revision(files))
    check(texts, fields, Declared(drill.entry, drill.visible, drill.groups, drill.wrong))
    return drill


def _read(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(folder).parts)
    }


def _decoded(folder: Path, files: Mapping[str, bytes]) -> dict[str, str]:
    texts = {}
    for name, content in files.items():
        if name.endswith((".py", ".md", ".toml")):
            try:
                texts[name] = content.decode()
            except UnicodeDecodeError as error:
                raise DrillError(f"{folder / name}", "encoding", error.reason, "save it as UTF-8") from error
    return texts


def _revision(files: Mapping[str, bytes]) -> str:
    """Lengths stand before names and contents, so that no two different folders hash alike."""
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        for part in (name.encode(), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:16]


TOP = frozenset(
    {
        *("uuid", "title", "level", "minutes", "engines", "companies", "concept", "tags", "entry"),
        *("limit_class", "cpu_factor", "visible", "source", "group", "wrong"),
    }
)


def _drill(folder: Path, fields: Fields, texts: Mapping[str, str], revision: str) -> Drill:
    fields.only(TOP)
    limit_class = fields.text("limit_class")
    if limit_class not in LIMIT_CLASSES:
        raise fields.wrong("limit_class", f"use one of {', '.join(LIMIT_CLASSES)}")
    return Drill(
        uuid=fields.text("uuid"),
        slug=folder.name,
        family=folder.parent.name,
        folder=folder,
        title=fields.text("title"),
        level=fields.number("level", 1, 5),
        minutes=fields.number("minutes", 1, 600),
        engines=fields.texts("engines"),
        companies=fields.texts("companies", []),
        concept=fields.text("concept"),
        tags=fields.texts("tags", []),
        entry=fields.texts("entry"),
        limit_class=limit_class,
        cpu_factor=fields.number("cpu_factor", 2, 1000),
        visible=fields.texts("visible"),
        groups=tuple(group_from(table) for table in fields.tables("group")),
        wrong=tuple(wrong_from(name, table) for name, table in fields.named_tables("wrong").items()),
        sources=tuple(Source(table.text("what"), table.text("where")) for table in fields.tables("source")),
        revision=revision,
        texts=texts,
    )
