"""Pictures of PDF pages: bounded in pixels, memory and time, and empty where there is nothing to draw."""

import io
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image

from bot.webchat import pdf_child, pictures
from bot.webchat.pictures import Pictures
from core.errors import NotFound
from core.ingestion.files import SourceFile, stamp_of
from tests.builders import build_document, build_pages, build_source


def a_pdf(folder: Path, *sizes: tuple[float, float]) -> Path:
    document = pypdfium2.PdfDocument.new()
    for size in sizes:
        document.new_page(*size)
    document.save(folder / "a.pdf")
    return folder / "a.pdf"


@pytest.mark.parametrize(
    ("size", "pixels"),
    [((600, 800), (1200, 1600)), ((100, 50), (1200, 600)), ((700, 7_000), (775, 7_746)), ((10, 14_000), (12, 16_000))],
)
def test_a_picture_is_as_wide_as_a_screen_unless_that_were_too_much(
    tmp_path: Path, size: tuple[float, float], pixels: tuple[int, int]
) -> None:
    drawn = Image.open(io.BytesIO(pdf_child.draw(str(a_pdf(tmp_path, size)), 1)))

    assert drawn.size == pytest.approx(pixels, abs=1)
    assert drawn.format == "WEBP"


@pytest.mark.parametrize("number", [0, -1, 2])
def test_a_page_that_is_not_there_is_no_picture(tmp_path: Path, number: int) -> None:
    assert pdf_child.draw(str(a_pdf(tmp_path, (100, 100))), number) == b""


def test_a_broken_file_is_no_picture(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 and no more")

    assert pdf_child.draw(str(tmp_path / "a.pdf"), 1) == b""


async def test_a_page_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "SECONDS", 0.001)

    with pytest.raises(NotFound, match="can't be shown as a picture"):
        await pictures._draw(a_pdf(tmp_path, (100, 100)), 1)


async def test_only_the_pictures_last_seen_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    async def draw(file: Path, number: int) -> bytes:
        drawn.append(number)
        return b"x" * 40

    monkeypatch.setattr(pictures, "_draw", draw)
    monkeypatch.setattr(pictures, "KEPT_BYTES", 100)
    status = a_pdf(tmp_path, (100, 100)).stat()
    stamp = stamp_of(SourceFile(path="a.pdf", size=status.st_size, modified_ns=status.st_mtime_ns), tmp_path, ())
    document = build_document("a.pdf", kind="pdf", stamp=stamp)
    shown, source = Pictures(), build_source(location=str(tmp_path))
    pages = build_pages(document, "1", "2", "3")
    for place in (0, 1, 0, 2, 0, 1):
        await shown.of_page(source, document, pages[place])

    assert drawn == [1, 2, 3, 2]
