"""The words and lines of a PDF page with their places, read with PDFium, and the cells they form."""

import ctypes
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain.passages import Span
from core.text.delimited import is_data
from storage.documents.pdf.form_fields import open_forms, read_fields
from storage.documents.pdf.glyphs import (
    Point,
    find_doubles,
    letter_index,
    sorted_corners,
    turned,
    turned_box,
    upright_text,
)
from storage.documents.pdf.rows import Line

# Characters and drawn pieces of one page beyond which it is a map or a chart, not a page of text.
MAX_CHARACTERS = 40_000
MAX_PIECES = 30_000
# Forms within forms that are looked into.
_MAX_DEPTH = 4
# Minimum gap between characters of two words, and maximum step back, in heights of a line.
_WORD_GAP = 0.22
_STEP_BACK = 0.5
# Points: a filled box thinner than this is a line; a line leaning less than this is level; one shorter is a dot.
_LINE_WIDTH = 3.0
_LEAN = 1.0
_SHORTEST = 3.0

# Share of Hebrew and Arabic letters from which a page counts as written from right to left.
MAX_LEFTWARDS = 0.2
_LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LETTERS = re.compile(r"[^\W\d_]")

_Matrix = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Word:
    """Points from the page's lower left corner, upwards; `order` is its place in the file's text."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    order: int

    @property
    def height(self) -> float:
        return max(self.top - self.bottom, 1.0)

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def centre(self) -> float:
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Rule:
    """A line drawn level or upright: at `at`, from `start` to `end`."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A page: its words in the file's order, its level and upright lines."""

    words: tuple[Word, ...]
    level: tuple[Rule, ...]
    upright: tuple[Rule, ...]

    @property
    def cost(self) -> int:
        return sum(len(word.text) for word in self.words) + len(self.level) + len(self.upright)


class LayoutReader:
    """The pages of one open file. Raises OSError or ValueError if it is no readable PDF."""

    def __init__(self, path: Path) -> None:
        import pypdfium2

        try:
            self._document = pypdfium2.PdfDocument(path.read_bytes())
        except pypdfium2.PdfiumError as error:
            raise ValueError(f"{path.name} is no readable PDF: {error}") from error
        open_forms(self._document)

    def close(self) -> None:
        self._document.close()

    def read(self, number: int) -> Layout | None:
        """Return page `number`, from 1; None if it doesn't exist, can't be loaded or holds too much."""
        import pypdfium2

        if not 1 <= number <= len(self._document):
            return None
        try:
            with closing(self._document[number - 1]) as page, closing(upright_text(page)) as text_page:
                filled = [field.line for field in read_fields(self._document, page)]
                return read_layout(page, text_page, read_rules(page), filled)
        except pypdfium2.PdfiumError:
            return None


def read_layout(
    page: Any, text_page: Any, rules: tuple[list[Rule], list[Rule]] | None, filled: Sequence[Line] = ()
) -> Layout | None:
    """Return the layout of an open page; None if it holds too much, or is written from right to left.

    `filled` are the texts of its form fields.
    """
    if rules is None or text_page.count_chars() > MAX_CHARACTERS:
        return None
    text = text_page.get_text_range()
    # joining so many Arabic or Hebrew words from left to right would give nonsense
    leftwards = len(_LEFTWARDS.findall(text))
    if leftwards and leftwards >= len(_LETTERS.findall(text)) * MAX_LEFTWARDS:
        return None
    doubled = frozenset(letter_index(text_page, place) for place in find_doubles(text, text_page))
    words = [*_words(text_page, turned(page), doubled)]
    for line in filled:
        words += _split(line, text_page.count_chars() + len(words))
    return Layout(words=tuple(words), level=tuple(rules[0]), upright=tuple(rules[1]))


def read_rules(page: Any) -> tuple[list[Rule], list[Rule]] | None:
    """Return the horizontal and the vertical lines of an open page; None if there are too many."""
    from pypdfium2 import raw

    turn = turned(page)
    level: list[Rule] = []
    upright: list[Rule] = []
    for count, (start, end) in enumerate(_lines(raw, _page_objects(raw, page.raw))):
        if count > MAX_PIECES:
            return None
        (left, bottom), (right, top) = sorted_corners(turn(*start), turn(*end))
        if top - bottom <= _LEAN and right - left >= _SHORTEST:
            level.append(Rule((top + bottom) / 2, left, right))
        elif right - left <= _LEAN and top - bottom >= _SHORTEST:
            upright.append(Rule((left + right) / 2, bottom, top))
    return level, upright


def _split(line: Line, order: int) -> Iterator[Word]:
    """Yield the words of a field, with widths by their numbers of letters."""
    left, letter = line.left, (line.right - line.left) / max(len(line.text), 1)
    for number, word in enumerate(line.text.split()):
        right = left + letter * len(word)
        yield Word(word, left, right, line.bottom, line.top, order + number)
        left = right + letter


