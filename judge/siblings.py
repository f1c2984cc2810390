"""Python files loaded by path: a drill's own files for its tests, and a local solution. Standard library only."""

import importlib.util
import itertools
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType, SimpleNamespace

_fresh = itertools.count(1)


def load_file(path: Path, name: str | None = None) -> ModuleType:
    """Execute the file as a new module; two loads share nothing."""
    name = name or f"_{path.stem}_{next(_fresh)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their own module up
    spec.loader.exec_module(module)
    return module


def only(module: ModuleType, entry: Iterable[str]) -> SimpleNamespace:
    """What a test may see of a solution: its entry names, as across the wall."""
    missing = [name for name in entry if not hasattr(module, name)]
    if missing:
        raise AttributeError(f"{module.__file__} does not define {', '.join(missing)}")
    return SimpleNamespace(**{name: getattr(module, name) for name in entry})


class Siblings:
    """The `drill` fixture: `drill.model` is the loaded `model.py` beside the test file, `drill.reference` likewise."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getattr__(self, name: str) -> ModuleType:
        path = self._folder / f"{name}.py"
        if name.startswith("_") or not path.is_file():
            raise AttributeError(f"{self._folder.name} has no {name}.py")
        module = load_file(path)
        self.__dict__[name] = module
        return module
