"""Text of a PDF page that no reader can see: drawn without colour, in white on nothing, tiny, or off the page."""

import ctypes
from collections.abc import Iterator
from typing import Any

from storage.documents.pdf.glyphs import DOUBLE, letter_index

_WITHOUT_COLOUR = 3  # render mode of PDF: neither filled nor outlined
_TINY = 1.0  # points
_SCAN_SHARE = 0.5  # of the page: a picture as large is a scan, with its text invisible above it
_WHITE = 250  # of 255, in each colour


def mark_invisible(raw: str, page: Any, text_page: Any) -> str:
    """Return the text with DOUBLE for each letter that can't be seen; they are removed with the letters drawn twice."""
    hidden = set(_invisible_objects(page))
    if not hidden:
        return raw
    from pypdfium2 import raw as pdfium

    def is_hidden(place: int) -> bool:
        found = pdfium.FPDFText_GetTextObject(text_page.raw, letter_index(text_page, place))
        return _address(found) in hidden

    return "".join(DOUBLE if not sign.isspace() and is_hidden(place) else sign for place, sign in enumerate(raw))


def _invisible_objects(page: Any) -> Iterator[int]:
    from pypdfium2 import raw as pdfium

    width, height = page.get_size()
    objects = list(page.get_objects(max_depth=4))
    texts = [item for item in objects if item.type == pdfium.FPDF_PAGEOBJ_TEXT]
    pictures = [item for item in objects if item.type == pdfium.FPDF_PAGEOBJ_IMAGE]
    is_scan = any(_area(item) >= _SCAN_SHARE * width * height for item in pictures)
    is_bare = len(texts) == len(objects)  # nothing below the text
    for item in texts:
        mode = pdfium.FPDFTextObj_GetTextRenderMode(item.raw)
        if (mode == _WITHOUT_COLOUR and not is_scan) or (is_bare and _is_white(item)) or _is_out(item, page):
            yield _address(item.raw)


def _is_white(item: Any) -> bool:
    from pypdfium2 import raw as pdfium

    colours = [ctypes.c_uint() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetFillColor(item.raw, *colours):
        return False
    *shades, opacity = (colour.value for colour in colours)
    return all(shade >= _WHITE for shade in shades) or opacity == 0


def _is_out(item: Any, page: Any) -> bool:
    """Return whether a text is tiny or off the page. Texts within a form have places of their own: they are not."""
    from pypdfium2 import raw as pdfium

    if item.level > 0:
        return False
    size = ctypes.c_float()
    pdfium.FPDFTextObj_GetFontSize(item.raw, size)
    _, _, c, d, _, _ = item.get_matrix().get()
    if 0 < size.value * (c * c + d * d) ** 0.5 < _TINY:
        return True
    left, bottom, right, top = item.get_bounds()
    low_x, low_y, high_x, high_y = page.get_cropbox()
    return right > left and bool(right < low_x or left > high_x or top < low_y or bottom > high_y)


def _area(item: Any) -> float:
    left, bottom, right, top = item.get_bounds()
    return float((right - left) * (top - bottom))


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