def _words(text_page: Any, turn: Any, doubles: Container[int]) -> Iterator[Word]:
    from pypdfium2 import raw

    box = raw.FS_RECTF()
    letters: list[str] = []
    bounds = (0.0, 0.0, 0.0, 0.0)
    first = 0
    for index in range(text_page.count_chars()):
        if index in doubles:
            continue
        code = raw.FPDFText_GetUnicode(text_page.raw, index)
        character = chr(code) if 0x20 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else " "
        drawn = not character.isspace() and raw.FPDFText_GetLooseCharBox(text_page.raw, index, ctypes.byref(box))
        if not drawn:
            if letters:
                yield Word("".join(letters), *bounds, first)
            letters = []
            continue
        left, bottom, right, top = turned_box((box.left, box.bottom, box.right, box.top), turn)
        if letters and _goes_on(bounds, left, bottom, top):
            bounds = (bounds[0], max(bounds[1], right), min(bounds[2], bottom), max(bounds[3], top))
        else:
            if letters:
                yield Word("".join(letters), *bounds, first)
            letters, bounds, first = [], (left, right, bottom, top), index
        letters.append(character)
    if letters:
        yield Word("".join(letters), *bounds, first)


def _goes_on(word: tuple[float, float, float, float], left: float, bottom: float, top: float) -> bool:
    height = max(word[3] - word[2], top - bottom, 1.0)
    overlaps = min(word[3], top) - max(word[2], bottom) > 0
    return overlaps and -_STEP_BACK * height <= left - word[1] <= _WORD_GAP * height


def _page_objects(raw: Any, page: Any) -> Iterator[tuple[Any, _Matrix]]:
    whole = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    for index in range(raw.FPDFPage_CountObjects(page)):
        yield from _paths(raw, raw.FPDFPage_GetObject(page, index), whole, _MAX_DEPTH)


def _paths(raw: Any, item: Any, outer: _Matrix, depth: int) -> Iterator[tuple[Any, _Matrix]]:
    kind = raw.FPDFPageObj_GetType(item)
    if kind not in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_FORM):
        return
    own = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(item, ctypes.byref(own))
    matrix = _times((own.a, own.b, own.c, own.d, own.e, own.f), outer)
    if kind == raw.FPDF_PAGEOBJ_PATH:
        yield item, matrix
    elif depth:
        for index in range(raw.FPDFFormObj_CountObjects(item)):
            yield from _paths(raw, raw.FPDFFormObj_GetObject(item, index), matrix, depth - 1)


def _times(one: _Matrix, other: _Matrix) -> _Matrix:
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _lines(raw: Any, paths: Iterator[tuple[Any, _Matrix]]) -> Iterator[tuple[Point, Point]]:
    """Yield the straight pieces of drawn paths; a thin filled box is one piece along its middle."""
    for path, matrix in paths:
        filled, stroked = ctypes.c_int(), ctypes.c_int()
        raw.FPDFPath_GetDrawMode(path, ctypes.byref(filled), ctypes.byref(stroked))
        if not filled.value and not stroked.value:
            continue
        pieces = list(_pieces(raw, path, matrix))
        corners = [point for piece in pieces for point in piece]
        if corners and not stroked.value:
            left, right = min(x for x, _ in corners), max(x for x, _ in corners)
            bottom, top = min(y for _, y in corners), max(y for _, y in corners)
            if len(pieces) <= 5 and min(right - left, top - bottom) < _LINE_WIDTH:
                x, y = (left + right) / 2, (bottom + top) / 2
                is_level = right - left > top - bottom
                yield ((left, y), (right, y)) if is_level else ((x, bottom), (x, top))
                continue
        yield from pieces


def _pieces(raw: Any, path: Any, matrix: _Matrix) -> Iterator[tuple[Point, Point]]:
    a, b, c, d, e, f = matrix
    x, y = ctypes.c_float(), ctypes.c_float()
    first = last = (0.0, 0.0)
    for index in range(min(raw.FPDFPath_CountSegments(path), MAX_PIECES)):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        point = (a * x.value + c * y.value + e, b * x.value + d * y.value + f)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            first = point
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield last, point
        if raw.FPDFPathSegment_GetClose(segment):
            yield point, first
        last = point


_NO_FIGURE = frozenset(
    "- – — − … * ** † ‡ § # x (x) na n/a n.a. nil none ( ) . : .. ... -- (d) (na) (z) (1) (2)".split()
)
_SIGNS = frozenset("$€£¥%")
# A number and, in parentheses, its share, error or interval.
_WITH_SHARE = re.compile(r"[-–−+<>~]?\d[\d.,%]*\s?[(\[][-–−+<>~±]?\d[\d.,%–−/ -]*[)\]]")
_SCALED = re.compile(r"[-–−(]{0,2}[$€£]?\d[\d.,]*\s?(?:[KkMBbTt]|[Mm]n|[Bb]n|million|billion)\)?")


