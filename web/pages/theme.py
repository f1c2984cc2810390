"""Pages: light, dark, or what the system says. A cookie, so that the first paint is already right."""

from flask import request

CHOICES = ("light", "dark")


def chosen() -> str:
    """The theme the reader chose, or "" to follow the system."""
    wanted = request.cookies.get("theme", "")
    return wanted if wanted in CHOICES else ""
