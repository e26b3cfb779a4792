"""Conversion of a parsed document into stored pages and passages, and its revision. Pure.

A passage is a run of whole units (texts/sentences.py) of one page. Each heading starts a new passage, so that the
heading path of a quote is exact; within a section, neighbouring passages share one sentence. If a passage starts inside
a table, the table's header row is the end of its heading path, and not part of its text.
"""

import hashlib
import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from itertools import repeat
from typing import Any

from core.domain.corpus import Heading, Page, PagePlace, ParsedDocument, ParsedPage, page_id, passage_id
from core.domain.passages import Passage, Span
from core.errors import ReadError
from storage.documents.tables.headers import find_headers
from storage.documents.tables.text_tables import row_starts
from storage.documents.texts.sections import enter
from storage.documents.texts.sentences import Unit, UnitKind, split_units

# Tokens. Passages of 128 with one sentence of overlap gave the most retrieval quality per token of context in our
# measurements, 256 hardly less. A passage is full at TARGET; it ends earlier, from PREFERRED on, where a paragraph
# does; it takes in the rest of its section when that stays under LIMIT, so that no crumbs are left.
PREFERRED_TOKENS = 128
TARGET_TOKENS = 160
LIMIT_TOKENS = 200
# Tokens; a longer last sentence is not repeated at the start of the next passage: embedding it twice costs too much.
MAX_OVERLAP_TOKENS = 48
# Characters that no database and no UTF-8 file can hold; replaced one for one, so that every span stays right.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


