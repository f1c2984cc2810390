"""`prefill auth`: keep a token for a judge, and say who it belongs to."""

import sys

import click

from web.client import credentials
from web.client.server import Server
from web.client.trouble import USAGE, Trouble


@click.group()
def auth() -> None:
    """Sign in to a judge."""


@auth.command()
@click.option("--host", help="Address of the judge, such as http://127.0.0.1:8000.")
@click.option("--with-token", is_flag=True, help="Read the token from standard input.")
def login(host: str | None, with_token: bool) -> None:  # noqa: FBT001  click passes by name
    """Keep a token, after the judge has said that it is good."""
    host = (host or credentials.find().host).rstrip("/")
    token = sys.stdin.readline().strip() if with_token else str(click.prompt("Token", hide_input=True))
    if not token:
        raise Trouble("No token given.", USAGE)
    person = Server(credentials.Credentials(host, token)).get("/me")
    path = credentials.remember(host, token)
    click.echo(f"✓ Signed in to {host} as {person['name']}; token kept in {path}")


@auth.command()
def status() -> None:
    """Say which judge and which account the command uses."""
    found = credentials.find()
    person = Server(found).get("/me")
    click.echo(f"{found.host} as {person['name']}")
