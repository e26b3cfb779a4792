"""The source as a fragment for the side pane: the same page, in the same scope, under the same signature."""

import asyncio
import html
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from core.domain.conversation import Role
from core.domain.corpus import Document, Heading, Page, SearchScope
from core.domain.incoming import ThreadAddress
from core.domain.passages import PageBox
from storage.documents.files import SourceFile, stamp_of
from storage.documents.page_images import pages as pictures
from storage.documents.page_images.pages import Pictures
from storage.documents.readers.pdf import PdfReader
from tests.builders import (
    NOON,
    build_citation,
    build_conversation,
    build_document,
    build_message,
    build_pages,
    build_source,
)
from tests.unit.bot.web.conftest import OpenBrowser, Shelves, read
from tests.unit.bot.web.test_pages import TEXTS, THREAD, address_of, cited_in, link_to, page_of, put

PANE = "?part=pane"
SAMPLES = Path(__file__).parents[4] / "bot" / "sample_library" / "documents"


@pytest.fixture
async def guide(shelves: Shelves) -> Document:
    return await put(shelves, build_document("guide.md", title="Guide"), *TEXTS)


async def test_the_pane_shows_the_passage_its_place_and_the_ways_on(
    browse: OpenBrowser, shelves: Shelves, guide: Document
) -> None:
    link = link_to(shelves, cited_in(guide))
    text = await read(await browse(), link + PANE)

    assert "<html" not in text and "<script" not in text and " style=" not in text
    assert '<h2 id="pane-title" tabindex="-1">Guide</h2>' in text
    assert "Note › Page 1" in text
    assert '<mark class="cited" id="cited">under the mat</mark>' in text
    assert "Unchanged since this answer" in text
    assert f'href="{link}#cited"' in text
    assert 'data-copy="under the mat"' in text
    assert f'data-copy-link="{link}#cited"' in text
    assert f'rel="next" href="{link}/2"' in text and 'rel="prev"' not in text


async def test_a_page_of_the_library_opens_in_the_pane_too(
    browse: OpenBrowser, shelves: Shelves, guide: Document
) -> None:
    address = address_of(await page_of(shelves, guide, 1), "?from=11&to=24")
    text = await read(await browse(), f"{address}&part=pane")

    assert '<mark class="cited" id="cited">under the mat</mark>' in text
    assert f'href="{unquote(address)}#cited"' in unquote(html.unescape(text))
    assert "since this answer" not in text, "it is of no answer"


async def test_a_changed_passage_says_when_and_shows_both(
    browse: OpenBrowser, shelves: Shelves, guide: Document
) -> None:
    citation = cited_in(guide, "The key is under the mat.")
    answer = build_message("a1", role=Role.ASSISTANT, citations=(citation,))
    await shelves.conversations.add(build_conversation(address=THREAD), [answer])
    await put(shelves, replace(guide, revision="r2", crawled_at=NOON), "The key is in the shed.")
    text = await read(await browse(), link_to(shelves, citation) + PANE)

    assert "Changed on 1 March 2026: show both" in text
    assert "The key is <del>under</del><ins>in</ins> the <del>mat</del><ins>shed</ins>." in text


async def test_a_passage_that_moved_is_unchanged_and_says_where_it_was(
    browse: OpenBrowser, shelves: Shelves, guide: Document
) -> None:
    citation = cited_in(guide)
    answer = build_message("a1", role=Role.ASSISTANT, citations=(citation,))
    await shelves.conversations.add(build_conversation(address=THREAD), [answer])
    await put(shelves, replace(guide, revision="r2"), "New.", "As ever, it is under the mat.")
    text = await read(await browse(), link_to(shelves, citation) + PANE)

    assert "Unchanged since this answer; it was on page 1" in text


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/s/forged", 403, "This link isn’t valid".replace("’", "&#39;")),
        ("/library/pages/nope", 404, "page"),
    ],
)
async def test_an_error_is_one_sentence_in_the_pane(
    browse: OpenBrowser, guide: Document, path: str, status: int, sentence: str
) -> None:
    text = await read(await browse(), path + PANE, status)

    assert 'data-pane=""' in text and "<html" not in text
    assert "This source can’t be opened" in text
    assert sentence in text


async def test_the_pane_shows_nothing_that_the_thread_may_not_read_now(
    browse: OpenBrowser, shelves: Shelves, guide: Document
) -> None:
    async def first_page_only(thread: ThreadAddress | None, reader: str | None = None) -> SearchScope:
        return replace(await shelves.scope(None), positions={guide.id: 1})

    browser = await browse(scope=first_page_only)
    first = await read(browser, link_to(shelves, cited_in(guide)) + PANE)
    second = await read(browser, link_to(shelves, cited_in(guide, "Marigold", 2)) + PANE, 404)

    assert "under the mat" in first
    assert "Marigold" not in first + second


STUDY = (
    "The\ncouncil has asked for a study of an electric boat to replace the Pelican; it is due in\nthe spring of 2027."
)


async def season(shelves: Shelves, folder: Path, *texts: str) -> tuple[Page, Path]:
    """A page of the sample library's PDF as the reader gives it, and its file; `texts` replace the reader's."""
    file = folder / "season.pdf"
    shutil.copy(SAMPLES / "reports" / "season-2025.pdf", file)
    texts = texts or tuple(page.text for page in PdfReader().read(file, folder).pages)
    return await shelve_pdf(shelves, file, texts), file


