"""Small PDFs written by hand: text and lines at places of a page, an outline, and nothing else."""

from collections.abc import Collection, Sequence

# (x, y, text) in points from the page's lower left corner.
Piece = tuple[float, float, str]
# From (x, y) to (x, y), on every page.
Stroke = tuple[float, float, float, float]
LARGE = "1.5 0 0 1.5"


def build_pdf(
    pages: Sequence[Sequence[Piece]],
    outline: Sequence[tuple[str, int]] = (),
    title: str = "",
    labels: str = "",
    strokes: Sequence[Stroke] = (),
    rotation: int = 0,
    direction: str = "1 0 0 1",
    large: Collection[str] = (),
) -> bytes:
    """A PDF with one page for each list of pieces; `outline` has (title, page index).

    `labels` is the inside of the page labels' number tree: "0 << /S /r >> 2 << /S /D >>" counts i, ii, 1, 2.
    `rotation` is how far every page is shown turned clockwise, in degrees; `direction` the
    matrix by which its letters are turned: "0 1 -1 0" runs upwards. `large` texts are half as large again.
    """
    objects: list[bytes] = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    numbers = []
    for pieces in pages:
        drawn = b"".join(b"%d %d m %d %d l S\n" % stroke for stroke in strokes)
        content = drawn + b"".join(
            _to_text(piece, (LARGE if piece[2] in large else direction).encode()) for piece in pieces
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Rotate %d /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (rotation, len(objects))
        )
        numbers.append(len(objects))
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(numbers))
    root = len(objects) + 1
    numbered = b"/PageLabels << /Nums [%s] >>" % labels.encode() if labels else b""
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R /Outlines %d 0 R %s >>" % (root, numbered)
    first = root + 1
    last = root + len(outline)
    objects.append(b"<< /First %d 0 R /Last %d 0 R /Count %d >>" % (first, last, len(outline)) if outline else b"<< >>")
    for place, (name, index) in enumerate(outline):
        following = b"/Next %d 0 R" % (first + place + 1) if place + 1 < len(outline) else b""
        entry = (name.encode(), root, numbers[index], following)
        objects.append(b"<< /Title (%s) /Parent %d 0 R /Dest [%d 0 R /Fit] %s >>" % entry)
    objects.append(b"<< /Title (%s) >>" % title.encode())
    return _to_file(objects)


def _to_text(piece: Piece, direction: bytes) -> bytes:
    x, y, text = piece
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("latin-1")
    return b"BT /F1 12 Tf %s %g %g Tm (%s) Tj ET\n" % (direction, x, y, escaped)


def _to_file(objects: Sequence[bytes]) -> bytes:
    data = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return data + b"trailer << /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        len(objects),
        start,
    )
