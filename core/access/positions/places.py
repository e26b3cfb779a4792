"""Places of the pages of a book: its parts and chapters as sections, the printed page number, a session's day. Pure.

Computed only from titles and headings, so that books read by older versions have places, too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from core.domain.corpus import Page, PagePlace, ParsedPage
from core.text.dates import find_date_in_name
from core.text.notation import is_number
from core.text.words import collapse

# Kinds of outer and inner sections, and their other names.
OUTER = ("part", "book", "volume", "act")
INNER = """chapter session scene letter canto stave adventure lecture lesson essay story tale episode section""".split()
_OTHER_NAMES = {"chap": "chapter", "ch": "chapter", "vol": "volume", "bk": "book", "pt": "part"}
KINDS = "|".join([*OUTER, *INNER, *_OTHER_NAMES])

_UNITS = """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen""".split()
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split()
_TENS = {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_WORDS = {
    **{word: number for words in (_UNITS, _ORDINALS) for number, word in enumerate(words, 1)},
    **_TENS,
    **{
        f"{ten}{sign}{unit}": tens + one
        for ten, tens in _TENS.items()
        for units in (_UNITS, _ORDINALS)
        for one, unit in enumerate(units[:9], 1)
        for sign in "- "
    },
}
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_WELL_FORMED = re.compile(r"m{0,3}(?:cm|cd|d?c{0,4})(?:xc|xl|l?x{0,4})(?:ix|iv|v?i{0,4})")

_WORD_NUMBER = "|".join(sorted((re.escape(word) for word in _WORDS), key=len, reverse=True))
# A number as a title or a person writes it: 12, XII, twelve, twenty-one, the third.
NUMBER = rf"(?:[0-9]{{1,4}}|(?:the\s++)?(?:{_WORD_NUMBER})|[ivxlcdm]{{1,9}})"
NAMED = re.compile(rf"\b({KINDS})\.?\s++({NUMBER})(?![\w’'])", re.IGNORECASE)
_ORDINAL_FIRST = re.compile(rf"\W*+(?:the\s++)?([a-z-]+(?:st|nd|rd|th))\s++({KINDS})\b", re.IGNORECASE)
_BARE = re.compile(r"\W*([ivxlcdm]+|[0-9]{1,3})\s*(?:[.:)—–-]|$)", re.IGNORECASE)
_PREFIX = re.compile(
    rf"\A\W*+(?:(?:{KINDS})\.?\s++{NUMBER}|[ivxlcdm]+|[0-9]{{1,3}})\s*+[.:)—–-]++\s*+(?=\w)", re.IGNORECASE
)


Titled: TypeAlias = Page | ParsedPage  # a page, as stored or as a reader gives it


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part, chapter or heading of a document. `begins` and `whole` are places in the list of its pages, from 0."""

    title: str
    kind: str  # chapter, part, ...; "" where the title is a bare number or none
    number: int | None
    above: tuple["Section", ...]  # outermost first
    begins: int  # the page that it begins on
    whole: int  # the last page on which nothing after it begins; -1 if it shares the first page with the next section
    depth: int

    @property
    def is_chapter(self) -> bool:
        return self.number is not None and self.kind not in OUTER


def to_number(text: str) -> int | None:
    """Read 12, XII, twelve or twenty-first; None for anything else."""
    lower = collapse(text).lower().removeprefix("the ")
    if is_number(lower):
        return int(lower)
    if lower in _WORDS:
        return _WORDS[lower]
    if not lower or not _WELL_FORMED.fullmatch(lower):
        return None
    values = [_ROMAN[letter] for letter in lower]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))


def kind_of(word: str) -> str:
    """Return the kind by its full name: chapter for "Ch"."""
    lower = word.lower()
    return _OTHER_NAMES.get(lower, lower)


