"""What may be sent in: one source file of text, in reasonable amounts. Pure."""

import hashlib
import re
from dataclasses import dataclass

from judge.submission import Kind
from web.refused import Refused

MOST_SOURCE = 256 * 1024
SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
ID = re.compile(r"s_[a-z0-9]{16}")
KEY = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A submission that may come in: for which drill, what kind, which text; `key` makes sending it again harmless."""

    slug: str
    kind: Kind
    source: str
    key: str | None = None
    revision: str | None = None

    @property
    def digest(self) -> str:
        """What the sender asked for, so that the same key with another wish is noticed."""
        parts = (self.slug, self.kind.value, self.revision or "", self.source)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def checked_source(source: bytes | str) -> str:
    """The source as text, or a refusal. Line ends become \\n: a form sends \\r\\n whatever its writer typed."""
    text, size = _text(source)
    if size > MOST_SOURCE:
        raise Refused(413, "source_too_large", "Source too large", f"{size} bytes; at most {MOST_SOURCE} are graded.")
    if "\0" in text:
        raise Refused(422, "source_has_nul", "Source holds a NUL", "A NUL character cannot stand in a Python file.")
    if not text.strip():
        raise Refused(422, "source_empty", "Source is empty", "There is nothing to grade.")
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def checked_kind(kind: str) -> Kind:
    """`run` or `submit`."""
    if kind not in set(Kind):
        raise Refused(422, "bad_kind", "Unknown kind", "A submission is a `run` or a `submit`.")
    return Kind(kind)


def checked_key(key: str | None) -> str | None:
    """An idempotency key, if there is one."""
    if key is not None and not KEY.fullmatch(key):
        raise Refused(422, "bad_idempotency_key", "Bad idempotency key", "Use 1 to 200 visible ASCII characters.")
    return key


def _text(source: bytes | str) -> tuple[str, int]:
    try:
        if isinstance(source, bytes):
            return source.decode(), len(source)
        return source, len(source.encode())
    except UnicodeError:
        raise Refused(422, "not_utf8", "Source is not UTF-8", "Save the file as UTF-8 and send it again.") from None
