"""Escapes text, marks what is cited in it, and cleans HTML: nothing that a document holds is ever run.

Whatever a document holds goes through one cleaner with an allow-list. Ids and classes come from here alone: they carry
a random mark while they pass the cleaner, which takes off all others, so that no document can name its own.
"""

import html
import re
import secrets

import nh3

from core.domain.corpus import Heading, Span

CITED = "cited"  # the id of the first mark: links scroll to it
# Elements a document may have; the others are taken off, their text stays.
ALLOWED_TAGS = frozenset(
    "h2 h3 h4 h5 h6 p br hr em strong b i u s del ins code pre kbd samp var sub sup q cite small abbr mark span div "
    "blockquote ul ol li dl dt dd table caption thead tbody tfoot tr th td a".split()
)
_UNREADABLE = frozenset({"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "title"})
_WEB = ("http://", "https://", "mailto:")


class Marker:
    """Escapes text and marks the part of it that is cited; keeps ids and classes apart from the document's own."""

    def __init__(self, cited: Span | None) -> None:
        self._cited = cited
        self.has_marked = False  # whether any of it was cited
        self.own = f"x{secrets.token_hex(12)}-"  # what ids and classes of ours begin with until they are cleaned

    def html(self, text: str, start: int) -> str:
        """`text`, which stands at `start` of the page, escaped, with the cited part of it in a mark."""
        cited = self._part_of(start, start + len(text))
        if cited is None:
            return html.escape(text)
        first, last = cited.start - start, cited.end - start
        before, inside, after = text[:first], text[first:last], text[last:]
        if not inside.strip():
            return html.escape(text)
        anchor = "" if self.has_marked else f' id="{self.own}{CITED}"'
        self.has_marked = True
        mark = f'<mark class="{self.own}{CITED}"{anchor}>{html.escape(inside)}</mark>'
        return f"{html.escape(before)}{mark}{html.escape(after)}"

    def touches(self, start: int, end: int) -> bool:
        """Whether any of the page's characters from `start` to `end` are cited."""
        return self._part_of(start, end) is not None

    def clean(self, body: str) -> str:
        """HTML that is safe to show, whatever was in it."""
        between = re.compile(rf'</mark>(\s+)<mark class="{self.own}{CITED}">')  # a line break inside of what is cited
        return nh3.clean(
            between.sub(r"\1", body),
            tags=set(ALLOWED_TAGS),
            clean_content_tags=set(_UNREADABLE),
            attributes={"*": {"id", "class"}, "a": {"href"}, "ol": {"start"}},
            attribute_filter=self._attribute,
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer nofollow",
        )

    def _attribute(self, tag: str, name: str, value: str) -> str | None:
        if name in ("id", "class") or (name == "href" and value.startswith(self.own)):
            return value.removeprefix(self.own) if value.startswith(self.own) else None
        if name == "href":
            return value if value.lower().startswith(_WEB) else None
        return value if value.isdigit() else None  # the start of a list

    def _part_of(self, start: int, end: int) -> Span | None:
        if self._cited is None or self._cited.start >= end or self._cited.end <= start:
            return None
        return Span(max(start, self._cited.start), min(end, self._cited.end))


def heading_id(heading: Heading) -> str:
    """The anchor of a heading in its page."""
    return f"h-{heading.start}"
