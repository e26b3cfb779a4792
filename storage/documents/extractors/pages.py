"""Pages: what each is about, in a sentence or two of its own, and its topics."""

import re
from collections.abc import Iterable, Sequence

from core.domain.corpus import Document, Page, Span
from core.domain.extracts import ExtractorInput, ExtractType, Found
from core.text.words import shorten
from storage.documents.markup.marked_text import Line, MarkedText, plain
from storage.documents.pdf.headers_footers import without_running_lines
from storage.documents.terms.topics import find_topics

MAX_SUMMARY = 300
# Characters of a paragraph that is long enough to say something.
MIN_PARAGRAPH = 60
MAX_TOPIC = 100
# Characters of a page from which topics are taken: more does not change them.
MAX_READ = 60_000

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"”’)\]]?(?:\s+|(?<=[。！？]))")
_NO_PROSE = re.compile(
    r"import\s.+\sfrom\s|export\s|<!--|@\w+|\[?!\[|[-=*_~]{3,}|\|"
    r"|[\w -]{1,30}:\s+\S.{0,60}$"  # a label and its value
    r"|(?:https?://|www\.)\S+$|\(?(?:redirected from|this article is about|for other uses)\b",
    re.IGNORECASE,
)


class PagesExtractor:
    """One finding for each page, at the paragraph that its summary is of."""

    name = "pages"
    version = 3
    types = frozenset({ExtractType.PAGE})

    def reads(self, document: Document) -> bool:
        return True

    def extract(self, given: ExtractorInput) -> Iterable[Found]:
        for page in without_running_lines(given.pages) if given.document.kind == "pdf" else given.pages:
            found = _in_page(page)
            if found is not None:
                yield found


def _in_page(page: Page) -> Found | None:
    text = MarkedText(page)
    if not text.lines:
        return None
    summary, span, confidence = _summary(text)
    titles = dict.fromkeys(filter(None, (page.title, *(title for _, title in text.titles()))))
    return Found(
        type=ExtractType.PAGE,
        page_number=page.number,
        span=span,
        data={
            "summary": shorten(summary, MAX_SUMMARY),
            "topics": [topic[:MAX_TOPIC] for topic in find_topics(_read(text), tuple(titles))],
        },
        confidence=confidence,
    )


def _read(text: MarkedText) -> list[str]:
    read, size = [], 0
    for line in text.lines:
        if not (line.in_code or line.heading) and size < MAX_READ:
            read.append(plain(line.text).replace("|", " | "))
            size += len(line.text)
    return read


def _summary(text: MarkedText) -> tuple[str, Span, float]:
    """The first paragraph that says something; else the columns of a table, the items of a list, or any text."""
    paragraphs = list(_paragraphs(text.lines))
    prose = [each for each in paragraphs if len(each[0]) >= MIN_PARAGRAPH and _is_prose(each[0])]
    for said, span in prose:
        if not said.endswith(":"):
            return _sentences(said), span, 0.9
    for said, span in paragraphs:
        if len(said.split()) > 4 and said.rstrip(" *_").endswith((".", "!", "?")):
            return _sentences(said), span, 0.7
    if prose:
        return _sentences(prose[0][0]), prose[0][1], 0.6
    if text.tables:
        table = text.tables[0]
        many = f"{len(table.rows)} row{'s' * (len(table.rows) != 1)}"
        names = ", ".join(filter(None, table.columns))
        return f"A table of {many}: {names}" if names else f"A table of {many}", table.header, 0.6
    items = [line for line in text.lines if line.is_item and not line.in_code]
    if len(items) > 1:
        return "; ".join(plain(line.text) for line in items[:12]), items[0].span, 0.5
    rest = [line for line in text.lines if not line.heading] or list(text.lines)
    return " ".join(plain(line.text) for line in rest[:8]), rest[0].span, 0.4


def _paragraphs(lines: Sequence[Line]) -> Iterable[tuple[str, Span]]:
    """Lines of prose that stand together, with their place."""
    held: list[Line] = []
    for line in lines:
        is_text = not (line.in_code or line.heading or line.is_row or line.is_item or _NO_PROSE.match(line.text))
        if held and (line.follows_blank or not is_text):
            yield _joined(held)
            held = []
        if is_text:
            held.append(line)
    if held:
        yield _joined(held)


def _joined(lines: Sequence[Line]) -> tuple[str, Span]:
    said = " ".join(filter(None, (plain(line.text) for line in lines[:20])))
    return said, Span(lines[0].span.start, lines[min(len(lines), 20) - 1].span.end)


def _is_prose(said: str) -> bool:
    """Sentences rather than a row of numbers, names or links."""
    letters = sum(map(str.isalpha, said[:MAX_SUMMARY]))
    words = said[:MAX_SUMMARY].split()
    lower = sum(word[:1].islower() or not word[:1].isascii() for word in words)
    return letters > 0.6 * len(said[:MAX_SUMMARY]) and lower * 2 >= len(words)


def _sentences(said: str) -> str:
    """As many whole sentences as fit."""
    if len(said) <= MAX_SUMMARY:
        return said
    ends = [match.end() for match in _SENTENCE_END.finditer(said, 0, MAX_SUMMARY + 2)]
    fitting = [end for end in ends if MIN_PARAGRAPH <= len(said[:end].rstrip()) <= MAX_SUMMARY]
    return said[: fitting[-1]].rstrip() if fitting else said
