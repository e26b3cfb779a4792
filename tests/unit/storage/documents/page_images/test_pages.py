"""Pictures of PDF pages: bounded in pixels, memory and time, and empty where there is nothing to draw."""

import asyncio
import io
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image

from bot.web.pages.source import THUMBNAIL_WIDTH, WIDTH
from core.domain.corpus import Document, Page, Source
from core.domain.passages import PageBox, Span
from core.errors import NotFound
from storage.documents.files import SourceFile, stamp_of
from storage.documents.page_images import child
from storage.documents.page_images import pages as pictures
from storage.documents.page_images.pages import Pictures
from tests.builders import build_document, build_pages, build_source
from tests.unit.storage.documents.form_files import Filled, build_form


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
    drawn = Image.open(io.BytesIO(child.draw(str(a_pdf(tmp_path, size)), 1, WIDTH)))

    assert drawn.size == pytest.approx(pixels, abs=1)
    assert drawn.format == "WEBP"


@pytest.mark.parametrize("number", [0, -1, 2])
def test_a_page_that_is_not_there_is_no_picture(tmp_path: Path, number: int) -> None:
    assert child.draw(str(a_pdf(tmp_path, (100, 100))), number, WIDTH) == b""


def test_a_broken_file_is_no_picture(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 and no more")

    assert child.draw(str(tmp_path / "a.pdf"), 1, WIDTH) == b""


async def test_a_page_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "SECONDS", 0.001)

    with pytest.raises(NotFound, match="can't be shown as a picture"):
        await pictures._draw(a_pdf(tmp_path, (100, 100)), 1, WIDTH)


def test_a_thumbnail_is_small(tmp_path: Path) -> None:
    drawn = child.draw(str(a_pdf(tmp_path, (600, 800))), 1, THUMBNAIL_WIDTH)

    assert Image.open(io.BytesIO(drawn)).size == (160, 214)
    assert len(drawn) < 5_000


@dataclass
class Shown:
    """Pictures of one PDF's three pages; drawing one is noted, and takes as long as a test wants."""

    source: Source
    document: Document
    pictures: Pictures = field(default_factory=Pictures)
    drawn: list[tuple[int, int]] = field(default_factory=list)  # (page, width)
    broken: bool = False
    at: float = 0.0  # the monotonic clock

    async def draw(self, file: Path, number: int, width: int) -> bytes:
        self.drawn.append((number, width))
        await asyncio.sleep(0)
        if self.broken:
            raise NotFound("broken")
        return b"x" * 40

    async def page(self, number: int, width: int = WIDTH) -> bytes:
        pages = build_pages(self.document, "1", "2", "3")
        return await self.pictures.of_page(self.source, self.document, pages[number - 1], width)


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    status = a_pdf(tmp_path, (100, 100)).stat()
    stamp = stamp_of(SourceFile(path="a.pdf", size=status.st_size, modified_ns=status.st_mtime_ns), tmp_path, ())
    made = Shown(build_source(location=str(tmp_path)), build_document("a.pdf", kind="pdf", stamp=stamp))
    monkeypatch.setattr(pictures, "_draw", made.draw)
    monkeypatch.setattr(pictures, "monotonic", lambda: made.at)
    return made


async def test_only_the_pictures_last_seen_are_kept(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "KEPT_BYTES", 100)
    for number in (1, 2, 1, 3, 1, 2):
        await shown.page(number)

    assert shown.drawn == [(1, WIDTH), (2, WIDTH), (3, WIDTH), (2, WIDTH)]


async def test_a_page_and_its_thumbnail_are_two_pictures(shown: Shown) -> None:
    for width in (WIDTH, THUMBNAIL_WIDTH, WIDTH, THUMBNAIL_WIDTH):
        await shown.page(1, width)

    assert shown.drawn == [(1, WIDTH), (1, THUMBNAIL_WIDTH)]