def is_figure(text: str) -> bool:
    """Return whether a cell holds a number, a date, or a sign for a missing number."""
    bare = text.strip("*†‡§^ \t")
    return (
        is_data(bare)
        or text.lower() in _NO_FIGURE
        or bare in _SIGNS
        or _is_marked(bare)
        or bool(_WITH_SHARE.fullmatch(bare) or _SCALED.fullmatch(bare))
    )


def _is_marked(text: str) -> bool:
    """Return whether it is a figure with a sign or a note mark at either end: "r 41.2", "1,204 e", "41-50"."""
    parts = text.split()
    if 1 < len(parts) <= 3:
        kept = [part for part in parts if len(part) > 2 or part[:1].isdigit()]
        return len(kept) == 1 and is_data(kept[0]) and any(map(str.isdigit, kept[0]))
    return bool(text) and text[0].isdigit() and all(c.isdigit() or c in ".,-–/:%+()'" for c in text)


# Minimum overlap of two words on one line, as a share of the lower one's height.
_OVERLAP = 0.5

# Characters of a cell up to which it may end with such dots.
MAX_LEADERS = 500
# Dots that lead from a label to its figure.
_LEADERS = re.compile(r"(?:[ ]?[.·…]){3,}$")

Cell = tuple[Word, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTable:
    """A table on a page, from top to bottom; `edges` are the left ends of its columns and the right end of the last."""

    header: tuple[str, ...]  # names of the columns; all empty without a header
    rows: tuple[tuple[Cell, ...], ...]
    texts: tuple[tuple[str, ...], ...]  # texts of the rows' cells; each cell under a merged cell has its text
    words: tuple[Word, ...]  # all of it, the header's too
    edges: tuple[float, ...]
    is_ruled: bool
    is_doubtful: bool = False  # ruled, but its cells look like several columns each

    @property
    def top(self) -> float:
        return max(word.top for word in self.words)

    @property
    def bottom(self) -> float:
        return min(word.bottom for word in self.words)


def to_lines(words: Iterable[Word]) -> list[list[Word]]:
    """Return the words of each line from left to right, the lines from top to bottom."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (-word.middle, word.left)):
        place = next((line for line in reversed(lines[-3:]) if _on_one_line(line, word)), None)
        if place is None:
            lines.append([word])
        else:
            place.append(word)
    return [sorted(line, key=lambda word: (word.left, word.order)) for line in lines]


def to_text(words: Iterable[Word]) -> str:
    """Return the text of a cell; its lines are joined by a space, or by nothing if they are that close."""
    text = ""
    for line in to_lines(words):
        before: Word | None = None
        for word in line:
            close = before is not None and word.left - before.right < before.height * 0.1
            text += word.text if not text or close else f" {word.text}"
            before = word
    text = text.replace("\ufffe", "-")
    return _LEADERS.sub("", text) if len(text) < MAX_LEADERS else text


def _on_one_line(line: Sequence[Word], word: Word) -> bool:
    first = max(line, key=lambda other: other.height)
    overlap = min(first.top, word.top) - max(first.bottom, word.bottom)
    return overlap >= min(first.height, word.height) * _OVERLAP


# Maximum characters of text between two consecutive words, and for a longer word that is no number.
_NEAR = 60
_FAR = 1_500
_LONG = 5


def place_words(words: Sequence[Word], text: str) -> dict[int, Span]:
    """Return the span of each word by its order, without words that are not found.

    The text has the words in the file's order or line by line; the order that finds more of them is used.
    """
    as_written = _place(words, text)
    if len(as_written) == len(words):
        return as_written
    as_seen = _place([word for line in to_lines(words) for word in line], text)
    return max(as_written, as_seen, key=len)


def _place(words: Iterable[Word], text: str) -> dict[int, Span]:
    places = {}
    cursor = 0
    for word in words:
        wanted = word.text.replace("\ufffe", "-").replace("\x02", "-")
        start = text.find(wanted, cursor, cursor + _NEAR + len(wanted))
        if start < 0 and len(wanted) >= _LONG:
            start = text.find(wanted, cursor, cursor + _FAR)
        if start >= 0:
            cursor = start + len(wanted)
            places[word.order] = Span(start, cursor)
    return places


def span_of(words: Iterable[Word], places: Mapping[int, Span]) -> Span | None:
    """Return the span from the first to the last of the words that have a place."""
    found = [places[word.order] for word in words if word.order in places]
    return Span(min(span.start for span in found), max(span.end for span in found)) if found else None
