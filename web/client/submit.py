"""`prefill submit` and `prefill log`: send the solution, watch it being judged, look back."""

import json
import uuid
from pathlib import Path
from typing import Any

import click

from judge.verdict import EXIT_STATUS, Verdict
from web.client import credentials, words, workspace
from web.client.server import Server
from web.client.trouble import INTERRUPTED


@click.command()
@click.argument("path", default=".", type=click.Path(path_type=Path))
@click.option("--run", "kind", flag_value="run", help="Only the visible tests.")
@click.option("--all", "kind", flag_value="submit", default="submit", help="Visible and hidden tests (default).")
@click.option("--no-wait", is_flag=True, help="Print the id and return.")
@click.option("--json", "as_json", is_flag=True, help="Print the finished submission as JSON.")
def submit(path: Path, kind: str, no_wait: bool, as_json: bool) -> None:  # noqa: FBT001  click passes by name
    """Have the judge grade your solution; the exit status is 0 only for `accepted`."""
    here = workspace.find(path)
    server = Server(credentials.find_for(here.host))
    body = {"drill": here.drill, "source": here.read_solution(), "kind": kind, "revision": here.revision}
    sent = server.post("/submissions", body, headers={"Idempotency-Key": str(uuid.uuid4())})
    if no_wait:
        click.echo(sent["id"])
        return
    finished = _watch(server, sent, quiet=as_json)
    if as_json:
        click.echo(json.dumps(finished, indent=2))
    raise click.exceptions.Exit(EXIT_STATUS[Verdict(finished["verdict"])])


def _watch(server: Server, sent: dict[str, Any], *, quiet: bool) -> dict[str, Any]:
    say = (lambda _line: None) if quiet else click.echo
    say(f"{sent['title']} · {sent['id']} · Ctrl-C keeps it running")
    try:
        _follow(server, sent["id"], say)
        finished: dict[str, Any] = server.get(f"/submissions/{sent['id']}", wait=20)
    except KeyboardInterrupt:
        click.echo(f"\nStill being judged: {sent['id']}   (prefill log)", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    say(words.verdict_line(finished["verdict"], finished["groups"]))
    if finished["message"]:
        say(words.clean(finished["message"]))
    if failed := next((group for group in finished["groups"] if group["state"] == "failed"), None):
        shape = f" The smallest case has {failed['shape']} calls." if failed.get("shape") else ""
        say(f"{failed['title']}: {str(failed['verdict']).replace('_', ' ')}.{shape}   prefill why")
    return finished


def _follow(server: Server, submission: str, say: Any) -> None:
    for event, data in server.events(submission):
        if event == "group" and data["state"] != "not_reached":
            say(words.group_line(data))
        elif event == "verdict" and data.get("verdict") not in ("accepted", "import_error"):
            say("  making the failing case small …")


@click.command()
@click.argument("slug", required=False)
@click.option("--limit", default=20, show_default=True, help="How many at the most.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def log(slug: str | None, limit: int, as_json: bool) -> None:  # noqa: FBT001  click passes by name
    """List your submissions, newest first; SLUG keeps one drill's."""
    params = {"drill": slug} if slug else {}
    items = Server(credentials.find()).get("/submissions", limit=limit, **params)["items"]
    if as_json:
        click.echo(json.dumps(items, indent=2))
        return
    if not items:
        click.echo("Nothing submitted yet.  Next:  prefill list")
    for item in items:
        said = item["verdict"] or item["state"]
        click.echo(f"{item['id']:<16} {item['created_at'][:19]:<20} {item['drill']:<22} {item['kind']:<7} {said}")
