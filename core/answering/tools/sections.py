"""Which parts of a document a request names: "summarise chapter 2", "list the traps of the Sunken Hall". All pure."""

import re
from collections.abc import Sequence

from core.domain.corpus import Heading, Page, Span
from core.text.words import STOPWORDS, words

_LABEL = re.compile(r"\b(chapter|part|section|act|book|appendix|session|scene|level)\s+(\w+)", re.IGNORECASE)
_NUMBERED_TITLE = re.compile(r"^\W*(\d+|[IVXLC]+)\s*[.:)–—-]\s*\w")
_PREFIX = re.compile(r"^\W*(?:\w+\s+)?(?:\d+|[ivxlc]+|\w)\s*[.:)–—-]\s*", re.IGNORECASE)
_COUNTING = "one two three four five six seven eight nine ten eleven twelve".split()
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()


def is_named(title: str, request: str) -> bool:
    """Whether `request` names a heading: its whole title, the part after "Chapter 2:", or "chapter 2" by the number."""
    if _labels(request) & (_labels(title) | _numbered(title)):
        return True
    asked = f" {' '.join(words(request))} "
    for variant in {title, _PREFIX.sub("", title)}:
        said = words(variant)
        if set(said) - STOPWORDS and f" {' '.join(said)} " in asked:
            return True
    return False


def named_spans(page: Page, request: str) -> list[Span]:
    """Return the parts of a page that a request names, in text order: all of it if a title above is named."""
    if any(is_named(title, request) for title in (page.title, *page.heading_path) if title):
        return [Span(0, len(page.text))]
    return [
        Span(heading.start, _section_end(index, page.headings, len(page.text)))
        for index, heading in enumerate(page.headings)
        if is_named(heading.title, request)
    ]


def _section_end(index: int, headings: Sequence[Heading], length: int) -> int:
    """Return the place of the next heading of the same or a higher level."""
    level = headings[index].level
    return next((heading.start for heading in headings[index + 1 :] if heading.level <= level), length)


def _labels(text: str) -> set[tuple[str, str]]:
    found = {(kind.lower(), _to_number(value)) for kind, value in _LABEL.findall(text)}
    return {(kind, number) for kind, number in found if number is not None}


def _numbered(title: str) -> set[tuple[str, str]]:
    """A title "2. The Hall" is chapter, part and section 2."""
    match = _NUMBERED_TITLE.match(title)
    number = _to_number(match.group(1)) if match else None
    return {(kind, number) for kind in ("chapter", "part", "section")} if number else set()


def _to_number(value: str) -> str | None:
    """One spelling for 2, two and II; a single letter stays one (appendix B). None: not a number."""
    lower = value.lower()
    if lower.isdigit():
        return str(int(lower))
    for spellings in (_COUNTING, _ROMAN):
        if lower in spellings:
            return str(spellings.index(lower) + 1)
    return lower if len(lower) == 1 and lower.isalpha() else None
