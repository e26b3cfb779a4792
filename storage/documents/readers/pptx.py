"""PowerPoint presentations: a page for each slide, with its notes and tables."""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.domain.corpus import ParsedDocument, ParsedPage
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.markup.writers import TextWriter, to_lines, to_title
from storage.documents.office.office_files import as_transitional, check_office, created_on, is_office, parse_part
from storage.documents.tables.text import Merge, fill_merged
from storage.documents.texts.encodings import HIDDEN_TEXT

# Groups of shapes inside each other: more is made to be slow.
_MAX_GROUPS = 20

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_PRESENTATION = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
# Placeholders that repeat on every slide, and those whose paragraphs are points of a list.
_REPEATED = frozenset({"dt", "ftr", "sldNum", "hdr"})
_LISTS = frozenset({"body", "obj"})


_SLIDE = (9_144_000, 6_858_000)  # of a presentation that states no size, in its units: 10 by 7.5 inches
_TINY = 100  # hundredths of a point
_YES = ("1", "true")


def remove_unseen(slide: Any, size: tuple[int, int]) -> bool:
    """Remove invisible parts of a slide: hidden shapes, shapes outside of it, tiny and transparent letters.

    Returns whether they had text.
    """
    unseen = [shape.element for shape in _unseen_shapes(slide.shapes, size, (1.0, 0.0, 1.0, 0.0))]
    unseen += [run for run in slide.element.iter(f"{_DRAWING}r", f"{_DRAWING}fld") if _is_unseen_run(run)]
    has_text = any((text.text or "").strip() for element in unseen for text in element.iter(f"{_DRAWING}t"))
    for element in unseen:
        if element.getparent() is not None:
            element.getparent().remove(element)
    return has_text


def _unseen_shapes(
    shapes: Any, size: tuple[int, int], view: tuple[float, float, float, float], depth: int = 0
) -> Iterator[Any]:
    """Yield the outermost unseen shapes; `view` maps their places to the slide's: factor and shift of x, then of y."""
    for shape in shapes:
        own = next(shape.element.iter(f"{_PRESENTATION}cNvPr"), None)
        if (own is not None and own.get("hidden") in _YES) or _is_beside(shape, size, view):
            yield shape
        elif hasattr(shape, "shapes") and depth < _MAX_GROUPS:
            yield from _unseen_shapes(shape.shapes, size, _inside(shape, view), depth + 1)


def _is_beside(shape: Any, size: tuple[int, int], view: tuple[float, float, float, float]) -> bool:
    left, top, width, height = shape.left, shape.top, shape.width, shape.height
    if None in (left, top, width, height):
        return False  # placed by its layout
    scale_x, shift_x, scale_y, shift_y = view
    middle_x, middle_y = (left + width / 2) * scale_x + shift_x, (top + height / 2) * scale_y + shift_y
    half_x, half_y = width / 2 * abs(scale_x), height / 2 * abs(scale_y)
    if getattr(shape, "rotation", 0):
        half_x = half_y = (half_x**2 + half_y**2) ** 0.5
    return bool(
        middle_x + half_x <= 0 or middle_x - half_x >= size[0] or middle_y + half_y <= 0 or middle_y - half_y >= size[1]
    )


