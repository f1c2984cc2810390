"""`prefill test`: the visible tests and one's own, offline, with plain pytest in the workspace."""

import platform
import subprocess
import sys
from pathlib import Path

import click

from web.client import workspace
from web.client.trouble import SERVICE, Trouble

TESTS_FAILED = 1
NO_TESTS = 5


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("path", default=".", type=click.Path(path_type=Path))
@click.option("-k", "expression", help="Only tests whose name matches, as pytest's -k.")
def test(path: Path, expression: str | None) -> None:
    """Run the visible tests and your own, here, without the network."""
    here = workspace.find(path)
    pytest = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", "--rootdir", "."]
    chosen = ["-k", expression] if expression else []
    ended = subprocess.run([*pytest, *chosen, "tests"], cwd=here.folder, check=False).returncode
    if ended == 0:
        click.echo(f"All passed with Python {platform.python_version()}, offline.  Next:  prefill submit")
    elif ended == TESTS_FAILED:
        raise click.exceptions.Exit(1)
    elif ended == NO_TESTS:
        raise Trouble("No test was run: `tests/` holds none that match.", 2)
    else:
        raise Trouble(f"pytest ended with status {ended} before it could run the tests.", SERVICE)
