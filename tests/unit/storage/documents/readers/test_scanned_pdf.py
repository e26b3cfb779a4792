"""Scanned pages, with a recogniser that sees what it is told to."""

import io
from collections.abc import Callable
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image

from core.domain.corpus import ParsedDocument
from core.errors import ReadError
from storage.documents.deadline import deadline_handler
from storage.documents.pdf.recognition import UNRECOGNISED, Seen
from storage.documents.readers.pdf import PdfReader
from tests.unit.storage.documents.pdf.test_recognition import seen
from tests.unit.storage.documents.pdf_files import build_pdf

TEXT = (50, 700, "The ferry sails at seven.")


class Teller:
    """Sees these lines, a picture at a time."""

    def __init__(self, *pictures: list[Seen]) -> None:
        self.pictures = list(pictures)
        self.sizes: list[tuple[int, int]] = []

    def read(self, picture: Image.Image) -> list[Seen]:
        self.sizes.append(picture.size)
        return self.pictures.pop(0)


class Faulty(Teller):
    """Fails at some pictures, by their sizes or places."""

    def __init__(self, fails: Callable[[Image.Image, int], Exception | None]) -> None:
        super().__init__()
        self._fails = fails

    def read(self, picture: Image.Image) -> list[Seen]:
        self.sizes.append(picture.size)
        if (error := self._fails(picture, len(self.sizes))) is not None:
            raise error
        return [seen("Votes", 10, 20, 60, 10)]


def scan(pages: int, size: tuple[int, int] = (300, 400)) -> bytes:
    """A PDF of white pictures, at 72 dots an inch."""
    first, *others = [Image.new("L", size, 255) for _ in range(pages)]
    written = io.BytesIO()
    first.save(written, "PDF", save_all=True, append_images=others)
    return written.getvalue()


def join(*files: bytes) -> bytes:
    whole = pypdfium2.PdfDocument.new()
    for file in files:
        whole.import_pages(pypdfium2.PdfDocument(file))
    written = io.BytesIO()
    whole.save(written)
    return written.getvalue()


def read(path: Path, data: bytes, teller: Teller | None) -> ParsedDocument:
    file = path / "minutes.pdf"
    file.write_bytes(data)
    return PdfReader(teller).read(file, path)


def test_the_text_of_pictures_stands_under_the_numbers_of_their_pages(tmp_path: Path) -> None:
    teller = Teller(
        [seen("Agenda", 10, 20, 60, 10), seen("Ferries", 10, 50, 60, 10)], [], [seen("Votes", 10, 20, 60, 10)]
    )
    document = read(tmp_path, join(scan(1), build_pdf([[TEXT]]), scan(2)), teller)
    assert [(page.number, page.text) for page in document.pages] == [
        (1, "Agenda\n\nFerries"), (2, "The ferry sails at seven."), (4, "Votes"),
    ]  # fmt: skip
    assert document.warnings == (
        "read from pictures (OCR), letters may be wrong: pages 1, 4",
        "no text on page 3: scanned or blank",
    )


def test_a_scan_in_which_nothing_is_seen_says_so(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="scanned: no words were recognised on its pages"):
        read(tmp_path, scan(1), Teller([]))


def test_without_a_recogniser_the_refusal_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ReadError) as refusal:
        read(tmp_path, scan(1), None)
    assert str(refusal.value) == UNRECOGNISED
    assert "pip install 'footnote[ocr]'" in UNRECOGNISED


def test_pages_of_text_are_not_drawn(tmp_path: Path) -> None:
    teller = Teller()
    assert read(tmp_path, build_pdf([[TEXT], []]), teller).pages[0].text == "The ferry sails at seven."
    assert teller.sizes == []


def stamped(text: str) -> bytes:
    """A page with a picture all over it, and some text in its text layer."""
    document = pypdfium2.PdfDocument(build_pdf([[(20, 20, text)]]))
    picture = pypdfium2.PdfImage.new(document)
    picture.set_bitmap(pypdfium2.PdfBitmap.from_pil(Image.new("L", (60, 80), 255)))
    picture.set_matrix(pypdfium2.PdfMatrix().scale(600, 800))
    page = document[0]
    page.insert_obj(picture)
    page.gen_content()
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


@pytest.mark.parametrize(
    ("sees", "expected"),
    [
        ("Minutes of the harbour board, held in March", "Minutes of the harbour board, held in March"),
        ("Bates 17.", "Bates 17"),
    ],
)
def test_a_stamp_on_a_scan_gives_way_to_what_is_seen_when_that_is_much_more(
    sees: str, expected: str, tmp_path: Path
) -> None:
    document = read(tmp_path, stamped("Bates 17"), Teller([seen(sees, 10, 20, 200, 10)]))
    assert document.pages[0].text == expected


def test_pages_are_drawn_sharp_and_never_larger_than_the_engine_uses(tmp_path: Path) -> None:
    line = seen("Words of it", 10, 20, 60, 10)
    small, large = Teller([line]), Teller([line])
    read(tmp_path, scan(1, (288, 360)), small)
    read(tmp_path, scan(1, (2880, 14_400)), large)
    assert small.sizes == [(800, 1000)]
    assert large.sizes == [(400, 2000)]


def test_no_more_pages_are_recognised_than_there_is_time_for(tmp_path: Path) -> None:
    left = [True, True, False]
    teller = Teller([seen("One of them", 10, 20, 60, 10)], [seen("Another", 10, 20, 60, 10)])
    with deadline_handler(lambda: left.pop(0)):
        document = read(tmp_path, scan(4), teller)
    assert [page.number for page in document.pages] == [1, 2]
    assert document.warnings[1] == "no text on pages 3, 4: scanned or blank"


def test_a_page_that_the_recogniser_fails_at_keeps_what_text_it_has(tmp_path: Path) -> None:
    stamp = (50, 700, "RECEIVED")
    faulty = Faulty(lambda picture, number: ValueError("min() of nothing") if number == 1 else None)

    document = read(tmp_path, join(scan(1), scan(1), build_pdf([[TEXT, stamp]])), faulty)

    assert [page.number for page in document.pages] == [2, 3]
    assert "page 1 is not recognised: its reader failed (ValueError: min() of nothing)" in document.warnings


def test_a_picture_that_takes_too_much_memory_is_drawn_smaller(tmp_path: Path) -> None:
    short = RuntimeError("std::bad_alloc")
    faulty = Faulty(lambda picture, number: short if max(picture.size) > 1_100 else None)

    document = read(tmp_path, scan(1, (900, 1_200)), faulty)

    assert [page.text for page in document.pages] == ["Votes"]
    assert [max(size) for size in faulty.sizes][:2] == [2_000, 1_400]


def test_a_lack_of_memory_is_named_with_its_setting_and_the_rest_is_kept(tmp_path: Path) -> None:
    faulty = Faulty(lambda picture, number: MemoryError())

    document = read(tmp_path, join(build_pdf([[TEXT]]), scan(2)), faulty)

    assert [page.text for page in document.pages] == [TEXT[2]]
    assert any("pages from 2 on" in warning and "parse_memory_mb" in warning for warning in document.warnings)
    with pytest.raises(ReadError, match="parse_memory_mb"):
        read(tmp_path, scan(1), faulty)
