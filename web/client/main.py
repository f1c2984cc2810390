"""The command tree of `prefill`. Each command's module is loaded when it is called, so that `--version` is instant."""

import importlib
import os

import click

from web.client.trouble import INTERRUPTED

COMMANDS = {
    "auth": ("web.client.auth", "auth"),
    "list": ("web.client.catalogue", "list_drills"),
    "start": ("web.client.catalogue", "start"),
    "test": ("web.client.practice", "test"),
    "submit": ("web.client.submit", "submit"),
    "log": ("web.client.submit", "log"),
    "why": ("web.client.why", "why"),
}


class Lazy(click.Group):
    """A group that imports a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option("0.1.0", prog_name="prefill")
@click.pass_context
def prefill(ctx: click.Context) -> None:
    """Drills about the inside of LLM serving engines, solved in your own editor."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def main() -> None:
    """Run the command; an interrupted one ends with 130, as shells expect."""
    try:
        status = prefill(standalone_mode=False)
    except click.Abort:
        click.echo("Interrupted.", err=True)
        raise SystemExit(INTERRUPTED) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    raise SystemExit(status or 0)  # click hands an `Exit` back as its status