async def test_many_who_ask_at_once_wait_for_one_drawing(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    shown.pictures._room = asyncio.Semaphore(1)
    found = await asyncio.gather(*(shown.page(1) for _ in range(5)))

    assert found == [b"x" * 40] * 5
    assert shown.drawn == [(1, WIDTH)]


async def test_what_failed_is_tried_again_after_a_while_not_at_once(shown: Shown) -> None:
    shown.broken = True
    for _ in range(2):
        with pytest.raises(NotFound):
            await shown.page(1)
    shown.at, shown.broken = pictures.FAILED_SECONDS + 1, False

    assert await shown.page(1) == b"x" * 40
    assert len(shown.drawn) == 2


def test_a_picture_shows_what_is_filled_in(tmp_path: Path) -> None:
    dark = []
    for value in ("", "Ann"):
        (tmp_path / "form.pdf").write_bytes(build_form([], [Filled((50, 600, 400, 700), value)]))
        drawn = Image.open(io.BytesIO(child.draw(str(tmp_path / "form.pdf"), 1, WIDTH)))
        dark.append(sum(drawn.convert("L").histogram()[:128]))
    assert dark[0] == 0
    assert dark[1] > 100


async def test_places_of_a_quote_are_found_once_and_kept(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Span] = []

    async def find(file: Path, page: Page, span: Span) -> tuple[PageBox, ...]:
        asked.append(span)
        await asyncio.sleep(0)
        return (PageBox(0.1, 0.2, 0.3, 0.4),)

    monkeypatch.setattr(pictures, "_find_boxes", find)
    monkeypatch.setattr(pictures, "KEPT_BOXES", 1)
    (page,) = build_pages(shown.document, "one two")
    for span in (Span(0, 3), Span(0, 3), Span(4, 7), Span(0, 3)):
        assert await shown.pictures.boxes_of(shown.source, shown.document, page, span) == (PageBox(0.1, 0.2, 0.3, 0.4),)

    assert asked == [Span(0, 3), Span(4, 7), Span(0, 3)]


async def test_a_child_that_fails_finds_no_places(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "SECONDS", 0.001)
    (page,) = build_pages(shown.document, "one two")

    assert await shown.pictures.boxes_of(shown.source, shown.document, page, Span(0, 3)) == ()


async def test_a_changed_file_has_no_places(shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7 another one")
    (page,) = build_pages(shown.document, "one two")

    with pytest.raises(NotFound, match="has changed"):
        await shown.pictures.boxes_of(shown.source, shown.document, page, Span(0, 3))


async def test_a_scanned_page_is_read_once_for_all_its_quotes(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = PageBox(0.1, 0.2, 0.1, 0.02), PageBox(0.1, 0.6, 0.1, 0.02)
    read: list[int] = []

    async def find(file: Path, page: Page) -> tuple[tuple[str, PageBox], ...]:
        read.append(page.number)
        await asyncio.sleep(0)
        return ("one", one), ("two", two)

    monkeypatch.setattr(pictures, "_find_words", find)
    monkeypatch.setattr(pictures, "KEPT_PAGES", 1)
    shown.pictures.has_ocr = True
    first, other = build_pages(shown.document, "one two", "two one")
    for page, span, box in ((first, Span(0, 3), one), (first, Span(4, 7), two), (other, Span(0, 3), two)):
        places = [shown.pictures.boxes_on_scan(shown.source, shown.document, page, span) for _ in range(2)]
        assert await asyncio.gather(*places) == [(box,), (box,)]

    assert read == [1, 2]


async def test_without_text_recognition_a_scanned_page_has_no_places(shown: Shown) -> None:
    (page,) = build_pages(shown.document, "one two")

    assert await shown.pictures.boxes_on_scan(shown.source, shown.document, page, Span(0, 3)) == ()


async def test_a_child_that_fails_finds_no_words(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "SECONDS", 0.001)
    shown.pictures.has_ocr = True
    (page,) = build_pages(shown.document, "one two")

    assert await shown.pictures.boxes_on_scan(shown.source, shown.document, page, Span(0, 3)) == ()