# Finds the place in their book of all pages, given the numbers printed on them.
FindPlaces = Callable[[Sequence[ParsedPage], Sequence[str]], Sequence[PagePlace]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunked:
    """A document ready to be stored: passages in text order, numbered through the whole document."""

    revision: str
    pages: tuple[Page, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage's span in its page."""

    span: Span
    sentences: tuple[Span, ...]
    heading_path: tuple[str, ...]


def chunk(parsed: ParsedDocument, workspace: str, document_id: str, find_places: FindPlaces | None = None) -> Chunked:
    """Cut `parsed` into pages and passages.

    The revision is the SHA-256 of all stored content: texts, titles, headings and passage spans. A changed reader or
    way of cutting therefore gives a new revision; the same content gives the same one.

    Raises ReadError if no page has any text.
    """
    parsed = _storable(parsed)
    if not any(page.text.strip() for page in parsed.pages):
        raise ReadError("it holds no text")
    cuts = [cut_page(page) for page in parsed.pages]
    revision = _revision(parsed, cuts)
    places = find_places(parsed.pages, [page.label for page in parsed.pages]) if find_places else repeat(None)
    pages = tuple(
        replace(_page(page, document_id, revision, page.number or number), place=place)
        for number, (page, place) in enumerate(zip(parsed.pages, places, strict=False), start=1)
    )
    passages = tuple(_passages(pages, cuts, workspace))
    return Chunked(revision=revision, pages=pages, passages=passages)


def cut_page(page: ParsedPage) -> list[Cut]:
    """Return the passages of one page in text order; together they cover all but white space, headers and footers."""
    top = (*page.heading_path, page.title) if page.title else page.heading_path
    units = split_units(page.text, page.headings, page.running, row_starts(page.text))
    runs = [run for section in _sections(units) for run in _runs(section)]
    paths = _paths(page, runs)
    headers = find_headers(page.text)
    return [
        Cut(
            Span(run[0].span.start, run[-1].span.end),
            tuple(unit.sentence for unit in run if unit.sentence) or tuple(unit.span for unit in run),
            (*top, *path, *filter(None, [headers.at(run[0].span.start)])),
        )
        for run, path in zip(runs, paths, strict=True)
    ]


def _paths(page: ParsedPage, runs: Sequence[Sequence[Unit]]) -> Iterator[tuple[str, ...]]:
    """Yield the titles of the page's headings above each run, in order.

    Headings with nothing below them are text ("Moderator: Ann", "Notes: Ben"): several are below the next higher
    level. A single one names itself.
    """
    own = page.headings[0] if _opens_with_its_title(page) else None
    waiting = deque(page.headings)
    stack: list[Heading] = []
    for run in runs:
        says = next((unit.span.start for unit in run if unit.kind is not UnitKind.HEADING and unit.sentence), None)
        is_bare = says is None and sum(unit.kind is UnitKind.HEADING for unit in run) > 1
        place = run[0].span.start - is_bare if says is None else says
        while waiting and waiting[0].start <= place:
            enter(waiting.popleft(), stack)
        above = [item for item in stack if not (is_bare and waiting and item.level >= waiting[0].level)]
        yield tuple(item.title for item in above if item is not own and item.title)


def _opens_with_its_title(page: ParsedPage) -> bool:
    first = page.headings[0] if page.headings else None
    return first is not None and first.title == page.title and not page.text[: first.start].strip()


def _sections(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Yield runs of units that start with a heading; consecutive headings stay together."""
    section: list[Unit] = []
    for unit in units:
        if unit.kind is UnitKind.HEADING and section and section[-1].kind is not UnitKind.HEADING:
            yield section
            section = []
        section.append(unit)
    if section:
        yield section


def _runs(section: Sequence[Unit]) -> Iterator[Sequence[Unit]]:
    """Yield the units of each passage of a section; neighbours share one short sentence."""
    left = sum(unit.tokens for unit in section)  # tokens from `start` to the end of the section
    start = 0
    while left > LIMIT_TOKENS:
        end = _full(section, start)
        yield section[start:end]
        overlap = end - 1 > start and section[end - 1].tokens <= MAX_OVERLAP_TOKENS
        next_start = end - 1 if overlap and section[end - 1].kind is not UnitKind.HEADING else end
        left -= sum(unit.tokens for unit in section[start:next_start])
        start = next_start
    yield section[start:]


def _full(section: Sequence[Unit], start: int) -> int:
    """Return the end of the passage that starts at `start`; it has at least one unit, and more than the overlap."""
    tokens = section[start].tokens
    end = start + 1
    while end < len(section):
        unit = section[end]
        least = end - start < 2 and tokens + unit.tokens <= LIMIT_TOKENS  # else the overlap would be all there is
        if not least and (tokens + unit.tokens > TARGET_TOKENS or (tokens >= PREFERRED_TOKENS and unit.opens_block)):
            break
        tokens += unit.tokens
        end += 1
    return end


def _revision(parsed: ParsedDocument, cuts: Sequence[Sequence[Cut]]) -> str:
    content = asdict(replace(parsed, warnings=()))
    del content["readers"], content["named_readers"]  # who may read a text is no part of it
    for page in content["pages"]:
        del page["label"]  # added later: a label changes no revision
        del page["running"]  # the cuts tell
    content["cuts"] = [
        [cut.span.start, cut.span.end, cut.heading_path, [(span.start, span.end) for span in cut.sentences]]
        for page in cuts
        for cut in page
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _storable(value: Any) -> Any:
    """Replace characters that can't be stored in every string of a document."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, tuple):
        return tuple(map(_storable, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _storable(getattr(value, field.name)) for field in fields(value)})
    return value


def _page(page: ParsedPage, document_id: str, revision: str, number: int) -> Page:
    return Page(
        id=page_id(document_id, revision, number),
        document_id=document_id,
        revision=revision,
        number=number,
        title=page.title,
        text=page.text,
        heading_path=page.heading_path,
        headings=page.headings,
        anchors=page.anchors,
        deep_link=page.deep_link,
    )


def _passages(pages: Sequence[Page], cuts: Sequence[Sequence[Cut]], workspace: str) -> Iterator[Passage]:
    ordinal = 0
    for page, page_cuts in zip(pages, cuts, strict=True):
        for cut in page_cuts:
            yield Passage(
                id=passage_id(workspace, page.document_id, page.revision, ordinal),
                document_id=page.document_id,
                page_id=page.id,
                page_number=page.number,
                revision=page.revision,
                ordinal=ordinal,
                span=cut.span,
                text=cut.span.of(page.text),
                heading_path=cut.heading_path,
                sentences=cut.sentences,
            )
            ordinal += 1
