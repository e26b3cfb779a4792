"""Pages: a summary in one or two of their own sentences, and their topics."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from core.domain.corpus import Document, Page
from core.domain.extracts import ExtractorInput, ExtractType, Found
from core.domain.passages import Span
from core.text.words import STOPWORDS, shorten
from storage.documents.markup.marked_text import Line, MarkedText, plain
from storage.documents.pdf.headers_footers import without_headers_footers

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
        for page in without_headers_footers(given.pages) if given.document.kind == "pdf" else given.pages:
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
    """Return the first meaningful paragraph; else a table's columns, a list's items, or any text."""
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
    """Yield paragraphs of prose with their place."""
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
    """Return whether a paragraph is of sentences rather than numbers, names or links."""
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


MAX_TOPICS = 8
MAX_WORDS = 3
# Words of a text up to which a phrase need not be said twice.
SHORT_TEXT = 120
# Letters of the longest word that is one: longer ones are addresses, ids, or scripts without spaces.
MAX_LETTERS = 30

_LENGTH = {1: 1.0, 2: 1.8, 3: 2.4}
_HEADING = 3.0
_TOKEN = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*|[^\s\w]|_")
_FURTHER_STOPWORDS = frozenset(
    """also always another around away back based best better can't cannot don't doesn't done e.g either else etc even
    ever every example examples first following get gets getting give given go goes going good however i.e instead it's
    keep kind know last least less let like likely look lot made make makes making many may maybe mean means might much
    must need needed needs never new next nothing now often one ones per please possible put rather really said say says
    second see seem set several shall simply since something sometimes still sure take taken takes that's thing things
    think third though three thus too two type unless upon use used useful uses using usually various via want wants way
    ways well whether whose within without work works yes yet you'll you're able allow allows already among available
    become comes come came went got asked old little long great came man day time times year years thou thee mr mrs miss
    dr sir left right upon never people part number note section page""".split()
)


def find_topics(prose: Sequence[str], titles: Sequence[str]) -> tuple[str, ...]:
    """Return the topics, best first, as first written; `prose` are lines or sentences without marks."""
    scores: Counter[tuple[str, ...]] = Counter()
    counts: Counter[tuple[str, ...]] = Counter()
    shown: dict[tuple[str, ...], str] = {}
    headed: set[tuple[str, ...]] = set()
    size = 0
    for line, weight in [*((title, _HEADING) for title in titles), *((line, 1.0) for line in prose)]:
        for words in _runs(line):
            size += len(words)
            phrases = (
                words[start : start + length]
                for length in range(1, MAX_WORDS + 1)
                for start in range(len(words) - length + 1)
            )
            for phrase in phrases:
                key = tuple(map(_key, phrase))
                shown.setdefault(key, " ".join(phrase))
                counts[key] += 1
                scores[key] += int(100 * weight * _LENGTH[len(key)])
                if weight > 1:
                    headed.add(key)
    least = 1 if size < SHORT_TEXT else 2
    able = [key for key in scores if counts[key] >= least or key in headed]
    ranked = sorted(able, key=lambda key: -scores[key])  # stable: ties keep text order
    return tuple(shown[key] for key in _apart(ranked))


def _apart(ranked: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    chosen: list[tuple[str, ...]] = []
    for key in ranked:
        if len(chosen) == MAX_TOPICS:
            break
        if not any(set(key) <= set(other) or set(other) <= set(key) for other in chosen):
            chosen.append(key)
    return chosen


def _runs(line: str) -> Iterator[list[str]]:
    """Yield words in a row without a function word or mark between them."""
    run: list[str] = []
    for token in _TOKEN.findall(line):
        if _is_content(token):
            run.append(token)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _is_content(token: str) -> bool:
    lower = token.lower().replace("’", "'")
    if lower.endswith(("n't", "'re", "'ve", "'ll")) or (len(lower) > 5 and lower.endswith("ly")):
        return False
    if lower in STOPWORDS or lower in _FURTHER_STOPWORDS or len(token) > MAX_LETTERS:
        return False
    return len(token) > 2 and sum(map(str.isalpha, token)) * 2 > len(token)


def _key(word: str) -> str:
    """Return one key for a word, its plural and its possessive."""
    lower = word.lower().replace("’", "'").removesuffix("'s")
    if len(lower) > 4 and lower.endswith("ies"):
        return lower[:-3] + "y"
    return lower[:-1] if len(lower) > 3 and lower.endswith("s") and not lower.endswith(("ss", "us", "is")) else lower