async def shelve_pdf(shelves: Shelves, file: Path, texts: Sequence[str]) -> Page:
    """Put a PDF with the texts of its pages into the library; return its last page."""
    status, folder = await asyncio.to_thread(file.stat), file.parent
    stamp = stamp_of(SourceFile(path=file.name, size=status.st_size, modified_ns=status.st_mtime_ns), folder, ())
    await shelves.corpus.save_source(build_source(location=str(folder)))
    document = build_document(file.name, kind="pdf", title="Season", stamp=stamp)
    pages = [replace(page, title="") for page in build_pages(document, *texts)]
    last = replace(pages[-1], headings=(Heading(level=1, title="Money", start=0),))
    await shelves.corpus.switch_revision(document, [*pages[:-1], last], [])
    return last


def marking(page: Page, quote: str) -> str:
    start = page.text.index(quote)
    return address_of(page, f"?from={start}&to={start + len(quote)}&part=pane")


async def test_a_pdf_shows_its_picture_with_a_box_on_each_line_of_the_quote(
    browse: OpenBrowser, shelves: Shelves, tmp_path: Path
) -> None:
    page, _ = await season(shelves, tmp_path)
    browser = await browse()
    shown = await read(browser, marking(page, STUDY))
    whole = await read(browser, marking(page, STUDY).removesuffix("&part=pane"))

    assert "PDF, page 3 of 3 › Money" in shown
    for text in (shown, whole):
        assert text.count("<rect ") == 3
        assert 'alt="Image of page 3 with the cited passage marked"' in text
        assert "is not known" not in text


async def test_beside_the_picture_stand_the_sentences_around_the_quote(
    browse: OpenBrowser, shelves: Shelves, tmp_path: Path
) -> None:
    page, _ = await season(shelves, tmp_path)
    shown = await read(await browse(), marking(page, STUDY))

    assert "a later boat from Skerrow. <mark" in shown
    assert "</mark> Nobody has yet dared to ask the Pelican." in shown
    assert "propeller" not in shown and "Signed for the council" not in shown


async def test_a_quote_without_a_place_on_the_picture_says_so(
    browse: OpenBrowser, shelves: Shelves, tmp_path: Path
) -> None:
    page, _ = await season(shelves, tmp_path, "Words that a recogniser saw elsewhere.")
    shown = await read(await browse(), marking(page, "recogniser saw"))

    assert "The text’s place on this page is not known." in shown
    assert "/picture" in shown and "<rect" not in shown


async def test_boxes_of_a_scanned_page_are_fetched_later(
    browse: OpenBrowser, shelves: Shelves, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find(file: Path, page: Page) -> tuple[tuple[str, PageBox], ...]:
        return ("recogniser", PageBox(0.1, 0.2, 0.3, 0.02)), ("saw", PageBox(0.1, 0.4, 0.1, 0.02))

    monkeypatch.setattr(pictures, "_find_words", find)
    page, _ = await season(shelves, tmp_path, "Words that a recogniser saw elsewhere.")
    browser = await browse(page_images=Pictures(has_ocr=True))
    address = marking(page, "recogniser saw")
    shown = await read(browser, address)
    later = html.unescape(shown.partition('data-later="')[2].partition('"')[0])
    boxes = await read(browser, later)

    assert "The text’s place on this page is not known." in shown
    assert boxes.count("<rect ") == 2 and 'x="10.000%" y="40.000%"' in boxes
    assert "<html" not in boxes and "<h2" not in boxes
    assert "data-later" not in await read(await browse(), address), "without text recognition"
    assert "<rect" not in await read(browser, marking(page, "elsewhere").replace("=pane", "=boxes"))


async def test_a_file_that_changed_since_has_no_picture_but_its_text(
    browse: OpenBrowser, shelves: Shelves, tmp_path: Path
) -> None:
    page, file = await season(shelves, tmp_path)
    file.write_bytes(b"%PDF-1.7 another one")
    shown = await read(await browse(), marking(page, STUDY))

    assert "/picture" not in shown and "<rect" not in shown and "is not known" not in shown
    assert '<mark class="cited" id="cited">The' in shown


@pytest.mark.parametrize(
    ("kind", "title", "place"),
    [("epub", "Chapter 5: The Bridge", "Book › Chapter 5: The Bridge"), ("pptx", "", "Slides, slide 1 of 1")],
)
async def test_places_are_named_as_the_document_names_them(
    browse: OpenBrowser, shelves: Shelves, kind: str, title: str, place: str
) -> None:
    document = build_document("a", kind=kind, title="A")
    page = Page(id="p", document_id=document.id, revision="r1", number=1, title=title, text="Words.")
    await put(shelves, document)
    await shelves.corpus.switch_revision(document, [page], [])

    assert f'<p class="pane-place">{place}</p>' in await read(await browse(), address_of(page, PANE))


async def test_a_citation_cant_bring_markup_into_the_pane(browse: OpenBrowser, shelves: Shelves) -> None:
    evil = '"><script>alert(1)</script>'
    document = await put(shelves, build_document("a.txt", kind="text", title=evil), f"Say {evil} now")
    citation = build_citation(document.id, document="a.txt", quote=evil, heading_path=())
    link = link_to(shelves, replace(citation, span=type(citation.span)(4, 4 + len(evil))))

    assert "<script" not in await read(await browse(), link + PANE)
