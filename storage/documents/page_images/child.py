"""Draws one page of a PDF, or finds words on it, in a child process with limits.

`python -m storage.documents.page_images.child FILE NUMBER WIDTH [HEIGHT KIND PART]` prints a picture as WebP or KIND
(JPEG), of the page or the half PART. It exits with 1 if the page doesn't exist or can't be drawn. With WIDTH 0, it
reads `[text, start, end]` from its input, and prints the boxes of that part of the page's text:
`[[left, top, width, height], ...]`. With WIDTH -1, it prints the recognised words of a scanned page:
`[[word, left, top, width, height], ...]`.
"""

import io
import json
import sys
from dataclasses import astuple

from core.domain.chat import PagePart
from core.domain.passages import Span
from storage.documents.jail import enter_jail
from storage.documents.page_images.boxes import find_boxes, find_words
from storage.documents.pdf.form_fields import open_forms
from storage.documents.pdf.recognition import RapidOcr

MOST_PIXELS = 6_000_000  # of a picture: a page may be a hundred times as high as it is wide
LONGEST = 16_000  # pixels of a side: WebP holds 16,383
MEMORY_BYTES = 2 * 1024**3
CPU_SECONDS = 20
RECOGNITION_SECONDS = 90  # of processor time, too: a page turned sideways is read three times, 6 s each
# Shares of a page's sides that a picture leaves out: left, bottom, right, top.
_LEFT_OUT = {
    PagePart.WHOLE: (0.0, 0.0, 0.0, 0.0),
    PagePart.TOP: (0.0, 0.5, 0.0, 0.0),
    PagePart.BOTTOM: (0.0, 0.0, 0.0, 0.5),
    PagePart.LEFT: (0.0, 0.0, 0.5, 0.0),
    PagePart.RIGHT: (0.5, 0.0, 0.0, 0.0),
}
_QUALITY = 72  # of 100: letters stay sharp, a page takes some 80 KB


def main(
    path: str, number: int, width: int, height: int = LONGEST, kind: str = "WEBP", part: PagePart = PagePart.WHOLE
) -> int:
    """Draw page `number`, from 1, or print boxes; gives the exit code."""
    _limit(RECOGNITION_SECONDS if width < 0 else CPU_SECONDS)
    enter_jail()
    if width < 0:
        words = find_words(path, number, RapidOcr(has_words=True))
        print(json.dumps([(word, *astuple(box)) for word, box in words]))  # noqa: T201
        return 0
    if not width:
        text, start, end = json.load(sys.stdin)
        found = find_boxes(path, number, text, Span(start, end))
        print(json.dumps([astuple(box) for box in found]))  # noqa: T201
        return 0
    picture = draw(path, number, width, height, kind, part)
    sys.stdout.buffer.write(picture)
    return 0 if picture else 1


def draw(
    path: str, number: int, width: int, height: int = LONGEST, kind: str = "WEBP", part: PagePart = PagePart.WHOLE
) -> bytes:
    """Return the picture, at most so many pixels wide and high; b"" if the page can't be drawn."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
        open_forms(document)
        if not 1 <= number <= len(document):
            return b""
        page = document[number - 1]
        page_width, page_height = page.get_size()
        if page_width <= 0 or page_height <= 0:
            return b""
        left, bottom, right, top = _LEFT_OUT[part]
        left_out = (left * page_width, bottom * page_height, right * page_width, top * page_height)
        shown_width, shown_height = page_width * (1 - left - right), page_height * (1 - bottom - top)
        most = (MOST_PIXELS / (shown_width * shown_height)) ** 0.5
        scale = min(width / shown_width, height / shown_height, most)
        image = page.render(scale=scale, crop=left_out).to_pil()
    except pypdfium2.PdfiumError:
        return b""
    written = io.BytesIO()
    image.convert("RGB").save(written, kind, quality=_QUALITY)
    return written.getvalue()


def _limit(seconds: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the parent's deadline holds there, too
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


if __name__ == "__main__":
    file, number, width, *more = sys.argv[1:]
    sys.exit(main(file, int(number), int(width), *((int(more[0]), more[1], PagePart(more[2])) if more else ())))
