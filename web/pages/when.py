"""Pages: moments as people read them. UTC in the text; the browser turns them into local time."""

from datetime import UTC, datetime


def _moment(value: str | datetime | None) -> datetime | None:
    if value is None or value == "":
        return None
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def stamp(value: str | datetime | None) -> str:
    """For the `datetime` attribute of a time element."""
    moment = _moment(value)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else ""


def reading(value: str | datetime | None) -> str:
    """For a reader: `30 Nov 2026, 19:40 UTC`."""
    moment = _moment(value)
    return f"{moment.day} {moment:%b %Y, %H:%M} UTC" if moment else ""
