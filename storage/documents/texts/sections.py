"""A text with headings to pages: a page for each top-level section. Pure; shared by several readers."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from core.domain.corpus import Heading, ParsedPage
from core.text.words import placed_lines

Anchor = tuple[str, int]

_UNDERLINE = re.compile(r"[=\-]+\s*")


def split_sections(text: str, headings: Sequence[Heading], anchors: Sequence[Anchor] = ()) -> tuple[ParsedPage, ...]:
    """Return pages in text order that together hold all of `text` but white space between them; () if it is blank.

    With two or more h1: a page for each. With one: the text before its first h2, then a page for each h2. With none:
    a page for each h2. Otherwise the whole is one page. Several h1 right below each other are a title over several
    lines, and count as one. Text before the first heading is a page of its own, and a section that is nothing but its
    heading goes with the one after it. `headings` and `anchors` are in text order.
    """
    outline = _Outline(text, headings, anchors)
    cuts = outline.without_bare(outline.cuts())
    starts = [start for start, _ in cuts]
    titles = [title for _, title in cuts]
    if not starts or text[: starts[0]].strip():
        starts, titles = [0, *starts], ["", *titles]
    ends = [*starts[1:], len(text)]
    pages = zip(starts, ends, titles, strict=True)
    return tuple(outline.to_page(*page) for page in pages if text[page[0] : page[1]].strip())


class _Outline:
    """A text with the places of its headings at hand, so that many sections cost no more than one."""

    def __init__(self, text: str, headings: Sequence[Heading], anchors: Sequence[Anchor]) -> None:
        self._text = text
        self._headings = headings
        self._starts = [heading.start for heading in headings]
        self._anchors = anchors
        self._anchor_starts = [place for _, place in anchors]
        self._paths = dict(zip(self._starts, paths_above(headings), strict=True))

    def cuts(self) -> list[Heading]:
        """Return the headings that may start pages."""
        tops = [heading for heading in self._headings if heading.level == 1]
        titled = [top for top, after in pairwise(tops) if not self._is_bare(top.start, after.start)]
        if titled:
            return tops
        return [heading for heading in self._headings if heading.level <= 2]

    def without_bare(self, cuts: Sequence[Heading]) -> list[tuple[int, str]]:
        """Return (start, title) of the pages, joining pages of only headings to the next."""
        kept: list[tuple[int, str]] = []
        opened: int | None = None  # where the page begins that a bare heading opened
        ends = [*(cut.start for cut in cuts), len(self._text)][1:]
        for cut, end in zip(cuts, ends, strict=True):
            start = cut.start if opened is None else opened
            if self._is_bare(cut.start, end):
                opened = start
            else:
                kept.append((start, cut.title))
                opened = None
        return kept or [(cut.start, cut.title) for cut in cuts[:1]]

    def _is_bare(self, start: int, end: int) -> bool:
        return all(
            not line.strip() or start + place in self._paths or _UNDERLINE.fullmatch(line)
            for place, line in placed_lines(self._text[start:end])
        )

    def to_page(self, start: int, end: int, title: str) -> ParsedPage:
        raw = self._text[start:end]
        blank = len(raw) - len(raw.lstrip())
        first = start + raw.rfind("\n", 0, blank) + 1  # the indent of the first line stays
        text = self._text[first:end].rstrip()
        inside = slice(bisect_left(self._starts, first), bisect_left(self._starts, first + len(text)))
        named = slice(bisect_left(self._anchor_starts, first), bisect_left(self._anchor_starts, first + len(text)))
        return ParsedPage(
            title=title,
            text=text,
            headings=tuple(replace(heading, start=heading.start - first) for heading in self._headings[inside]),
            heading_path=self._paths.get(first, ()),
            anchors=tuple((name, place - first) for name, place in self._anchors[named]),
        )


def paths_above(headings: Sequence[Heading]) -> list[tuple[str, ...]]:
    """Return for each heading, in text order, the titles above it, outermost first."""
    paths = []
    above: list[Heading] = []
    for heading in headings:
        enter(heading, above)
        paths.append(tuple(item.title for item in above[:-1]))
    return paths


def enter(heading: Heading, above: list[Heading]) -> None:
    """Add a heading to the open ones, outermost first; it closes all of its level and below."""
    while above and above[-1].level >= heading.level:
        above.pop()
    above.append(heading)
