"""Places in a book as people name them: "in the middle of chapter 7", "Part II, chapter 3", "page xii", a title.

Of two interpretations, the one that shows less counts:

- A chapter, part or session that is only named, or finished, counts as read to its end: to the last page on which
  nothing after it begins.
- One that somebody is in, has begun, has almost finished or has come up to doesn't count as read: the page before it
  is the last.
- A page counts as read. "Page 12" is the page of that number or the one with 12 printed on it: the first of them.
"""

import re
from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz, process, utils

from core.access.positions.places import (
    KINDS,
    NAMED,
    NUMBER,
    OUTER,
    Section,
    bare_title,
    kind_of,
    sections_of,
    titles_of,
    to_number,
)
from core.domain.corpus import Page
from core.text.dates import find_date_in_name, find_dates
from core.text.notation import is_number
from core.text.words import collapse, words

CLOSE = 85.0  # of rapidfuzz's 100 points: the title is meant
NEAR = 55.0  # worth naming
NAMED_AT_MOST = 3


# Plain places, as opposed to a book's name; titles don't belong here.
TARGET = (
    rf"(?:(?:printed\s+)?(?:pages?|pgs?\.?|p\.)\s*[\w.-]{{1,40}}|[0-9]{{1,5}}|(?:the\s+)?(?:very\s+)?end"
    rf"|(?:(?:the\s+)?(?:[0-9]{{1,4}}(?:st|nd|rd|th)|{NUMBER})\s+(?:{KINDS})|(?:{KINDS})\.?\s+{NUMBER})"
    rf"(?:(?:\s++,|,)?\s++(?:of\s+|in\s+)?(?:the\s+)?(?:(?:{KINDS})\.?\s+{NUMBER}))*)"
)


SPEAKER = r"(?:(?:i|we)(?:[’'](?:ve|m|re|d)|\s+(?:have|had|am|are|was))?|my group(?: has| is)?)"
_ADVERB = r"(?:just|now|already|currently|still|only|finally|about|right|so far|yet|to)"
# Words of extent. The first group outweighs those after it: "not finished", "before the end of". None is made of
# others: a row of them that can be read in two ways is tried in all ways, twice as many with each word.
_NOT_YET = (
    r"(?:haven[’']t|hasn[’']t|not|before|almost|nearly|most of|half(?: of)?"
    r"|(?:the )?(?:middle|start|beginning) of"
    r"|(?:half|mid|part|(?:three|a) quarters?(?: of)?|some(?: of)?)[ -]?(?:the )?way (?:through|into))"
)
_FINISHED = (
    r"(?:up to and including|(?:the )?end of|finished(?: (?:reading|with)(?=\s|$))?+|done(?: with)?|completed"
    r"|read|through|after|past)"
)
_WITHIN = (
    r"(?:in(?:side|to)?|on|at|reading|up to|until|as far as|starting|started|begun|beginning|reached|got(?:ten)? to"
    r"|come to)"
)
_WORDS = re.compile(
    rf"\s*(?:(?P<not_yet>{_NOT_YET})|(?P<finished>{_FINISHED})|(?P<within>{_WITHIN})|(?P<skip>{SPEAKER}|{_ADVERB}))"
    r"(?=\s|$)",
    re.IGNORECASE,
)
MODE = rf"(?:{_NOT_YET}|{_FINISHED}|{_WITHIN}|{_ADVERB})"
PLACE = rf"(?:(?:{MODE}\s++)*{TARGET}|nothing|not (?:yet )?(?:started|begun))"
_END = re.compile(
    r"(?:the )?(?:very )?end|all(?: of it)?|everything|it|it all|(?:the )?(?:whole|entire )?\s*book|finished", re.I
)
_START = re.compile(r"(?:the )?(?:start|beginning|cover)|nothing|started|begun", re.IGNORECASE)
_PAGE = re.compile(
    r"(?P<printed>printed )?(?:pages?|pgs?\.?|pp?\.)\s*(?:no\.?\s*|number\s+)?(?P<label>[\w.-]{1,40})", re.I
)
_ORDINAL = re.compile(rf"\b(?:the\s++)?([0-9]{{1,4}}(?:st|nd|rd|th)|{NUMBER})\s++({KINDS})\b", re.IGNORECASE)
_NOT_BEGUN = re.compile(r"\b(?:not|haven[’']t|hasn[’']t)\b", re.IGNORECASE)
_BEFORE = re.compile(r"\bbefore\b", re.IGNORECASE)
_QUOTES = " \t\"'“”‘’«».,;:!"
_OLD_LABEL = re.compile(r"[A-Za-z]{0,3}[-. ]?\d{1,5}|[ivxlcdm]{1,9}", re.IGNORECASE)


def is_end(place: str) -> bool:
    """Return whether a place is the end of its book."""
    is_finished, rest = _reach(place)
    return is_finished and (_END.fullmatch(rest) is not None if rest else bool(place.strip()))


