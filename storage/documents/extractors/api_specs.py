"""API descriptions: the endpoints of a service, from OpenAPI files and from documentation written for people."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.domain.corpus import Document, Page
from core.domain.extracts import ExtractorInput, ExtractType, Found, Unread
from core.domain.passages import Span
from core.text.pipe_tables import to_cells
from core.text.words import shorten
from storage.documents.apis.documentation import (
    METHODS,
    Strength,
    WrittenEndpoint,
    find_authentication,
    find_base_url,
    find_endpoints,
    is_alone,
    is_use,
    repeats_with_base,
    shape_of,
    to_methods,
    to_path,
)
from storage.documents.markup.marked_text import MAX_PLACE, Line, MarkedText, PipeTable, Row, plain

MAX_SUMMARY = 300
# Endpoints of one document: the largest services have about a thousand.
MAX_ENDPOINTS = 2_000
# How sure an API is one: by its surest endpoint.
_CONFIDENCE = {Strength.STATED: 0.9, Strength.EXAMPLE: 0.7, Strength.MENTION: 0.5}

_MAY_HOLD = re.compile(rf"\b(?:{'|'.join(METHODS)})\b|\bcurl\b|\bmethod\s*=|\bhttp:\w+::|\|\s*(?:method|verb)\b", re.I)
_METHOD_COLUMN = re.compile(r"(?:http |request )?(?:method|verb|type|action|operation)s?")
_PATH_COLUMN = re.compile(
    r"(?:api |request |relative |resource )?(?:path|endpoint|url|uri|route|resource|address)s?(?: path| pattern)?"
)
_SUMMARY_COLUMN = re.compile(r"(?:summary|description|purpose|what.*|notes?|action|function|meaning|returns?|details?)")
_LABEL = re.compile(
    r"(?:(?:preferred )?(?:http |request )?(?:method|verb)|(?:request |method )?(?:url|path|endpoint|route|uri))"
    r"\s*(?::\s*(?P<value>\S.*)|:?)",
    re.I,
)
_HEADING_METHOD = re.compile(rf"(?:.*\[)?\s*(?P<method>{'|'.join(METHODS)})\s*\]?", re.DOTALL)
_HEADING_PATH = re.compile(r"(?:.*\[)?\s*(?P<path>/[^\s\[\]]*)\s*\]?", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")
_AFTER = re.compile(r"[`*)\]\s]*+(?:[-–—:]|(?<=\s))\s*+(?P<text>[A-Z][^|]{3,})")
_NO_CELL = re.compile(r"(?:|[-–—x✗✘✕]|no|none|n/?a|not\b.*|error\b.*|40[45]\b.*)", re.IGNORECASE)
_GENERIC = frozenset("endpoints endpoint api routes methods overview reference request requests usage examples".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class _SeenEndpoint:
    """An endpoint at its place."""

    written: WrittenEndpoint
    page_number: int
    span: Span
    summary: str = ""


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
            seen = [seen for text in texts for seen in _in_page(text)]
            endpoints, many = _chosen(seen), len({(each.written.method, each.written.path) for each in seen})
            confidence = max((_CONFIDENCE[seen.written.strength] for seen in endpoints), default=0.0)
        if endpoints:
            yield _to_found(given, endpoints, confidence)
            if many > MAX_ENDPOINTS:
                yield Unread(page_number=1, reason=f"kept only {MAX_ENDPOINTS:,} of {many:,} endpoints")


def _to_found(given: ExtractorInput, endpoints: Sequence[_SeenEndpoint], confidence: float) -> Found:
    base_url = find_base_url(given.pages, [seen.written.address for seen in endpoints])
    stated = {(seen.written.method, shape_of(seen.written.path)) for seen in endpoints}
    endpoints = [seen for seen in endpoints if not repeats_with_base(seen.written, base_url or "", stated)]
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
    path = seen.written.path
    prefix = base_url.removeprefix(seen.written.address) if seen.written.address else ""
    if base_url and seen.written.address and base_url.startswith(seen.written.address):
        path = path.removeprefix(prefix.rstrip("/")) or "/"
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
            written = WrittenEndpoint(method=method, path=path, strength=Strength.STATED)
            span = Span(start, end if end > 0 else len(page.text))
            yield _SeenEndpoint(
                written=written, page_number=page.number, span=span, summary=summaries.get((method, path), "")
            )


def _in_page(text: MarkedText) -> Iterator[_SeenEndpoint]:
    """Yield the endpoints of a page in text order, each as often as it is named."""
    found = [*_in_tables(text), *_in_lines(text), *_in_labels(text), *_under_headings(text)]
    yield from sorted(found, key=lambda seen: (seen.span.start, seen.written.method))


def _in_tables(text: MarkedText) -> Iterator[_SeenEndpoint]:
    titles = list(text.titles())
    starts = [line.span.start for line, _ in titles]
    for table in text.tables:
        above = bisect_left(starts, table.rows[0].span.start) if len(table.rows) == 1 else 0
        title = titles[above - 1][1] if above else ""
        path_column = _column(table, _PATH_COLUMN)
        method_column = _column(table, _METHOD_COLUMN, but=path_column)
        summary_column = _column(table, _SUMMARY_COLUMN, but=method_column)
        verbs = [index for index, column in enumerate(table.columns) if column.upper() in METHODS]
        for row in table.rows:
            target = to_path(_cell(row, path_column if path_column is not None else 0))
            if target is None:
                continue
            pairs = [(method, _cell(row, summary_column)) for method in to_methods(_cell(row, method_column))]
            pairs += [
                (table.columns[index].upper(), _cell(row, index))
                for index in verbs
                if not _NO_CELL.fullmatch(plain(_cell(row, index)))
            ]
            for method, summary in pairs:
                written = WrittenEndpoint(method=method, path=target[1], strength=Strength.STATED, address=target[0])
                said = plain(summary) or _of_heading(title, written)
                yield _SeenEndpoint(written=written, page_number=text.page.number, span=row.span, summary=said)


def _column(table: PipeTable, pattern: re.Pattern[str], *, but: int | None = None) -> int | None:
    return next((at for at, name in enumerate(table.columns) if at != but and pattern.fullmatch(name)), None)


def _cell(row: Row, column: int | None) -> str:
    return row.cells[column] if column is not None and column < len(row.cells) else ""


def _in_lines(text: MarkedText) -> Iterator[_SeenEndpoint]:
    title = ""
    titles = {line.span: name for line, name in text.titles()}
    for line in _joined(text.lines):
        title = titles.get(line.span, title)
        for place, piece in _pieces(line):
            stated = bool(line.heading or line.is_item or line.is_row)
            for written in find_endpoints(piece, in_code=line.in_code, is_stated=stated or is_alone(piece)):
                summary = _summary(piece, title, written, line)
                yield _SeenEndpoint(written=written, page_number=text.page.number, span=place, summary=summary)


def _summary(piece: str, title: str, written: WrittenEndpoint, line: Line) -> str:
    """Return the text after the endpoint, or else the heading above without the endpoint."""
    if line.is_row:
        cells = [plain(cell) for cell in to_cells(piece)]
        return next((cell for cell in reversed(cells) if " " in cell and written.path not in cell), "")
    if not line.heading and not line.in_code:
        _, _, behind = piece.partition(written.path)
        said = _AFTER.match(behind)
        if said:
            return plain(said["text"])
    return _of_heading(title, written)


def _of_heading(title: str, written: WrittenEndpoint) -> str:
    heading = plain(title).partition(f"{written.method} ")[0].rstrip(" %:–—-`([")
    return "" if heading.lower() in _GENERIC or written.path in heading else heading


def _joined(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines; a command with backslashes at its line ends is one line."""
    held: Line | None = None
    for line in lines:
        if held is not None:
            line = replace(held, span=Span(held.span.start, line.span.end), text=f"{held.text[:-1]} {line.text}")
            held = None
        is_command = line.in_code or line.text.startswith(("curl ", "$ curl "))
        if is_command and line.text.endswith("\\") and len(line.text) < MAX_PLACE * 4:
            held = line
        else:
            yield line
    if held is not None:
        yield held


