"""Writes the sample library's PDF from season-2025.txt: `python docs/sample-report/make_pdf.py`.

A page layout of a few lines instead of a library: three pages of Helvetica with a real text layer and a table whose
cells are placed one by one, as word processors do it. The same text always gives the same bytes.
"""

import textwrap
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE / "season-2025.txt"
TARGET = HERE.parent.parent / "bot/sample_library/documents/reports/season-2025.pdf"

PAGE_WIDTH, PAGE_HEIGHT = 595, 842  # points: A4
LEFT, TOP = 64, 770  # points from the lower left corner
LINE_CHARACTERS = 88  # of body text in one line
COLUMNS = (LEFT, 250, 350, 450)  # points: where the cells of a table begin
STYLES = {"# ": ("F2", 22, 34), "## ": ("F2", 14, 24), "": ("F1", 10.5, 15)}  # prefix: font, size, line height


def build_pdf(text: str) -> bytes:
    """A PDF with one page for each part of `text` between lines of `===`."""
    streams = [b"\n".join(_page_lines(part.strip())) for part in text.split("===\n")]
    kids = " ".join(f"{5 + 2 * index} 0 R" for index in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode(),
        _font("Helvetica"),
        _font("Helvetica-Bold"),
    ]
    for index, stream in enumerate(streams):
        objects += [_page(content=6 + 2 * index), b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)]
    objects.append(b"<< /Title (The season of 2025) /Author (Tern Islands Ferry Cooperative) >>")
    return _assemble(objects)


def _page_lines(part: str) -> Iterator[bytes]:
    y = float(TOP)
    for block in part.split("\n\n"):
        for line in _wrapped(block):
            prefix = next(mark for mark in STYLES if line.startswith(mark))
            font, size, height = STYLES[prefix]
            for x, cell in _cells(line.removeprefix(prefix)):
                yield b"BT /%s %.1f Tf %d %.1f Td (%s) Tj ET" % (font.encode(), size, x, y, _escaped(cell))
            y -= height
        y -= 9  # points between two paragraphs


def _wrapped(block: str) -> list[str]:
    if block.startswith(("#", "|")):
        return block.splitlines()
    return textwrap.wrap(" ".join(block.split()), LINE_CHARACTERS, break_on_hyphens=False)


def _cells(line: str) -> list[tuple[int, str]]:
    if not line.startswith("|"):
        return [(LEFT, line)]
    return list(zip(COLUMNS, (cell.strip() for cell in line.strip("|").split("|")), strict=False))


def _escaped(text: str) -> bytes:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("cp1252")


def _font(name: str) -> bytes:
    return f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode()


def _page(content: int) -> bytes:
    return (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PAGE_WIDTH} {PAGE_HEIGHT}] /Contents {content} 0 R "
        "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
    ).encode()


def _assemble(objects: list[bytes]) -> bytes:
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, size - 1, len(body))
    )


if __name__ == "__main__":
    TARGET.write_bytes(build_pdf(SOURCE.read_text(encoding="utf-8")))
