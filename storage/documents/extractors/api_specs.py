"""API descriptions: the endpoints of a service, from OpenAPI files and from documentation written for people."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.domain.corpus import Document, Page, Span
from core.domain.extracts import ExtractorInput, ExtractType, Found, Unread
from core.text.pipe_tables import to_cells
from core.text.words import shorten
from storage.documents.apis.documentation import (
    METHODS,
    WrittenEndpoint,
    find_authentication,
    find_base_url,
    find_endpoints,
    shape_of,
    to_methods,
    to_path,
)
from storage.documents.markup.marked_text import Line, MarkedText, PipeTable, Row, plain

MAX_SUMMARY = 300
# Endpoints of one document: the largest services have about a thousand.
MAX_ENDPOINTS = 2_000
# Words of a line that is only there for its endpoint.
_MAX_WORDS = 4
# How sure an API is: with an endpoint that a heading, a list, a table or a line states, or only with ones in code.
_STATED = 0.9
_IN_CODE = 0.7

_MAY_HOLD = re.compile(rf"\b(?:{'|'.join(METHODS)})\b|\bmethod\s*=|\|\s*(?:method|verb)\b", re.I)
_METHOD_COLUMN = re.compile(r"(?:http |request )?(?:method|verb|type|action|operation)s?")
_PATH_COLUMN = re.compile(
    r"(?:api |request |relative |resource )?(?:path|endpoint|url|uri|route|resource|address)s?(?: path| pattern)?"
)
_SUMMARY_COLUMN = re.compile(r"(?:summary|description|purpose|what.*|notes?|action|function|meaning|returns?|details?)")
_AFTER = re.compile(r"(?:[`*)\]]|\s)*(?:[-–—:]|\s)\s*(?P<text>[A-Z][^|]{3,})")
_GENERIC = frozenset("endpoints endpoint api routes methods overview reference request requests usage examples".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class _SeenEndpoint:
    """An endpoint at its place."""

    written: WrittenEndpoint
    page_number: int
    span: Span
    summary: str = ""
    in_code: bool = False


class ApiSpecsExtractor:
    """One finding for each document that describes endpoints, at the place of the first."""

    name = "api_specs"
    version = 4
    types = frozenset({ExtractType.API})

    def reads(self, document: Document) -> bool:
        return document.kind not in ("csv", "spreadsheet")

    def extract(self, given: ExtractorInput) -> Iterable[Found | Unread]:
        if given.document.kind == "openapi":
            endpoints, confidence, many = list(_described(given.pages)), 1.0, 0
        else:
            texts = [MarkedText(page) for page in given.pages if _MAY_HOLD.search(page.text)]
            seen = [each for text in texts for each in _in_page(text)]
            stated = [each for each in seen if not each.in_code]
            confidence = _STATED if stated else _IN_CODE
            first: dict[tuple[str, tuple[str, ...]], _SeenEndpoint] = {}
            for each in stated or seen:  # code uses the endpoints that are stated outside of it
                first.setdefault((each.written.method, shape_of(each.written.path)), each)
            endpoints, many = list(first.values())[:MAX_ENDPOINTS], len(first)
        if endpoints:
            yield _to_found(given, endpoints, confidence)
            if many > MAX_ENDPOINTS:
                yield Unread(page_number=1, reason=f"kept only {MAX_ENDPOINTS:,} of {many:,} endpoints")


def _to_found(given: ExtractorInput, endpoints: Sequence[_SeenEndpoint], confidence: float) -> Found:
    base_url = find_base_url(given.pages, [seen.written.address for seen in endpoints])
    return Found(
        type=ExtractType.API,
        page_number=endpoints[0].page_number,
        span=endpoints[0].span,
        data={
            "service_name": given.document.title,
            "base_url": base_url,
            "auth_method": find_authentication(given.pages),
            "endpoints": [_to_endpoint(seen, base_url or "") for seen in endpoints],
        },
        confidence=confidence,
    )


def _to_endpoint(seen: _SeenEndpoint, base_url: str) -> dict[str, object]:
    path, address = seen.written.path, seen.written.address
    if address and base_url.startswith(address):
        path = path.removeprefix(base_url.removeprefix(address).rstrip("/")) or "/"
    return {
        "method": seen.written.method,
        "path": path[:2_000],
        "summary": shorten(seen.summary, MAX_SUMMARY),
        "page_number": seen.page_number,
        "span": (seen.span.start, seen.span.end),
    }


def _described(pages: Sequence[Page]) -> Iterator[_SeenEndpoint]:
    """Yield the operations of an OpenAPI document, from pages named by method and path; no webhooks or callbacks."""
    summaries = {}
    for table in MarkedText(pages[0]).tables:
        if table.columns[:2] == ("method", "path"):
            summaries = {row.cells[:2]: row.cells[2] for row in table.rows if len(row.cells) > 2}
    for page in pages:
        method, _, path = page.title.partition(" ")
        if method in METHODS and path and page.headings and page.headings[0].title == page.title:
            start = page.headings[0].start
            end = page.text.find("\n", start)
            span = Span(start, end if end > 0 else len(page.text))
            yield _SeenEndpoint(
                written=WrittenEndpoint(method, path), page_number=page.number, span=span,
                summary=summaries.get((method, path), ""),
            )  # fmt: skip


def _in_page(text: MarkedText) -> list[_SeenEndpoint]:
    """Return the endpoints of a page in text order, each as often as it is named."""
    return sorted([*_in_tables(text), *_in_lines(text)], key=lambda seen: (seen.span.start, seen.written.method))


def _in_tables(text: MarkedText) -> Iterator[_SeenEndpoint]:
    titles = list(text.titles())
    starts = [line.span.start for line, _ in titles]
    for table in text.tables:
        above = bisect_left(starts, table.rows[0].span.start) if len(table.rows) == 1 else 0
        title = titles[above - 1][1] if above else ""
        path_column = _column(table, _PATH_COLUMN)
        method_column = _column(table, _METHOD_COLUMN, but=path_column)
        summary_column = _column(table, _SUMMARY_COLUMN, but=method_column)
        for row in table.rows:
            target = to_path(_cell(row, path_column if path_column is not None else 0))
            if target is None:
                continue
            for method in to_methods(_cell(row, method_column)):
                written = WrittenEndpoint(method, target[1], target[0])
                summary = plain(_cell(row, summary_column)) or _of_heading(title, written)
                yield _SeenEndpoint(written=written, page_number=text.page.number, span=row.span, summary=summary)


def _column(table: PipeTable, pattern: re.Pattern[str], *, but: int | None = None) -> int | None:
    return next((at for at, name in enumerate(table.columns) if at != but and pattern.fullmatch(name)), None)


def _cell(row: Row, column: int | None) -> str:
    return row.cells[column] if column is not None and column < len(row.cells) else ""


def _in_lines(text: MarkedText) -> Iterator[_SeenEndpoint]:
    """Yield the endpoints of headings, items, rows, lines of their own and code; none of sentences."""
    title = ""
    titles = {line.span: name for line, name in text.titles()}
    for line in text.lines:
        title = titles.get(line.span, title)
        if line.in_code or line.heading or line.is_item or line.is_row or _is_alone(line):
            for written in find_endpoints(line.text):
                summary = _summary(line, title, written)
                yield _SeenEndpoint(
                    written=written, page_number=text.page.number, span=line.span, summary=summary, in_code=line.in_code
                )


def _is_alone(line: Line) -> bool:
    """Return whether a line is only there for its endpoint: it begins with a method or a tag, and is short."""
    words = plain(line.text).split()
    begins = line.text.startswith("<") or (bool(words) and words[0].strip(":") in METHODS)
    return begins and len(words) <= _MAX_WORDS


def _summary(line: Line, title: str, written: WrittenEndpoint) -> str:
    """Return the text after the endpoint, or else the heading above without the endpoint."""
    if line.is_row:
        cells = [plain(cell) for cell in to_cells(line.text)]
        return next((cell for cell in reversed(cells) if " " in cell and written.path not in cell), "")
    if not line.heading and not line.in_code:
        said = _AFTER.match(line.text.partition(written.path)[2])
        if said:
            return plain(said["text"])
    return _of_heading(title, written)


def _of_heading(title: str, written: WrittenEndpoint) -> str:
    heading = plain(title).partition(f"{written.method} ")[0].rstrip(" %:–—-`([")
    return "" if heading.lower() in _GENERIC or written.path in heading else heading
