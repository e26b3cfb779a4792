"""The part of a document that a link's heading names. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.domain.corpus import Page, Span

NEAR = 60.0  # of rapidfuzz's 100 points: a heading that is worth proposing
PROPOSED = 3
BLOCK = "^"

_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class PagePart:
    page: Page
    span: Span


def find_section(pages: Sequence[Page], heading: str) -> list[PagePart]:
    """The text below a heading, up to the next one that is not below it; empty where there is no such heading.

    Case and signs do not count, so that addresses like `#how-to-row` find it, too; of "A#B", B below an A. "^id" is a
    block's place. The first that fits is taken; a page goes by its title, and with the pages that stand below it.
    """
    if heading.startswith(BLOCK):
        return _block(pages, heading)
    wanted = [_form(part) for part in heading.split("#") if _form(part)]
    if not wanted:
        return []
    for page in pages:
        for part, above in _parts(page):
            if _form(part.title) == wanted[-1] and _stands_below(wanted[:-1], above):
                below = [PagePart(other, _whole(other)) for other in pages if _is_below(other, part.title, page)]
                return [PagePart(page, part.span), *below]
    return []


def near_headings(pages: Sequence[Page], heading: str) -> tuple[str, ...]:
    """Headings like one that is not there, the nearest first."""
    from rapidfuzz import fuzz, process

    titles = list(dict.fromkeys(part.title for page in pages for part, _ in _parts(page) if part.title))
    found = process.extract(
        _form(heading.rpartition("#")[2]),
        titles,
        scorer=fuzz.ratio,
        processor=_form,
        limit=PROPOSED,
        score_cutoff=NEAR,
    )
    return tuple(title for title, _, _ in found)


@dataclass(frozen=True, slots=True)
class _Part:
    title: str
    span: Span


def _parts(page: Page) -> Iterator[tuple[_Part, Sequence[str]]]:
    """A page's sections in order, with the titles that stand above each: the page's own title is the first."""
    above_page = [*page.heading_path]
    titles = {heading.title for heading in page.headings[:1]}
    if page.title and page.title not in titles:
        yield _Part(page.title, _whole(page)), above_page
        above_page.append(page.title)
    above: list[tuple[int, str]] = []
    for place, heading in enumerate(page.headings):
        while above and above[-1][0] >= heading.level:
            above.pop()
        end = next(
            (later.start for later in page.headings[place + 1 :] if later.level <= heading.level), len(page.text)
        )
        yield _Part(heading.title, Span(heading.start, end)), [*above_page, *(title for _, title in above)]
        above.append((heading.level, heading.title))


def _stands_below(wanted: Sequence[str], above: Sequence[str]) -> bool:
    """Whether the titles above hold all that are wanted, in their order."""
    rest = iter(_form(title) for title in above)
    return all(title in rest for title in wanted)


def _is_below(page: Page, title: str, own: Page) -> bool:
    return page.number > own.number and title in page.heading_path


def _block(pages: Sequence[Page], name: str) -> list[PagePart]:
    """The paragraph that a block's id stands at."""
    for page in pages:
        for anchor, place in page.anchors:
            if anchor.lstrip(BLOCK).casefold() == name.lstrip(BLOCK).casefold():
                place = min(place, max(0, len(page.text) - 1))
                return [PagePart(page, Span(place, min(place + 1, len(page.text))))]
    return []


def _whole(page: Page) -> Span:
    return Span(0, len(page.text))


def _form(title: str) -> str:
    return _SIGNS.sub(" ", title).strip().casefold()
