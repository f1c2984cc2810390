"""Does a drill's folder hold what its drill.toml says? Reads source as text; executes nothing. Pure."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from judge.facts import Group, Wrong
from judge.fields import DrillError, Fields

NEEDED = ("README.md", "stub.py", "reference.py", "test_visible.py", "test_hidden.py")
HIDDEN_PARTS = frozenset({"drill.model", "drill.reference"})


@dataclass(frozen=True, slots=True)
class Declared:
    """What drill.toml names, to be found in the other files."""

    entry: tuple[str, ...]
    visible: tuple[str, ...]
    groups: tuple[Group, ...]
    wrong: tuple[Wrong, ...]


def check(texts: Mapping[str, str], fields: Fields, declared: Declared) -> None:
    """Raises `DrillError` for the first thing that does not fit."""
    for name in NEEDED:
        if name not in texts:
            raise fields.wrong(name, "is missing; every drill has this file")
    trees = {name: _parsed(name, text, fields) for name, text in texts.items() if name.endswith(".py")}
    for file in ("stub.py", "reference.py"):
        for name in declared.entry:
            if name not in _names(trees[file]):
                raise fields.wrong("entry", f"define {name} in {file}, or take it out")
    _check_tests(fields, "visible", declared.visible, _tests(trees["test_visible.py"]))
    _check_groups(fields, declared.groups, _tests(trees["test_hidden.py"]))
    _check_wrong(fields, declared, texts)
    _check_visible_secrets(fields, trees["test_visible.py"])


def _parsed(name: str, text: str, fields: Fields) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        if name.startswith("wrong/"):
            return ast.Module(body=[], type_ignores=[])  # a mistake may be one of syntax
        raise DrillError(fields.where, name, error, "correct the syntax there") from error


def _names(tree: ast.Module) -> set[str]:
    kinds = (ast.ClassDef, ast.FunctionDef)
    return {node.name for node in tree.body if isinstance(node, kinds)}


def _tests(tree: ast.Module) -> tuple[str, ...]:
    names = (node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return tuple(name for name in names if name.startswith("test"))


def _check_tests(fields: Fields, key: str, declared: tuple[str, ...], written: tuple[str, ...]) -> None:
    if not declared:
        raise fields.wrong(key, "declare at least one test")
    if len(set(declared)) != len(declared):
        raise fields.wrong(key, "name each test exactly once")
    if len(set(written)) != len(written):
        raise fields.wrong(key, "two tests of one file have the same name; the first would never run")
    for name in sorted(set(written) ^ set(declared)):
        fix = f"write {name}, or take it out" if name in declared else f"declare {name}, which is in the file"
        raise fields.wrong(key, fix)


def _check_groups(fields: Fields, groups: tuple[Group, ...], written: tuple[str, ...]) -> None:
    keys = [group.key for group in groups]
    if len(set(keys)) != len(keys):
        raise fields.wrong("group", "give each group a key of its own")
    _check_tests(fields, "group", tuple(test for group in groups for test in group.tests), written)


def _check_wrong(fields: Fields, declared: Declared, texts: Mapping[str, str]) -> None:
    keys = {group.key for group in declared.groups} | {"visible"}
    for wrong in declared.wrong:
        if wrong.group not in keys:
            raise fields.wrong("wrong", f"{wrong.file} names group {wrong.group!r}, which is not declared")
        if f"wrong/{wrong.file}" not in texts:
            raise fields.wrong("wrong", f"write wrong/{wrong.file}, or take its table out")
    described = {f"wrong/{wrong.file}" for wrong in declared.wrong}
    for name in texts:
        if name.startswith("wrong/") and name.endswith(".py") and name not in described:
            raise fields.wrong("wrong", f'add a [wrong."{name[6:]}"] table')


def _check_visible_secrets(fields: Fields, tree: ast.Module) -> None:
    """A visible test is given away and must run where no model or reference is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in HIDDEN_PARTS:
            raise fields.wrong("visible", f"line {node.lineno} of test_visible.py uses {ast.unparse(node)}")
