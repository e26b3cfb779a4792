"""Letters of a PDF page that are drawn twice at nearly the same place, so that they look bold: one of each is read.

PDFium leaves out most of them itself. What it gives twice are passes that stand far from each other in the file, and
letters that are a little further apart. Boxes are asked for only where the text looks like one of these.
"""

import re
from collections.abc import Iterator
from typing import Any

from storage.documents.pdf.geometry import Box, letter_box

# Stands for a letter that is one too many: no text holds it.
DOUBLE = "\uffff"
_DOUBLED_LINE = re.compile(rf"(?:^|\r\n)[ \t]*{DOUBLE}[{DOUBLE} \t]*(?=\r\n|$)")
# Pairs of the same letter in a row that are looked at, and runs of one; words that have them by nature are told by
# their places. A single pair never is: it may be a ligature, whose letters have one place.
_PAIRS = re.compile(r"(?:([^\s])\1{1,3}){3,}|([^\W\d_])\2{2,}")
# Letters of a line that may be a second pass over another one, and places of the same words it is compared with.
_MIN_LINE = 3
_MAX_PLACES = 8
# How far two letters may be apart to be one: shares of the letter's width, and of its height.
_ACROSS = 0.5
_UP = 0.15


def find_doubles(raw: str, text_page: Any) -> frozenset[int]:
    """The places in a page's raw text of letters that stand where the same letter stands already."""
    doubles: set[int] = set()
    for match in _PAIRS.finditer(raw):
        doubles.update(_in_word(raw, match.start(), match.end(), text_page))
    for start, line in _lines(raw):
        doubles.update(_second_pass(raw, start, line, text_page))
    return frozenset(doubles)


def mark_doubles(raw: str, text_page: Any) -> str:
    """`raw` with DOUBLE in the place of each letter that is one too many, so that all places stay."""
    doubles = find_doubles(raw, text_page)
    return "".join(DOUBLE if place in doubles else letter for place, letter in enumerate(raw)) if doubles else raw


def without_doubles(marked: str) -> str:
    """The text without the letters that are marked, and without lines that hold nothing else."""
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
    start = 0
    for line in raw.split("\r\n"):
        inner = line.strip()
        if len(inner) >= _MIN_LINE:
            yield start + len(line) - len(line.lstrip()), inner
        start += len(line) + 2


def _second_pass(raw: str, start: int, line: str, text_page: Any) -> range:
    """All of a line whose words stand before it, at its own place; nothing of other lines."""
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
