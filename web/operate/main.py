"""Operating: the `prefilld` command. Each room is one subcommand, here as under Compose; `run` is all of them."""

import os
import sys
from pathlib import Path

import click

from web.operate.addresses import DRILLS, complete_environment
from web.operate.complaint import Complaint


class Commands(click.Group):
    """Shows a Complaint as its sentence, and ends with status 1."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except Complaint as complaint:
            click.echo(f"prefilld: {complaint}", err=True)
            raise SystemExit(1) from None


@click.group(cls=Commands)
@click.version_option(package_name="prefill")
def main() -> None:
    """Runs Prefill: the whole house on one machine (run), or one room of it."""


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, help="Port to listen on.")
@click.option("--state", default="var", show_default=True, type=click.Path(path_type=Path), help="What must last.")
@click.option("--drills", default=str(DRILLS), help="Folders of drills, separated as in PATH.")
def run(host: str, port: int, state: Path, drills: str) -> None:
    """Start everything on this machine, and print the page to open."""
    from web.operate.run import run_house

    run_house(state.absolute(), (host, port), drills)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True)
@click.option("--threads", default=128, show_default=True, help="Open result streams count too.")
def web(host: str, port: int, threads: int) -> None:
    """The pages and the API."""
    name = f"[{host}]" if ":" in host else host
    _become(
        "gunicorn",
        *("--bind", f"{name}:{port}", "--worker-class", "gthread", "--workers", "1", "--threads", str(threads)),
        *("--graceful-timeout", "2", "--no-control-socket", "--access-logfile", "-", "web.app:create_app()"),
    )


@main.command()
def grader() -> None:
    """Grades submissions; many may run, on many machines."""
    _become("judge.worker")


@main.command()
def keeper() -> None:
    """Holds the guests of this machine behind their wall."""
    _become("sandbox.keeper")


@main.command()
def recorder() -> None:
    """Writes verdicts into the database."""
    _become("web.recorder")


@main.group()
def db() -> None:
    """The database."""


@db.command()
def upgrade() -> None:
    """Bring the database of PREFILL_DATABASE_URL to the newest schema."""
    from web.operate.database import upgrade_database

    complete_environment()
    upgrade_database(os.environ.get("PREFILL_DATABASE_URL", ""))


@main.command()
@click.option("--state", default="var", show_default=True, type=click.Path(path_type=Path))
def doctor(state: Path) -> None:
    """Look over this machine: one line a part, and what to do."""
    from web.operate.doctor import examine

    raise SystemExit(examine(state.absolute(), click.echo))


@main.command()
def owner() -> None:
    """The owner's sign-in link, and a token for the `prefill` command."""
    from web.operate.account import introduce_owner

    complete_environment()
    introduce_owner(click.echo)


@main.command()
@click.option("--port", default=8000, show_default=True)
def healthy(port: int) -> None:
    """Whether the web on this machine answers: status 0 or 1."""
    from web.operate.readiness import web_ready

    raise SystemExit(0 if web_ready("127.0.0.1", port, "ready")(0) else 1)


@main.command()
@click.option("--secrets", "folder", default="/secrets", show_default=True, type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Compose's first step: make the keys that are missing."""
    from web.operate.init import init_house

    init_house(folder, click.echo)


def _become(module: str, *words: str) -> None:
    """Replace this process by the room: no process of ours stands between it and its supervisor's signals."""
    complete_environment()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", module, *words])


if __name__ == "__main__":
    main()
