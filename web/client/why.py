"""`prefill why`: the smallest case that breaks a submission, and the same as a test of one's own."""

import json
from pathlib import Path
from typing import Any

import click

from web.client import credentials, words, workspace
from web.client.server import Server
from web.client.trouble import LOCKED, USAGE, Trouble


@click.command()
@click.argument("submission", required=False)
@click.argument("group", required=False)
@click.option("--save", is_flag=True, help="Write the case into tests/ as a pytest file.")
@click.option("--reveal", is_flag=True, help="Use one of your free reveals without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def why(submission: str | None, group: str | None, save: bool, reveal: bool, as_json: bool) -> None:  # noqa: FBT001
    """Show the failing case of SUBMISSION (default: your last one here) in GROUP (default: the first that failed)."""
    server = Server(credentials.find())
    graded = _graded(server, submission)
    failed = _failed_group(graded, group)
    case = _case(server, graded["id"], failed, reveal=reveal)
    if as_json:
        click.echo(json.dumps(case, indent=2))
    else:
        click.echo(f"{graded['title']} · {graded['id']} · {failed['key']}\n")
        click.echo(words.case_text(case))
    if save:
        _save(case, graded["id"], failed["key"])
    elif not as_json:
        click.echo("\nKeep it as a test of yours:  prefill why --save")


def _graded(server: Server, submission: str | None) -> dict[str, Any]:
    if submission is None:
        here = workspace.find(Path())
        items = server.get("/submissions", drill=here.drill, limit=1)["items"]
        if not items:
            raise Trouble("Nothing submitted for this drill yet.  Next:  prefill submit", USAGE)
        submission = items[0]["id"]
    found: dict[str, Any] = server.get(f"/submissions/{submission}", wait=20)
    if found["state"] != "finished":
        raise Trouble(f"{submission} is still being judged.", USAGE)
    return found


def _failed_group(graded: dict[str, Any], key: str | None) -> dict[str, Any]:
    failed = [group for group in graded["groups"] if group["state"] == "failed"]
    if not failed:
        said = graded["message"] or words.WORDS[graded["verdict"]].capitalize()
        click.echo(words.clean(f"{graded['id']} has no failing case: {said}"))
        raise click.exceptions.Exit(0 if graded["verdict"] == "accepted" else USAGE)
    for group in failed:
        if key in (None, group["key"]):
            return dict(group)
    raise Trouble(f"No failing group {key!r}; there are: {', '.join(group['key'] for group in failed)}", USAGE)


def _case(server: Server, submission: str, group: dict[str, Any], *, reveal: bool) -> Any:
    path = f"/submissions/{submission}/cases/{group['key']}"
    try:
        return server.get(path)
    except Trouble as trouble:
        if trouble.exit_code != LOCKED:
            raise
    left = server.get("/me").get("reveals_left")
    if left is not None and not reveal and not click.confirm(f"Use one of your {left} free reveals?", default=False):
        raise Trouble("Kept closed. `prefill why --reveal` opens it.", LOCKED)
    return server.post(f"{path}/reveal")


def _save(case: dict[str, Any], submission: str, group: str) -> None:
    here = workspace.find(Path())
    name = f"test_{group}_{submission}".replace("-", "_").lower()
    path = here.folder / "tests" / f"{name}.py"
    if path.exists():
        click.echo(f"\n{path.relative_to(here.folder)} is there already.")
        return
    path.write_text(case["repro"], encoding="utf-8")
    click.echo(f"\nSaved as {path.relative_to(here.folder)}; it fails until you mend the cause.  Next:  prefill test")
