"""Places of a quote on its PDF page: the quote's letters among PDFium's letters, as rectangles, one for each line.

Readers change spaces, hyphens, columns and tables, so only letters and digits are compared. PDFium finds the letters
of one line after the other; a quote that isn't in one piece there is searched line by line, then word by word.
On a scanned page, the words of text recognition replace PDFium's letters.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from core.domain.passages import PageBox, Span
from storage.documents.pdf.form_fields import open_forms
from storage.documents.pdf.glyphs import DOUBLE, letter_box, mark_doubles, upright_text
from storage.documents.pdf.page_text import page_text
from storage.documents.pdf.recognition import Recogniser, may_be_scanned, recognised_words

ENOUGH = 0.75  # share of a quote's letters to find; below it, the place isn't known
_CONTEXT = 120  # letters before and after a quote that tell one occurrence from another
_LIKELY = 4  # letters of context that a word needs to be the one meant, if the page has it twice
_OCCURRENCES = 400  # compared
_CELLS = re.compile(r"[^\n\t|]+")
_WORDS = re.compile(r"\S+")
_GRAIN = 100_000  # of PDFium's coordinates: whole numbers
_WORD_GAP = 2.0  # heights of a line between words of one box
_SAME_LINE = 0.5  # share of a letter's height that is level with its line
_THICKER = 2.5  # times a letter's height: a line of larger letters, or a column of lines


def find_boxes(path: str, number: int, text: str, span: Span) -> list[PageBox]:
    """Return the places of `span` of a page's text on page `number`, from 1, in text order; [] if they aren't found."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
        open_forms(document)
        if not 1 <= number <= len(document):
            return []
        page = document[number - 1]
        rotation = page.get_rotation()
        with closing(upright_text(page)) as text_page:
            raw = mark_doubles(text_page.get_text_range(), text_page)
            page.set_rotation(rotation)  # as the picture is drawn
            places = find_letters(raw, text, span)
            return _to_lines([_shown(page, letter_box(text_page, place)) for place in places])
    except pypdfium2.PdfiumError:
        return []


def find_words(path: str, number: int, recogniser: Recogniser) -> list[tuple[str, PageBox]]:
    """Return the recognised words of page `number`, from 1, with their places; [] if it isn't scanned."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
        open_forms(document)
        index = number - 1
        if not 0 <= index < len(document) or not may_be_scanned(document, index, page_text(document, index)):
            return []
        return recognised_words(document, index, recogniser)
    except pypdfium2.PdfiumError:
        return []


def boxes_of_words(words: Sequence[tuple[str, PageBox]], text: str, span: Span) -> list[PageBox]:
    """Return the boxes of `span` of a page's text, as `find_boxes`, over the words of its picture."""
    printed = " ".join(word for word, _ in words)
    ends = list(accumulate(len(word) + 1 for word, _ in words))
    found = dict.fromkeys(bisect_right(ends, place) for place in find_letters(printed, text, span))
    is_sideways = sum(box.height for _, box in words) > sum(box.width for _, box in words)
    return _to_lines([words[index][1] for index in found], (is_sideways,))


@dataclass(frozen=True, slots=True)
class _Letters:
    """The letters and digits of a text without case, and the place of each."""

    text: str
    places: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> "_Letters":
        found = [
            (folded, place)
            for place, letter in enumerate(text)
            if letter.isalnum()
            for folded in unicodedata.normalize("NFKC", letter).casefold()
            if folded.isalnum()
        ]
        return cls("".join(letter for letter, _ in found), tuple(place for _, place in found))

    def within(self, span: Span) -> range:
        """Return the letters of a part of the text."""
        inside = [index for index, place in enumerate(self.places) if span.start <= place < span.end]
        return range(inside[0], inside[-1] + 1) if inside else range(0)


def find_letters(printed: str, text: str, span: Span) -> list[int]:
    """Return the places in the text `printed` that hold the part `span` of `text`; [] if too few are found."""
    page, ours = _Letters.of(printed), _Letters.of(text)
    wanted = ours.within(span)
    if not wanted:
        return []
    found = list(_find_parts(page, ours, text, span))
    if sum(len(part) for _, part in found) < ENOUGH * len(wanted):
        return []
    places: dict[int, None] = {}
    for piece, part in found:
        first, last = page.places[part[0]], page.places[part[-1]]
        places.update(dict.fromkeys(_with_signs(printed, first, last, piece.of(text))))
    return [place for place in places if printed[place] != DOUBLE and not printed[place].isspace()]


