"""Page headers, footers and page numbers of a PDF: lines at the edges of its pages. Pure.

They stay in the pages' texts, which show the file, because people may quote them. But they are in no passage: a
sentence never contains one, and a search doesn't find the same line on every page. The first page with a header keeps
it, as it may hold unique text (a version, a date).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from core.domain.corpus import Page
from core.domain.passages import Span
from core.text.words import collapse, placed_lines

# Lines at each end of a page that may be such.
EDGE = 3
# Pages that have a line in common, and their share of those from the first of them to the last: titles of chapters
# run over some pages only, and left and right pages may differ.
MIN_PAGES = 3
MIN_SHARE = 0.4
# Characters: a longer line is a sentence.
MAX_LINE = 160

_OF = r"(?:of|von|de|di|sur|van|av|af|z|из|/)"
_WORD = r"(?:page|p\.|pp\.|pg\.?|seite|pagina|página|strona|sida|side|страница|стр\.|sheet|blatt|folio)"
_COUNTED = re.compile(rf"{_WORD}?\s*(\d{{1,4}})\s*{_OF}\s*(\d{{1,4}})|{_WORD}\s*(\d{{1,4}})", re.IGNORECASE)
_ROMAN = re.compile(r"(?=[ivxlc])(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", re.IGNORECASE)
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_AROUND = "-–—|•·~[]() "  # characters around a page number


@dataclass(frozen=True, slots=True)
class _Edge:
    """A line at an edge of a page, as it may be a running one: words with the page's number, or either."""

    page: int  # its place among the pages
    span: Span
    is_top: bool
    words: str
    number: int | None

    @property
    def key(self) -> tuple[bool, str, bool]:
        return self.is_top, self.words, self.number is None

    @property
    def offset(self) -> int | None:
        """Return the number minus the page's index: constant for page numbers."""
        return None if self.number is None else self.number - self.page

    @property
    def has_words(self) -> bool:
        return any(map(str.isalpha, self.words))


def find_headers_footers(texts: Sequence[str], *, with_feet: bool = False) -> list[tuple[Span, ...]]:
    """Return the headers and footers of each page in text order. `texts` are all pages, "" for one without text.

    `with_feet`: also the first of those at the pages' feet, which lead nothing, but may end a list.
    """
    edges = [list(_edges(page, text)) for page, text in enumerate(texts)]
    groups: dict[tuple[bool, str, bool], list[_Edge]] = defaultdict(list)
    for edge in (edge for page in edges for edge in page):
        groups[edge.key].append(edge)
    running: dict[_Edge, bool] = {}  # whether they are left out: the first of some words is not
    offsets: set[int | None] = set()
    for group in groups.values():
        own = _running(group)
        keeps = group[0].has_words and (group[0].is_top or not with_feet)
        running.update((edge, place > 0 or not keeps) for place, edge in enumerate(own))
        offsets.update(edge.offset for edge in own)
    for group in groups.values():  # other lines with a number that is known to be the page's
        own = [edge for edge in group if edge.offset is not None and edge.offset in offsets]
        if len(own) > 1 or (own and not group[0].has_words):
            running |= {edge: place > 0 or not edge.has_words for place, edge in enumerate(own) if edge not in running}
    return [tuple(sorted(_left_out(page, running))) for page in edges]


def without_headers_footers(pages: Sequence[Page]) -> list[Page]:
    """Return the pages with blanks instead of their headers and footers, so that all positions stay."""
    if not pages:
        return []
    texts = {page.number: page.text for page in pages}
    numbers = range(min(texts), max(texts) + 1)
    found = dict(
        zip(numbers, find_headers_footers([texts.get(number, "") for number in numbers], with_feet=True), strict=True)
    )
    return [replace(page, text=_blanked(page.text, found[page.number])) for page in pages]


def _blanked(text: str, spans: Sequence[Span]) -> str:
    for span in spans:
        text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    return text


def _edges(page: int, text: str) -> Iterator[_Edge]:
    lines = [(Span(start, start + len(line)), line) for start, line in placed_lines(text) if line.strip()]
    middle = (len(lines) + 1) // 2
    for place, (span, line) in enumerate(lines):
        from_end = len(lines) - 1 - place
        if min(place, from_end) < EDGE and len(line) <= MAX_LINE:
            for words, number in _read(line):
                yield _Edge(page, span, place < middle, words, number)


def _read(line: str) -> Iterator[tuple[str, int | None]]:
    """Return the readings of a line: words, and words with a number at either end."""
    text = collapse(line).casefold()
    yield text, None
    counted = _COUNTED.search(text)
    if counted:
        number = int(counted[1] or counted[3])
        yield f"{text[: counted.start()]}#{counted[2] or ''}{text[counted.end() :]}".strip(), number
        return
    alone = _number(text.strip(_AROUND))
    if alone is not None:
        yield "", alone
        return
    words = text.split()
    for place, others in ((0, words[1:]), (-1, words[:-1])):
        number_there = _number(words[place].strip(_AROUND)) if len(words) > 2 else None
        if number_there is not None:
            yield " ".join(others).strip(_AROUND), number_there


def _number(text: str) -> int | None:
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text)
    if not text or not _ROMAN.fullmatch(text):
        return None
    values = [_ROMAN_VALUES[letter] for letter in text]
    return sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _running(group: Sequence[_Edge]) -> list[_Edge]:
    offset, _ = Counter(edge.offset for edge in group).most_common(1)[0]
    own = list({edge.page: edge for edge in group if edge.offset == offset}.values())
    if group[0].words.startswith("#") and not group[0].has_words and offset == 1:
        return own  # "page 2 of 3" on the second
    pages = [edge.page for edge in own]
    enough = len(own) >= MIN_PAGES and len(own) >= (pages[-1] - pages[0] + 1) * MIN_SHARE
    return own if enough else []


def _left_out(edges: Sequence[_Edge], running: Mapping[_Edge, bool]) -> Iterator[Span]:
    spans = sorted({edge.span for edge in edges})
    known: dict[Span, bool] = {}  # headers and footers: whether they are left out
    for edge in edges:
        if edge in running:
            known[edge.span] = known.get(edge.span, False) or running[edge]
    top = list(takewhile(known.__contains__, spans))
    bottom = list(takewhile(known.__contains__, reversed(spans)))
    if len(top) < len(spans):
        yield from (span for span in {*top[:EDGE], *bottom[:EDGE]} if known[span])