def _inside(group: Any, view: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    frame = group.element.find(f"{_PRESENTATION}grpSpPr/{_DRAWING}xfrm")
    parts = [None if frame is None else frame.find(f"{_DRAWING}{name}") for name in ("off", "ext", "chOff", "chExt")]
    if None in parts:
        return view
    place, area, inner_place, inner_area = parts
    scale_x, shift_x, scale_y, shift_y = view
    along, down = (_length(area, name) / (_length(inner_area, name) or 1.0) for name in ("cx", "cy"))
    return (
        scale_x * along,
        scale_x * (_length(place, "x") - _length(inner_place, "x") * along) + shift_x,
        scale_y * down,
        scale_y * (_length(place, "y") - _length(inner_place, "y") * down) + shift_y,
    )


def _length(element: Any, name: str) -> float:
    return float(element.get(name) or 0)


def _is_unseen_run(run: Any) -> bool:
    properties = run.find(f"{_DRAWING}rPr")
    if properties is None:
        return False
    size = properties.get("sz", "")
    if size.isdecimal() and len(size) < 9 and int(size) <= _TINY:
        return True
    alpha = properties.find(f"{_DRAWING}solidFill/*/{_DRAWING}alpha")
    if alpha is not None and alpha.get("val") in ("0", "0%"):
        return True
    return properties.find(f"{_DRAWING}noFill") is not None and properties.find(f"{_DRAWING}ln") is None


def slide_title(slide: Any) -> str:
    """Return the slide's title on one line, "" without one."""
    shape = slide.shapes.title
    return collapse(to_lines(shape.text_frame.text)) if shape is not None and shape.has_text_frame else ""


def write_slide(slide: Any, writer: TextWriter) -> None:
    """Write all text of a slide; the title is a heading."""
    title = slide.shapes.title
    writer.add_heading(1, slide_title(slide))
    for shape in _shapes(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            _write_shape(shape, writer)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        writer.add_paragraph(f"Notes: {notes.text.strip()}")


def _shapes(shapes: Any, depth: int = 0) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _MAX_GROUPS:
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _write_shape(shape: Any, writer: TextWriter) -> None:
    # a placeholder without a kind holds the slide's content
    found = next(shape.element.iter(f"{_PRESENTATION}ph"), None)
    kind = "" if found is None else str(found.get("type", "obj"))
    if kind in _REPEATED:
        return
    if getattr(shape, "has_table", False):
        rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
        merges = [
            Merge(place, column, cell.span_height, cell.span_width)
            for place, row in enumerate(shape.table.rows)
            for column, cell in enumerate(row.cells)
            if cell.is_merge_origin
        ]
        writer.add_table(fill_merged(rows, merges))
    elif getattr(shape, "has_chart", False):
        writer.add_table(_chart_rows(shape.chart))
    elif shape.has_text_frame:
        _write_paragraphs(shape.text_frame.paragraphs, writer, is_list=kind in _LISTS)
    else:
        for text in _diagram_texts(shape):
            writer.add_item(text)


def _write_paragraphs(paragraphs: Sequence[Any], writer: TextWriter, *, is_list: bool) -> None:
    filled = [paragraph for paragraph in paragraphs if paragraph.text.strip()]
    lines: list[str] = []
    count = 0
    for paragraph in filled:
        properties = paragraph._p.pPr  # bullets have no name of their own in the library
        marks = {child.tag.removeprefix(_DRAWING) for child in properties} if properties is not None else set()
        count = count + 1 if "buAutoNum" in marks else 0
        if count or "buChar" in marks or (is_list and len(filled) > 1 and "buNone" not in marks):
            writer.add_paragraph("\n".join(lines))
            lines = []
            writer.add_item(paragraph.text, level=paragraph.level, mark=f"{count}." if count else "-")
        else:
            lines.append(paragraph.text)
    writer.add_paragraph("\n".join(lines))


def _chart_rows(chart: Any) -> list[list[str]]:
    """Return the data of a chart with a row per category, [] without data."""
    try:
        plots = list(chart.plots)
    except ValueError:  # of a kind that the library does not know, as all those in three dimensions
        return _stored_rows(chart)
    rows: list[list[str]] = []
    for plot in plots:
        categories = [str(category) for category in plot.categories]
        series = [(str(one.name), list(one.values)) for one in plot.series]
        if categories and series:
            rows.append(["", *(name for name, _ in series)])
            rows += [
                [category, *(_shown(values[place]) if place < len(values) else "" for _, values in series)]
                for place, category in enumerate(categories)
            ]
    return rows


def _stored_rows(chart: Any) -> list[list[str]]:
    series = list(chart.element.iter(f"{_CHART}ser"))
    names = [next(iter(_points(one, "tx").values()), "") for one in series]
    categories: dict[int, str] = {}
    for one in series:
        categories = _points(one, "cat") | categories
    values = [_points(one, "val") for one in series]
    rows = [[categories[place], *(one.get(place, "") for one in values)] for place in sorted(categories)]
    return [["", *names], *rows] if rows else []


def _points(series: Any, local: str) -> dict[int, str]:
    """Return the stored texts of one part of a series, by their places."""
    part = series.find(f"{_CHART}{local}")
    if part is None:
        return {}
    points = [(point.get("idx", ""), point.findtext(f"{_CHART}v") or "") for point in part.iter(f"{_CHART}pt")]
    return {int(place): text for place, text in points if place.isdecimal() and len(place) < 7}


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.15g}"


def _diagram_texts(shape: Any) -> list[str]:
    relation = next((ids.get(f"{_RELATIONS}dm") for ids in shape.element.iter(f"{_DIAGRAM}relIds")), None)
    if relation is None or relation not in shape.part.rels:
        return []
    root = parse_part(shape.part.related_part(relation).blob, "diagram", "presentation")
    points = ("".join(text.text or "" for text in point.iter(f"{_DRAWING}t")) for point in root.iter(f"{_DIAGRAM}pt"))
    return [point for point in points if point.strip()]


WHAT = "PowerPoint presentation"


class PptxReader:
    """Reads `.pptx` and `.pptm`: text, tables, the numbers of charts, and speakers' notes."""

    kind = "pptx"
    suffixes = frozenset({".pptx", ".pptm"})
    expects = "a PowerPoint presentation"

    def accepts(self, path: Path, head: bytes) -> bool:
        return is_office(head)

    def read(self, path: Path, root: Path) -> ParsedDocument:
        check_office(path, WHAT, newer=".pptx")
        with _opened(path) as presentation:
            slides = list(presentation.slides)
            hidden = [number for number, slide in enumerate(slides, 1) if slide.element.get("show") in ("0", "false")]
            size = (presentation.slide_width or _SLIDE[0], presentation.slide_height or _SLIDE[1])
            unseen = [number for number, slide in enumerate(slides, 1) if remove_unseen(slide, size)]
            pages = [_to_page(slide, number) for number, slide in enumerate(slides, 1) if number not in hidden]
            shown = (slide for number, slide in enumerate(slides, 1) if number not in hidden)
            title = next(map(slide_title, shown), "") or to_title(presentation.core_properties.title)
            created = created_on(presentation.core_properties)
        empty = [str(page.number) for page in pages if not page.text]
        if len(empty) == len(pages):
            raise ReadError("empty: no slide has text; what pictures show is not read")
        left_out = tuple(_left_out(hidden, [number for number in unseen if number not in hidden]))
        return ParsedDocument(
            title=title or path.stem,
            kind=self.kind,
            pages=tuple(page for page in pages if page.text),
            warnings=(*([f"no text on slide{_numbers(empty)}"] if empty else ()), *left_out),
            hidden=left_out,
            created=created,
        )


def _left_out(hidden: Sequence[int], unseen: Sequence[int]) -> Iterator[str]:
    if hidden:
        yield f"hidden slide{'s' * (len(hidden) > 1)} left out: {', '.join(map(str, hidden))}"
    if unseen:
        yield f"{HIDDEN_TEXT}: slide{_numbers(unseen)}"


def _numbers(slides: Sequence[int | str]) -> str:
    return f"{'s' * (len(slides) > 1)} {', '.join(map(str, slides))}"


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import pptx
    from lxml.etree import LxmlError
    from pptx.exc import PythonPptxError

    try:
        with as_transitional(path, WHAT) as file:
            yield pptx.Presentation(file)
    # The library trusts the file: an AttributeError means an unexpected element.
    except (PythonPptxError, LxmlError, zipfile.BadZipFile, KeyError, ValueError, AttributeError) as error:
        raise ReadError(f"corrupt: not a readable {WHAT} ({error})") from error


def _to_page(slide: Any, number: int) -> ParsedPage:
    writer = TextWriter()
    write_slide(slide, writer)
    return writer.to_page(slide_title(slide), number=number)
