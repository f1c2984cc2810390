"""What can go wrong for the person at the keyboard, each kind with its exit status and the next thing to do."""

import click

USAGE = 2
SERVICE = 3
NOT_SIGNED_IN = 4
LOCKED = 5
QUOTA = 6
INTERRUPTED = 130


class Trouble(click.ClickException):
    """One clear sentence, what to do next, and the exit status that DESIGN.md's vocabulary gives it."""

    def __init__(self, sentence: str, exit_status: int, *, code: str = "") -> None:
        super().__init__(sentence)
        self.exit_code = exit_status  # type: ignore[misc]  # click declares it as a class variable
        self.code = code