def numbered(title: str) -> tuple[str, int | None]:
    """Return (kind, number) of a title: ("chapter", 5) of "Chapter V. The Bridge", ("", 5) of "V. The Bridge".

    ("act", 2) of "The Second Act".
    """
    if (named := NAMED.search(title)) is not None:
        return kind_of(named[1]), to_number(named[2])
    ordinal = _ORDINAL_FIRST.match(title)
    if ordinal is not None and (number := to_number(ordinal[1])) is not None:
        return kind_of(ordinal[2]), number
    bare = _BARE.match(title)
    return "", to_number(bare[1]) if bare else None


def bare_title(title: str) -> str:
    """Return the title behind the number ("The Bridge" of "Chapter V: The Bridge"); else the whole title."""
    return _PREFIX.sub("", title, count=1)


def titles_of(page: Titled) -> tuple[str, ...]:
    """Return the titles above a page, outermost first, its own title last; none twice in a row."""
    path = [collapse(title) for title in (*page.heading_path, page.title) if title]
    return tuple(title for place, title in enumerate(path) if place == 0 or title != path[place - 1])


def places_of(pages: Sequence[Titled], labels: Sequence[str]) -> list[PagePlace]:
    """Return the place of each page, by the section in which it begins; `labels` are printed page numbers."""
    innermost: list[Section | None] = [None] * len(pages)
    for section in sections_of(pages):
        for place in range(section.begins, max(section.whole, section.begins) + 1):
            if place > section.begins or innermost[place] is None or titles_of(pages[place])[-1:] == (section.title,):
                innermost[place] = section
    return [_to_place(section, label) for section, label in zip(innermost, labels, strict=True)]


def _to_place(section: Section | None, label: str) -> PagePlace:
    path = [*section.above, section] if section is not None else []
    chapter = next((item for item in path if item.is_chapter), path[-1] if path else None)
    day = next((found.iso() for item in path if (found := find_date_in_name(item.title)) is not None), None)
    return PagePlace(
        label=label,
        part=next((item.number for item in path if item.kind in OUTER), None),
        chapter=chapter.number if chapter is not None and chapter.is_chapter else None,
        chapter_title=chapter.title if chapter is not None else "",
        session_date=day,
    )


def sections_of(pages: Sequence[Titled]) -> list[Section]:
    """Return all sections of a document, in order."""
    entries = list(_entries(pages))
    sections: list[Section] = []
    above: list[Section] = []
    for place, (begins, depth, title) in enumerate(entries):
        end = next((later for later, other, _ in entries[place + 1 :] if other <= depth), len(pages))
        above = [section for section in above if section.depth < depth]
        kind, number = numbered(title)
        section = Section(
            title=title, kind=kind, number=number, above=tuple(above), begins=begins, whole=end - 1, depth=depth
        )
        sections.append(section)
        above.append(section)
    return sections


def _entries(pages: Sequence[Titled]) -> Iterator[tuple[int, int, str]]:
    """Yield (page, depth, title) of each section at its beginning: titles of pages, then headings inside."""
    opened: tuple[str, ...] = ()
    levels: dict[str, int] = {}
    for place, page in enumerate(pages):
        path = titles_of(page) or opened
        shared = next((n for n, (a, b) in enumerate(zip(path, opened, strict=False)) if a != b), None)
        for depth in range(min(len(path), len(opened)) if shared is None else shared, len(path)):
            yield place, depth, path[depth]
        opened = path
        for heading in page.headings:
            title = collapse(heading.title)
            levels[title] = heading.level
            if title and title not in path:
                depth = _depth(heading.level, opened, levels, len(path) if page.title else 0)
                yield place, depth, title
                opened = (*opened[:depth], title)


def _depth(level: int, opened: Sequence[str], levels: Mapping[str, int], least: int) -> int:
    """Return the depth of a heading inside a page; below the page's own title, if it has one."""
    outer = (place for place, title in enumerate(opened) if levels.get(title, place + 1) >= level)
    return max(next(outer, len(opened)), least)
