"""`prefill list` and `prefill start`: what there is, and a folder to work in."""

import json
from pathlib import Path

import click

from web.client import credentials, workspace
from web.client.server import Server

STATUS_MARKS = {"accepted": "✓ solved", "attempted": "~ tried", None: ""}


@click.command("list")
@click.argument("query", required=False, default="")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_drills(query: str, as_json: bool) -> None:  # noqa: FBT001  click passes by name
    """Show the drills; QUERY keeps those whose name, title, concept or engine contains it."""
    drills = [drill for drill in Server(credentials.find()).get("/drills")["items"] if _matches(drill, query)]
    if as_json:
        click.echo(json.dumps(drills, indent=2))
        return
    if not drills:
        click.echo(f"No drill matches {query!r}." if query else "This judge has no drills yet.")
        return
    for drill in drills:
        facts = f"level {drill['level']}  {drill['minutes']:>3} min  {', '.join(drill['engines'])}"
        click.echo(
            f"{drill['slug']:<22} {drill['title']:<28} {facts}  {STATUS_MARKS.get(drill['status'], '')}".rstrip()
        )
    click.echo("\nNext:  prefill start " + drills[0]["slug"])


def _matches(drill: dict[str, object], query: str) -> bool:
    text = " ".join(str(drill[key]) for key in ("slug", "title", "concept", "engines", "tags"))
    return query.casefold() in text.casefold()


@click.command()
@click.argument("slug")
@click.option("--dir", "folder", type=click.Path(path_type=Path, file_okay=False), help="Where (default: ./SLUG).")
def start(slug: str, folder: Path | None) -> None:
    """Write the drill's folder: statement, stub, visible tests. Files of yours that are there already are kept."""
    server = Server(credentials.find())
    bundle = server.get(f"/drills/{slug}/bundle")
    folder = folder or Path(slug)
    kept = workspace.write(folder, server.host, bundle)
    click.echo(f"✓ {bundle['title']} → {folder}/")
    if kept:
        click.echo(f"  kept your {', '.join(kept)}")
    click.echo(f"Next:  cd {folder}, read README.md, edit solution.py, then  prefill test")