def _find_parts(page: _Letters, ours: _Letters, text: str, span: Span) -> Iterator[tuple[Span, range]]:
    """Yield the found pieces of a span: itself, else its lines and cells, else their words."""
    whole = _find(page, ours, span, least=0)
    if whole:
        yield span, whole
        return
    for cell in _pieces(_CELLS, text, span):
        found = _find(page, ours, cell, least=0)
        if found:
            yield cell, found
            continue
        for word in _pieces(_WORDS, text, cell):
            found = _find(page, ours, word, least=_LIKELY)
            if found:
                yield word, found


def _pieces(pattern: re.Pattern[str], text: str, span: Span) -> list[Span]:
    return [Span(*match.span()) for match in pattern.finditer(text, span.start, span.end)]


def _find(page: _Letters, ours: _Letters, span: Span, *, least: int) -> range:
    """Return the occurrence of a span whose surroundings are most alike; empty if none has `least` of them."""
    wanted = ours.within(span)
    if not wanted:
        return range(0)
    needle = ours.text[wanted.start : wanted.stop]
    starts: list[int] = []
    start = page.text.find(needle)
    while start >= 0 and len(starts) < _OCCURRENCES:
        starts.append(start)
        start = page.text.find(needle, start + 1)
    if not starts:
        return range(0)
    likeness = {start: _likeness(page.text, ours.text, start, wanted) for start in starts}
    best = max(starts, key=lambda start: (likeness[start], -abs(start - wanted.start)))
    if len(starts) > 1 and likeness[best] < least:
        return range(0)
    return range(best, best + len(needle))


def _likeness(page: str, ours: str, start: int, wanted: range) -> int:
    """Return how many letters before and after an occurrence are the same as around the quote."""
    length = len(wanted)
    before = _common(
        page[max(0, start - _CONTEXT) : start][::-1], ours[max(0, wanted.start - _CONTEXT) : wanted.start][::-1]
    )
    after = _common(page[start + length : start + length + _CONTEXT], ours[wanted.stop : wanted.stop + _CONTEXT])
    return before + after


def _common(one: str, other: str) -> int:
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _with_signs(printed: str, first: int, last: int, piece: str) -> range:
    """Return the places of a piece with the punctuation at its ends."""
    inner = [place for place, letter in enumerate(piece) if letter.isalnum()]
    for sign in reversed(piece[: inner[0]]):
        if first == 0 or printed[first - 1] != sign or sign.isspace():
            break
        first -= 1
    for sign in piece[inner[-1] + 1 :]:
        if last + 1 >= len(printed) or printed[last + 1] != sign or sign.isspace():
            break
        last += 1
    return range(first, last + 1)


def _shown(page: Any, box: tuple[float, float, float, float]) -> PageBox:
    """Return a box of the file's coordinates on the page as drawn: rotated, and cut at its edges."""
    (left, top), (right, bottom) = (_device(page, box[place], box[place + 1]) for place in (0, 2))
    left, right = sorted((left, right))
    top, bottom = sorted((top, bottom))
    return PageBox(left, top, right - left, bottom - top)


def _device(page: Any, x: float, y: float) -> tuple[float, float]:
    from ctypes import byref, c_int

    from pypdfium2 import raw

    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page.raw, 0, 0, _GRAIN, _GRAIN, 0, x, y, byref(across), byref(down))
    return tuple(min(max(value.value / _GRAIN, 0.0), 1.0) for value in (across, down))  # type: ignore[return-value]


def _to_lines(letters: Sequence[PageBox], sideways: Sequence[bool] = (False, True)) -> list[PageBox]:
    """Join the boxes of letters or words, in text order, to one for each line; `sideways` are the ways they may run."""
    lines: list[PageBox] = []
    for letter in letters:
        if letter.width <= 0 or letter.height <= 0:
            continue
        if lines and any(_continues(lines[-1], letter, is_sideways=way) for way in sideways):
            lines[-1] = _joined(lines[-1], letter)
        else:
            lines.append(letter)
    return lines


def _continues(line: PageBox, letter: PageBox, *, is_sideways: bool) -> bool:
    """Return whether a letter is level with a line of its size, and near its end."""
    if is_sideways:
        line, letter = _turned(line), _turned(letter)
    if line.height > _THICKER * letter.height:
        return False
    level = min(line.bottom, letter.bottom) - max(line.top, letter.top)
    gap = max(letter.left - line.right, line.left - letter.right)
    return level >= _SAME_LINE * min(line.height, letter.height) and gap <= _WORD_GAP * letter.height


def _joined(one: PageBox, other: PageBox) -> PageBox:
    left, top = min(one.left, other.left), min(one.top, other.top)
    return PageBox(left, top, max(one.right, other.right) - left, max(one.bottom, other.bottom) - top)


def _turned(box: PageBox) -> PageBox:
    return PageBox(box.top, box.left, box.height, box.width)
