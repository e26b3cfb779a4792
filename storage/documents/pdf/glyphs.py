"""Glyphs of a PDF page: their boxes, and the page's rotation."""

import re
from collections import Counter
from typing import Any

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
