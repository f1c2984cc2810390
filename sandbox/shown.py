"""What a guest behind bubblewrap sees of this machine: one Python, the shared libraries, and nothing else.

There is no shell and there are no tools: what a guest does not find, it can't use.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What a Python needs of the host: its program, its standard library, the system's shared libraries, no more."""

    program: str
    prefix: str
    library: str
    packages: str

    @classmethod
    def of(cls, python: str) -> "Interpreter":
        asked = (
            "import os, sys, sysconfig; paths = sysconfig.get_paths();"
            "print(os.path.realpath(sys.executable), sys.base_prefix, paths['stdlib'], paths['purelib'], sep='\\n')"
        )
        said = subprocess.run([python, "-I", "-S", "-c", asked], capture_output=True, text=True, check=True)
        return cls(*said.stdout.splitlines())


def shown(needed: Interpreter) -> list[str]:
    """bwrap's words that show a guest its part of the system, read-only."""
    words = [*_binds(_shared_libraries()), *_interpreter(needed)]
    for name in ("/lib", "/lib64", "/lib32"):
        words += _link_or_bind(Path(name))
    return [*words, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]


def _interpreter(needed: Interpreter) -> list[str]:
    """The system's own brings two paths along; one with a prefix of its own brings that, without its packages."""
    if needed.prefix == "/usr":
        return _binds([Path(needed.program), Path(needed.library)])
    words = _binds([Path(needed.prefix)])
    if Path(needed.packages).is_dir() and Path(needed.packages).is_relative_to(needed.prefix):
        words += ["--tmpfs", needed.packages, "--remount-ro", needed.packages]
    return words


def _shared_libraries() -> list[Path]:
    """Debian keeps them apart from all else in folders named after the machine; elsewhere /usr/lib is taken whole."""
    apart = sorted(path for path in Path("/usr/lib").glob("*-linux-*") if path.is_dir())
    return [*(apart or [Path("/usr/lib")]), *filter(Path.is_dir, [Path("/usr/lib64"), Path("/usr/lib32")])]


def _binds(paths: list[Path]) -> list[str]:
    return [word for path in paths for word in ("--ro-bind", str(path), str(path))]


def _link_or_bind(path: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.is_dir() else []
