"""The text of one page of a PDF: its text layer in the order it is read, each letter once, with what its forms hold."""

import re
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from storage.documents.pdf.duplicate_glyphs import DOUBLE, mark_doubles, without_doubles
from storage.documents.pdf.form_fields import Field, read_fields, with_fields
from storage.documents.pdf.geometry import letter_box, turned, turned_box
from storage.documents.pdf.rotation import upright_text
from storage.documents.pdf.rows import Line, needs_rows, to_rows
from storage.documents.pdf.table_text import with_ruled_tables
from storage.documents.texts.encodings import clean

# Characters of a page below which it is asked whether they stand on the page at all: scanners leave notes beside it.
OFF_PAGE_TEXT = 200

# PDFium writes U+FFFE (older versions U+0002) for a hyphen that breaks a word at the end of a line.
_BROKEN_WORD = re.compile("[\ufffe\x02](?:\n)?")
# Line ends, and the form feeds and other controls that no text holds on purpose.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def page_text(document: Any, index: int) -> str:
    """The text of one page; "" where the page or its text can't be loaded."""
    import pypdfium2

    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return ""
    with closing(page):
        try:
            text_page = upright_text(page)
        except pypdfium2.PdfiumError:
            return ""
        with closing(text_page):
            fields = read_fields(document, page)
            text = clean_page(_raw_text(page, text_page, fields))
            return with_ruled_tables(text, page, text_page, [field.line for field in fields])


def clean_page(raw: str) -> str:
    """Text with plain line ends and hyphens as hyphens: "adip-" stays at the end of its line, as printed."""
    text = _BROKEN_WORD.sub("-\n", raw.replace("\r\n", "\n"))
    text = clean(without_controls(text))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def without_controls(text: str) -> str:
    """Blanks in the place of control characters."""
    return _CONTROLS.sub(" ", text)


def _raw_text(page: Any, text_page: Any, fields: Sequence[Field]) -> str:
    raw: str = text_page.get_text_range()
    if len(raw) < OFF_PAGE_TEXT and not text_page.get_text_bounded().strip():
        raw = ""  # what there is stands outside of the page
    raw = mark_doubles(raw, text_page)
    if not raw or needs_rows(without_doubles(raw).split("\r\n")):
        lines = _place_lines(text_page, raw, turned(page))
        return to_rows([*lines, *(field.line for field in fields)])
    if fields:
        turn = turned(page)
        boxes = [
            turned_box(letter_box(text_page, place), turn) if _is_drawn(letter) else None
            for place, letter in enumerate(raw)
        ]
        raw = with_fields(raw, boxes, fields)
    return without_doubles(raw)


def _is_drawn(letter: str) -> bool:
    return letter != DOUBLE and not letter.isspace()


def _place_lines(text_page: Any, raw: str, turn: Any) -> list[Line]:
    """Each line with its box, in points from the lower left corner of the page as it is shown; `turn` puts it there.

    Lines without a box are left out.
    """
    placed = []
    start = 0
    for line in raw.split("\r\n"):
        inked = [place for place, letter in enumerate(line, start) if _is_drawn(letter)]
        if inked:
            first, last = (turned_box(letter_box(text_page, place), turn) for place in (inked[0], inked[-1]))
            bottom, top = min(first[1], last[1]), max(first[3], last[3])
            placed.append(Line(text=without_doubles(line), left=first[0], right=last[2], bottom=bottom, top=top))
        start += len(line) + 2
    return placed
