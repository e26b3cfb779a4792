"""Pages of a PDF that are pictures: which they are, and their text by recognition."""

from contextlib import closing
from typing import Any

from storage.documents.pdf.recognition import Recogniser, read_upright
from storage.documents.pdf.scan_order import to_page_text

# Dots an inch at which a page is drawn: more hardly reads better. Pixels of its longer side at most: the engine makes
# no use of more.
DPI = 200
LONGEST = 2_000
# Share of a page that a picture covers when the page is one.
MIN_COVERED = 0.5
# Characters of a page's text layer from which on it is no scan with a stamp on it.
MAX_STAMP = 200
# How many times as many characters recognition has to find to be taken instead of such a stamp.
_MUCH_MORE = 3


def may_be_scanned(document: Any, index: int, text: str) -> bool:
    """Whether a page may show more than its text layer holds: a picture over most of it, or anything but text."""
    import pypdfium2

    if len(text) >= MAX_STAMP:
        return False
    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return False
    with closing(page):
        width, height = page.get_size()
        for item in page.get_objects(max_depth=3):
            if item.type == pypdfium2.raw.FPDF_PAGEOBJ_PATH and not text:
                return True  # letters may be drawn as lines
            if item.type == pypdfium2.raw.FPDF_PAGEOBJ_IMAGE:
                left, bottom, right, top = item.get_bounds()
                covered = (min(right, width) - max(left, 0)) * (min(top, height) - max(bottom, 0))
                if not text or covered >= width * height * MIN_COVERED:
                    return True
    return False


def recognise(document: Any, index: int, text: str, recogniser: Recogniser) -> str:
    """The text of the page's picture; `text`, what its text layer holds, where that is not much less."""
    picture = _draw(document, index)
    if picture is None:
        return text
    found = to_page_text(read_upright(picture, recogniser))
    return found if len(found) > len(text) * _MUCH_MORE else text


def _draw(document: Any, index: int) -> Any:
    """The page as a picture; None where it can't be drawn."""
    import pypdfium2

    try:
        with closing(document[index]) as page:
            longer = max(page.get_size())
            if longer <= 0:
                return None
            return page.render(scale=min(DPI / 72, LONGEST / longer)).to_pil()
    except pypdfium2.PdfiumError:
        return None
