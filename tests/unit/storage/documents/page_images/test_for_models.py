"""Pictures of pages for models: real files, drawn in the child process."""

import io
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image

from core.domain.chat import PagePart
from core.errors import NotFound
from storage.documents.files import SourceFile, stamp_of
from storage.documents.page_images.pages import PdfPictures
from tests.builders import build_document, build_pages, build_source
from tests.stores import Stores

RED, BLUE = (200, 20, 20), (20, 20, 200)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    document = pypdfium2.PdfDocument.new()
    for size in ((600, 800), (400, 9_000)):
        document.new_page(*size)
    document.save(tmp_path / "plan.pdf")
    return tmp_path / "plan.pdf"


def change(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"changed")


def remove(file: Path) -> None:
    file.unlink()


async def pictures(file: Path) -> PdfPictures:
    corpus = Stores().corpus
    await corpus.save_source(build_source(location=str(file.parent)))
    return PdfPictures(corpus)


def document_of(file: Path, **fields: object):
    status = file.stat()
    stamp = stamp_of(SourceFile(path=file.name, size=status.st_size, modified_ns=status.st_mtime_ns), file.parent, ())
    return build_document(file.name, kind="pdf", title="Plan", stamp=stamp, **fields)


@pytest.mark.parametrize(("number", "size"), [(1, (1_176, 1_568)), (2, (70, 1_568))])
async def test_a_page_is_a_jpeg_of_the_size_that_models_look_at(file: Path, number: int, size: tuple[int, int]) -> None:
    document = document_of(file)
    image = await (await pictures(file)).picture_of(document, build_pages(document, "1", "2")[number - 1])
    drawn = Image.open(io.BytesIO(image.data))
    assert (drawn.format, image.media_type, image.label) == ("JPEG", "image/jpeg", f'"Plan", page {number}')
    assert drawn.size == pytest.approx(size, abs=1)


@pytest.mark.parametrize(
    ("part", "size", "colour"),
    [
        (PagePart.TOP, (1_568, 1_045), RED),
        (PagePart.BOTTOM, (1_568, 1_045), BLUE),
        (PagePart.LEFT, (588, 1_568), RED),
        (PagePart.RIGHT, (588, 1_568), RED),
    ],
)
async def test_half_a_page_is_drawn_larger(
    tmp_path: Path, part: PagePart, size: tuple[int, int], colour: tuple[int, int, int]
) -> None:
    page = Image.new("RGB", (600, 800), RED)
    page.paste(BLUE, (0, 400, 600, 800))
    page.save(tmp_path / "flag.pdf")
    document = document_of(tmp_path / "flag.pdf")
    image = await (await pictures(tmp_path / "flag.pdf")).picture_of(document, build_pages(document, "1")[0], part)
    drawn = Image.open(io.BytesIO(image.data))
    assert image.label == f'"Plan", page 1, {part}'
    assert drawn.size == pytest.approx(size, abs=1)
    assert drawn.getpixel((size[0] // 2, 20)) == pytest.approx(colour, abs=12)


async def test_where_there_is_no_picture_the_reason_is_told(file: Path) -> None:
    album, document = await pictures(file), document_of(file)
    (page,) = build_pages(document, "1")
    note = build_document("plan.md")
    with pytest.raises(NotFound, match="Only pages of PDFs"):
        await album.picture_of(note, build_pages(note, "1")[0])
    change(file)
    with pytest.raises(NotFound, match="has changed since it was read"):
        await album.picture_of(document, page)
    remove(file)
    with pytest.raises(NotFound, match="is not where it was"):
        await album.picture_of(document, page)
