"""The drills as the desk shows them: the catalogue, kept fresh while authors edit, and statements turned into HTML.

Statements are written by drill authors, not by visitors; they are cleaned all the same, since a page has one policy for
everything that it did not write itself.
"""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nh3
from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from judge.drill import Catalogue, Drill, catalogue

LOOK_AGAIN_S = 1.0
# Colouring is quadratic on some inputs (200 KB of parentheses: 3.6 s); a longer block is shown plain.
MOST_COLOURED = 64 * 1024
MOST_PAGES = 256

TAGS = {"a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"}
TAGS |= {"s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
ATTRIBUTES = {"a": {"href", "title"}, "span": {"class"}, "code": {"class"}, "ol": {"start"}}

_lexer = PythonLexer()
_formatter: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


def _coloured(code: str, language: str, _attributes: str) -> str:
    """Python as spans with classes; "" leaves a block to be escaped as it is."""
    if language != "python" or len(code.encode()) > MOST_COLOURED:
        return ""
    return highlight(code, _lexer, _formatter)


_markdown = MarkdownIt("commonmark", {"html": False, "highlight": _coloured}).enable("table")


def html_of(text: str) -> str:
    """Markdown as HTML that holds no script, style, image or form."""
    return nh3.clean(_markdown.render(text), tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https"})


def hints_of(text: str) -> list[str]:
    """Each hint by itself: a hints file is cut at its second-level headings, or is one hint."""
    parts = [part for part in re.split(r"(?m)^(?=## )", text) if part.strip()]
    return [part for part in parts if part.startswith("## ")] or parts


@dataclass(slots=True)
class Shelf:
    """The catalogue of some directories. Read when first asked for, and again when a file there has changed."""

    roots: Sequence[Path]
    load: Callable[[Sequence[Path]], Catalogue] = catalogue
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _held: Catalogue | None = field(default=None, init=False)
    _stamp: int = field(default=0, init=False)
    _looked_at: float = field(default=0.0, init=False)
    _pages: "OrderedDict[tuple[str, str, str], str]" = field(default_factory=OrderedDict, init=False)

    def catalogue(self) -> Catalogue:
        """Every usable drill. At most once a second the files are looked at for changes."""
        with self._lock:
            now = self.clock()
            if self._held is None or now - self._looked_at >= LOOK_AGAIN_S:
                self._looked_at = now
                stamp = hash(frozenset(_stamps(self.roots)))
                if self._held is None or stamp != self._stamp:
                    self._held, self._stamp = self.load(self.roots), stamp
            return self._held

    def drill(self, slug: str) -> Drill | None:
        """One drill, or None."""
        return self.catalogue().drills.get(slug)

    def page(self, drill: Drill, name: str, text: str) -> str:
        """`html_of(text)`, made once for each revision."""
        key = (drill.slug, drill.revision, name)
        with self._lock:
            if key in self._pages:
                return self._pages[key]
        made = html_of(text)
        with self._lock:
            self._pages[key] = made
            while len(self._pages) > MOST_PAGES:
                self._pages.popitem(last=False)
        return made


def _stamps(roots: Sequence[Path]) -> Iterator[tuple[str, int, int]]:
    """What changes about a file when somebody saves it."""
    for root in roots:
        for path in Path(root).glob("*/*/**/*"):
            if path.name == "__pycache__" or path.suffix == ".pyc":
                continue
            try:
                found = path.stat()
            except OSError:
                continue  # saved and renamed under our eyes: the next look sees it
            yield str(path), found.st_mtime_ns, found.st_size
