"""Pages: Python text as coloured HTML. Classes only, so that one style sheet serves both themes."""

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

# A page is no place to colour a quarter of a megabyte; past this it is shown plain.
MOST_CHARS = 60_000

_LEXER = PythonLexer(stripnl=False, ensurenl=False)
_FORMATTER = HtmlFormatter[str](nowrap=True)


def highlighted(text: str | None) -> Markup:
    """Escaped, and coloured where it is short enough."""
    if not text:
        return Markup("")
    if len(text) > MOST_CHARS:
        return Markup.escape(text)
    # Pygments escapes every token it writes.
    return Markup(highlight(text, _LEXER, _FORMATTER).rstrip("\n"))
