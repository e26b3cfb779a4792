"""Places on a PDF page: boxes as the page is shown, and those of single letters of its text."""

from typing import Any

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, bottom, right, top


def turned(page: Any) -> Any:
    """Places on the page as it is shown."""
    width, height = page.get_size()  # as shown
    turns = {
        90: lambda x, y: (y, height - x),
        180: lambda x, y: (width - x, height - y),
        270: lambda x, y: (width - y, x),
    }
    return turns.get(page.get_rotation(), lambda x, y: (x, y))


def sorted_corners(one: Point, other: Point) -> tuple[Point, Point]:
    """The lower left and the upper right corner of the box between two points."""
    (x0, y0), (x1, y1) = one, other
    return (min(x0, x1), min(y0, y1)), (max(x0, x1), max(y0, y1))


def turned_box(box: Box, turn: Any) -> Box:
    """A box as the page is shown; `turn` is of `turned`."""
    (left, bottom), (right, top) = sorted_corners(turn(box[0], box[1]), turn(box[2], box[3]))
    return left, bottom, right, top


def letter_index(text_page: Any, place: int) -> int:
    """The number that PDFium has for the letter at a place of the page's text, which leaves some letters out."""
    from pypdfium2 import raw

    index: int = raw.FPDFText_GetCharIndexFromTextIndex(text_page.raw, place)
    return max(index, 0)


def letter_box(text_page: Any, place: int) -> Box:
    """The box of the letter at a place of the page's text, as the file has it."""
    box: Box = text_page.get_charbox(letter_index(text_page, place), loose=True)
    return box