def find_position(place: str, pages: Sequence[Page]) -> int | None:
    """Return the number of the last readable page, 0 for none; None for an unknown place.

    The end of the book is no place (see `is_end`).
    """
    if not pages or not collapse(place):
        return None
    if is_number(collapse(place)):
        return _by_number(int(place), pages)
    sections = sections_of(pages)
    same = [section for section in sections if _is_title(place, section.title)]
    if same:
        return _last(same[0], pages, is_finished=True)
    is_finished, rest = _reach(place)
    if _START.fullmatch(rest or collapse(place)) or (not rest and _NOT_BEGUN.search(place)):
        return 0
    if (page := _PAGE.fullmatch(rest)) is not None:
        last = _page(page["label"], pages, is_printed=bool(page["printed"]))
        if last is None or not _BEFORE.search(place):
            return last
        return max((page.number for page in pages if page.number < last), default=0)
    section = _section(rest, sections)
    if section is not None:
        return _last(section, pages, is_finished=is_finished)
    return _labelled(rest, pages)


def nearest(place: str, pages: Sequence[Page]) -> list[str]:
    """Return similar titles of these pages, best first; at most NAMED_AT_MOST."""
    titles = list(dict.fromkeys(section.title for section in sections_of(pages)))
    found = process.extract(
        _reach(place)[1],
        titles,
        scorer=fuzz.WRatio,
        processor=utils.default_process,
        score_cutoff=NEAR,
        limit=NAMED_AT_MOST,
    )
    return [title for title, _, _ in found]


def place_of(last: int, pages: Sequence[Page]) -> str:
    """Return the title above the last readable page ("Chapter 5: The Bridge"); "" without one."""
    page = next((page for page in reversed(pages) if page.number <= last), None)
    return next(iter(reversed(titles_of(page))), "") if page is not None else ""


def _reach(place: str) -> tuple[bool, str]:
    """Return whether a place was read to its end, not only begun; and the place without these words."""
    rest, is_finished, is_sure = collapse(place), True, False
    while (match := _WORDS.match(rest)) is not None:
        if match["not_yet"]:
            is_finished, is_sure = False, True
        elif not is_sure and not match["skip"]:
            is_finished = match["finished"] is not None
        rest = rest[match.end() :]
    return is_finished, rest.strip(_QUOTES)


def _by_number(number: int, pages: Sequence[Page]) -> int | None:
    """A number beyond the last page is of a printed edition, most likely: it opens nothing."""
    return number if 0 < number <= pages[-1].number else None


def _page(label: str, pages: Sequence[Page], *, is_printed: bool) -> int | None:
    found = [_labelled(label, pages)]
    if is_number(label) and not is_printed:
        found.append(_by_number(int(label), pages))
    return min((number for number in found if number is not None), default=None)


def _labelled(label: str, pages: Sequence[Page]) -> int | None:
    """Find the page with this printed number, if pages have printed numbers."""
    printed = {page.number: _label(page) for page in pages}
    if not any(printed.values()):
        return None
    same = (number for number, own in printed.items() if (own or str(number)).casefold() == label.casefold())
    return next(same, None)


def _label(page: Page) -> str:
    """Return the printed number; older versions stored it as an anchor at the page's beginning."""
    if page.place is not None:
        return page.place.label
    return next((name for name, start in page.anchors if start == 0 and _OLD_LABEL.fullmatch(name)), "")


def _last(section: Section, pages: Sequence[Page], *, is_finished: bool) -> int:
    last = section.whole if is_finished else section.begins - 1
    return pages[last].number if last >= 0 else 0


def _section(rest: str, sections: Sequence[Section]) -> Section | None:
    """Find the first section by its number and those above, by its title, its day, or a similar title."""
    said = list(_numbers(rest))
    if said:
        innermost = next((item for item in said if item[0] not in OUTER), said[-1])
        others = [item for item in said if item[0] in OUTER and item is not innermost]
        return next((section for section in sections if _fits(section, innermost, others)), None)
    titled = next((section for section in sections if _is_title(rest, section.title)), None)
    return titled or _by_day(rest, sections) or _by_likeness(rest, sections)


def _numbers(text: str) -> Iterator[tuple[str, int]]:
    for match in NAMED.finditer(text):
        if (number := to_number(match[2])) is not None:
            yield kind_of(match[1]), number
    for match in _ORDINAL.finditer(text):
        if (number := to_number(re.sub(r"(?<=\d)(?:st|nd|rd|th)", "", match[1]))) is not None:
            yield kind_of(match[2]), number


def _fits(section: Section, wanted: tuple[str, int], others: Sequence[tuple[str, int]]) -> bool:
    kind, number = wanted
    above = {(item.kind, item.number) for item in section.above}
    return section.number == number and section.kind in (kind, "") and all(item in above for item in others)


def _is_title(text: str, title: str) -> bool:
    wanted = words(text)
    return bool(wanted) and wanted in (words(title), words(bare_title(title)))


def _by_day(text: str, sections: Sequence[Section]) -> Section | None:
    for wanted in find_dates(text, day_first=True):
        for section in sections:
            day = find_date_in_name(section.title)
            same = day is not None and (day.month, day.day) == (wanted.month, wanted.day)
            if same and day is not None and wanted.year in (None, day.year):
                return section
    return None


def _by_likeness(text: str, sections: Sequence[Section]) -> Section | None:
    for section in sections:
        titles = {section.title, bare_title(section.title)}
        if max(fuzz.ratio(text, title, processor=utils.default_process) for title in titles) >= CLOSE:
            return section
    return None