def _pieces(line: Line) -> Iterator[tuple[Span, str]]:
    if len(line.text) <= MAX_PLACE or line.is_row or line.in_code:
        yield line.span, line.text
        return
    start = 0
    for match in [*_SENTENCE_END.finditer(line.text), None]:
        end = match.start() if match else len(line.text)
        if end > start:
            yield Span(line.span.start + start, line.span.start + end), line.text[start:end]
        start = match.end() if match else end


def _in_labels(text: MarkedText) -> Iterator[_SeenEndpoint]:
    """Yield endpoints of lines `Method: POST` and `URL: /x` under one heading, in any order, values maybe below."""
    title, method, target = "", "", None
    titles = {line.span: name for line, name in text.titles()}
    for at, line in enumerate(text.lines):
        label = None if line.in_code else _LABEL.fullmatch(_labelled(line))
        if label is None:
            if line.heading:
                title, method, target = titles.get(line.span, ""), "", None
            continue
        value = label["value"] or (plain(text.lines[at + 1].text) if at + 1 < len(text.lines) else "")
        if to_methods(value):
            method = method or value
        elif target is None:
            target = to_path(value)
        if method and target is not None:
            for name in to_methods(method):
                written = WrittenEndpoint(method=name, path=target[1], strength=Strength.STATED, address=target[0])
                yield _SeenEndpoint(written=written, page_number=text.page.number, span=line.span, summary=title)
            method, target = "", None


