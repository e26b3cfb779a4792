"""Scans read by the engine itself, in the child process with its limits."""

import io
import json
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path

import pypdfium2
import pytest

from core.domain.passages import PageBox, Span
from core.domain.read_limits import ReadLimits
from storage.documents.child import ReadDocument, ReadTask
from storage.documents.page_images.boxes import boxes_of_words, find_boxes
from storage.documents.page_images.pages import WORDS, _run_child
from storage.documents.pdf.recognition import is_installed
from storage.documents.sandbox import RECOGNISING_READERS, Sandbox
from tests.unit.storage.documents.pdf_files import Piece, build_pdf

pytestmark = [
    pytest.mark.skipif(not is_installed(), reason="needs the extra ocr: pip install 'footnote[ocr]'"),
    pytest.mark.slow,
]
DPI = 150
MINUTES = [
    "Minutes of the harbour board", "Held on 14 March 2031 at Linden Quay.",
    "The ferry to Aldmere sails at 07:15 from pier 3.", "Fares rise to 4.50 a crossing in May.",
]  # fmt: skip
FARES = [("Harbour", "Crossings", "Fare"), ("Linden", "412", "4.50"), ("Voss", "96", "12.80")]


def page(lines: Sequence[str]) -> list[Piece]:
    return [(60, 700 - 30 * place, text) for place, text in enumerate(lines)]


def scan(pages: Sequence[tuple[Sequence[Piece], float]]) -> bytes:
    """The pages as pictures of half their size, grey and a little blurred, each turned by degrees as on a scanner."""
    printed = pypdfium2.PdfDocument(build_pdf([pieces for pieces, _ in pages]))
    pictures = [
        page.render(scale=DPI / 72).to_pil().convert("L").rotate(turn, expand=True, fillcolor=255)
        for page, (_, turn) in zip(printed, pages, strict=True)
    ]
    written = io.BytesIO()
    pictures[0].save(written, "PDF", resolution=2 * DPI, save_all=True, append_images=pictures[1:])
    return written.getvalue()


async def test_boxes_on_a_scan_are_where_its_words_were_printed(tmp_path: Path) -> None:
    """A sheet that lies on its side, so that its right edge is its top."""
    printed, file = tmp_path / "printed.pdf", tmp_path / "scan.pdf"
    printed.write_bytes(build_pdf([page(MINUTES)]))
    file.write_bytes(scan([(page(MINUTES), 90)]))
    text = "\n".join(MINUTES)
    start = text.index("sails at 07:15")
    span = Span(start, text.index(" in May"))
    words = json.loads(await _run_child(str(file), "1", WORDS))
    boxes = boxes_of_words([(word, PageBox(*box)) for word, *box in words], text, span)

    for box, upright in zip(boxes, find_boxes(str(printed), 1, text, span), strict=True):
        turned = (upright.top, 1 - upright.right, upright.height, upright.width)
        assert (box.left, box.top, box.width, box.height) == pytest.approx(turned, abs=0.015)


async def test_scanned_pages_are_read_letter_by_letter_however_they_lie(tmp_path: Path) -> None:
    cells = [
        (60 + 180 * place, 700 - 24 * number, cell)
        for number, row in enumerate(FARES)
        for place, cell in enumerate(row)
    ]
    path = tmp_path / "scan.pdf"
    path.write_bytes(scan([(page(MINUTES), 1.5), ([], 0), (page(MINUTES), 90), (cells, 0)]))
    sandbox = Sandbox(ReadLimits(), RECOGNISING_READERS)
    try:
        document = await sandbox.read(ReadTask(path=path, root=tmp_path, workspace="local", document_id="d"))
    finally:
        await sandbox.close()

    assert isinstance(document, ReadDocument), document
    texts = {page.number: page.text for page in document.pages}
    assert list(texts) == [1, 3, 4]  # the second is blank
    for number in (1, 3):
        text = " ".join(texts[number].split())
        assert SequenceMatcher(None, text, " ".join(MINUTES), autojunk=False).ratio() > 0.98, number
    assert [tuple(line.split("\t")) for line in texts[4].split("\n") if line] == FARES
    assert all(passage.span.of(texts[passage.page_number]) == passage.text for passage in document.passages)
    assert document.warnings[0] == "read from pictures (OCR), letters may be wrong: pages 1, 3, 4"
