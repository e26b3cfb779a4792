"""Glyphs of a PDF page: their boxes, the page's rotation, and glyphs drawn twice."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from core.text.words import placed_lines

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, bottom, right, top


def turned(page: Any) -> Any:
    """Return a function from the page's places to those as shown."""
    width, height = page.get_size()  # as shown
    turns = {
        90: lambda x, y: (y, height - x),
        180: lambda x, y: (width - x, height - y),
        270: lambda x, y: (width - y, x),
    }
    return turns.get(page.get_rotation(), lambda x, y: (x, y))


def sorted_corners(one: Point, other: Point) -> tuple[Point, Point]:
    """Return the lower left and the upper right corner of the box between two points."""
    (x0, y0), (x1, y1) = one, other
    return (min(x0, x1), min(y0, y1)), (max(x0, x1), max(y0, y1))


def turned_box(box: Box, turn: Any) -> Box:
    """Return a box as the page is shown; `turn` is a result of `turned`."""
    (left, bottom), (right, top) = sorted_corners(turn(box[0], box[1]), turn(box[2], box[3]))
    return left, bottom, right, top


def letter_index(text_page: Any, place: int) -> int:
    """Return PDFium's number of the letter at a place of the page's text, which lacks some letters."""
    from pypdfium2 import raw

    index: int = raw.FPDFText_GetCharIndexFromTextIndex(text_page.raw, place)
    return max(index, 0)


def letter_box(text_page: Any, place: int) -> Box:
    """Return the box of the letter at a place of the page's text, in the file's coordinates."""
    box: Box = text_page.get_charbox(letter_index(text_page, place), loose=True)
    return box


# Characters sampled to detect a page's direction, and their minimum share.
SAMPLE = 400
MIN_SHARE = 0.6

# Scripts that are written from right to left say nothing about how a page is turned.
_LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def upright_text(page: Any) -> Any:
    """Return the text page of an open page, to be closed; a page whose letters aren't upright is rotated first.

    A page without its own rotation is unchanged: its file has the lines as written. Raises the errors of PDFium for a
    page whose text can't be loaded.
    """
    text_page = page.get_textpage()
    if not _turn(page, text_page):
        return text_page
    text_page.close()
    return page.get_textpage()


def _turn(page: Any, text_page: Any) -> bool:
    shown = page.get_rotation()
    turns = _turns(text_page) if shown else Counter()
    if not turns:
        return False
    turn, count = turns.most_common(1)[0]
    if count < turns.total() * MIN_SHARE or turn == shown:
        return False
    page.set_rotation(turn)
    return True


def _turns(text_page: Any) -> Counter[int]:
    """Count the clockwise turns that would make each letter upright, by the position of the next letter of its word.

    PDFium's angle is wrong for letters that are mirrored twice.
    """
    from pypdfium2 import raw

    turns: Counter[int] = Counter()
    before: tuple[float, float] | None = None
    for index in range(min(text_page.count_chars(), SAMPLE)):
        letter = chr(raw.FPDFText_GetUnicode(text_page.raw, index))
        if not letter.isalnum() or _LEFTWARDS.match(letter):
            before = None
            continue
        left, bottom, right, top = text_page.get_charbox(index, loose=True)
        place = ((left + right) / 2, (bottom + top) / 2)
        if before is not None:
            across, up = place[0] - before[0], place[1] - before[1]
            level, upright = (0 if across > 0 else 180), (90 if up > 0 else 270)
            turns[level if abs(across) > abs(up) else upright] += 1
        before = place
    return turns


# Stands for a letter that is one too many: no text holds it.
DOUBLE = "\uffff"
_DOUBLED_LINE = re.compile(rf"(?:^|\r\n)[ \t]*{DOUBLE}[{DOUBLE} \t]*(?=\r\n|$)")
# Maximum pairs of the same letter in a row to check, and runs of one; words that have them by nature are recognised by
# their places. A single pair never is: it may be a ligature, whose letters have one place.
_PAIRS = re.compile(r"(?:([^\s])\1{1,3}){3,}|([^\W\d_])\2{2,}")
# Letters of a line that may be a second pass over another one, and places of the same words it is compared with.
_MIN_LINE = 3
_MAX_PLACES = 8
# Maximum distance of two letters that count as one: shares of the letter's width and of its height.
_ACROSS = 0.5
_UP = 0.15


def find_doubles(raw: str, text_page: Any) -> frozenset[int]:
    """Return the positions of letters in a page's raw text that are drawn over the same letter."""
    doubles: set[int] = set()
    for match in _PAIRS.finditer(raw):
        doubles.update(_in_word(raw, match.start(), match.end(), text_page))
    for start, line in _lines(raw):
        doubles.update(_second_pass(raw, start, line, text_page))
    return frozenset(doubles)


def mark_doubles(raw: str, text_page: Any) -> str:
    """Return `raw` with DOUBLE instead of each duplicate letter, so that all positions stay."""
    doubles = find_doubles(raw, text_page)
    return "".join(DOUBLE if place in doubles else letter for place, letter in enumerate(raw)) if doubles else raw


def without_doubles(marked: str) -> str:
    """Return the text without marked letters, and without lines of nothing else."""
    return _DOUBLED_LINE.sub("", marked).replace(DOUBLE, "")


def _in_word(raw: str, start: int, end: int, text_page: Any) -> Iterator[int]:
    kept: list[tuple[str, Box]] = []
    for place in range(start, end):
        box = letter_box(text_page, place)
        if any(letter == raw[place] and _is_same_place(box, other) for letter, other in kept[-3:]):
            yield place
        else:
            kept.append((raw[place], box))


def _lines(raw: str) -> Iterator[tuple[int, str]]:
    for start, line in placed_lines(raw, "\r\n"):
        inner = line.strip()
        if len(inner) >= _MIN_LINE:
            yield start + len(line) - len(line.lstrip()), inner


def _second_pass(raw: str, start: int, line: str, text_page: Any) -> range:
    place = raw.find(line, 0, start)
    last = len(line) - 1
    for _ in range(_MAX_PLACES):
        if place < 0:
            break
        if all(_are_same(text_page, place + offset, start + offset) for offset in (0, last, last // 2)):
            return range(start, start + len(line))
        place = raw.find(line, place + 1, start)
    return range(0)


def _are_same(text_page: Any, one: int, other: int) -> bool:
    return _is_same_place(letter_box(text_page, one), letter_box(text_page, other))


def _is_same_place(one: Box, other: Box) -> bool:
    width, height = one[2] - one[0], one[3] - one[1]
    return abs(one[0] - other[0]) <= max(width, height * _UP) * _ACROSS and abs(one[1] - other[1]) <= height * _UP