def _labelled(line: Line) -> str:
    """Return a line as "label: value"; a row of two cells is one too."""
    cells = to_cells(line.text) if line.is_row else ()
    return ": ".join(map(plain, cells)) if len(cells) == 2 else plain(line.text)


def _under_headings(text: MarkedText) -> Iterator[_SeenEndpoint]:
    """Yield endpoints of a path heading with method headings below, or of a method heading with a path below."""
    path, level = "", 0
    lines = text.lines
    titles = {line.span: name for line, name in text.titles()}
    for index, line in enumerate(lines):
        if not line.heading:
            continue
        title = titles.get(line.span, "")
        if line.heading <= level:
            path = ""
        named, is_path = _HEADING_METHOD.fullmatch(title), _HEADING_PATH.fullmatch(title)
        following = to_path(lines[index + 1].text) if index + 1 < len(lines) else None
        if is_path:
            target = to_path(is_path["path"])
            path, level = (target[1], line.heading) if target else ("", 0)
        elif named and (path or following):
            used = following[1] if following else path
            written = WrittenEndpoint(method=named["method"], path=used, strength=Strength.STATED)
            summary = title.partition("[")[0].strip() if "[" in title else ""
            yield _SeenEndpoint(written=written, page_number=text.page.number, span=line.span, summary=summary)


def _chosen(seen: Sequence[_SeenEndpoint]) -> list[_SeenEndpoint]:
    """Return each endpoint once, at its surest description; without examples and mentions of a described one."""
    best: dict[tuple[str, tuple[str, ...]], _SeenEndpoint] = {}
    for item in seen:
        key = (item.written.method, shape_of(item.written.path))
        if key not in best or item.written.strength > best[key].written.strength:
            best[key] = item
    templates: dict[str, list[tuple[str, ...]]] = {}
    for method, shape in list(best)[:MAX_ENDPOINTS]:
        templates.setdefault(method, []).append(shape)
    methods = Counter(shape for _, shape in best)
    kept = [
        item
        for item in list(best.values())[:MAX_ENDPOINTS]
        if methods[shape_of(item.written.path)] > 1  # "GET /settings/theme" and "PUT /settings/theme"
        or not is_use(item.written, templates.get(item.written.method, []))
    ]
    return sorted(kept, key=lambda item: (item.page_number, item.span.start))
