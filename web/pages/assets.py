"""Pages: addresses of our own static files, changed when their bytes change."""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from flask import current_app, url_for


def url(name: str) -> str:
    """The address of a static file with a mark of its content, or "" when the front end is not built."""
    mark = _mark(Path(current_app.static_folder or "") / name)
    return url_for("static", filename=name, v=mark) if mark else ""


def _mark(path: Path) -> str:
    try:
        return _mark_of(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return ""


@lru_cache(maxsize=64)
def _mark_of(path: Path, _changed_ns: int) -> str:
    return sha256(path.read_bytes()).hexdigest()[:12]
