"""The source as a fragment for the side pane: the same page, in the same scope, under the same signature."""

import html
from dataclasses import replace
from urllib.parse import unquote

import pytest

from core.domain.conversation import Role
from core.domain.corpus import Document, Heading, Page, SearchScope
from core.domain.incoming import ThreadAddress
from tests.builders import NOON, build_citation, build_conversation, build_document, build_message, build_pages
from tests.unit.bot.web.conftest import OpenBrowser, Shelves, read
from tests.unit.bot.web.test_pages import TEXTS, THREAD, address_of, cited_in, link_to, page_of, put

PANE = "?part=pane"


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
    assert f'data-copy-link="{link}"' in text
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


async def test_beside_the_picture_of_a_pdf_stand_the_sentences_around_the_quote(
    browse: OpenBrowser, shelves: Shelves
) -> None:
    text = "Money\n\nWe sailed. We mend the ramp. The council asked\nfor a study. Nobody dared. We end."
    document = build_document("season.pdf", kind="pdf", title="Season")
    page = replace(build_pages(document, text)[0], title="", headings=(Heading(level=1, title="Money", start=0),))
    await put(shelves, document)
    await shelves.corpus.switch_revision(document, [page], [])
    start, end = text.index("The council"), text.index(" Nobody")
    shown = await read(await browse(), address_of(page, f"?from={start}&to={end}&part=pane"))

    assert "PDF, page 1 of 1 › Money" in shown
    assert ">We mend the ramp. <mark" in shown and "</mark> Nobody dared. <" in shown
    assert "We sailed" not in shown and "We end" not in shown
    assert 'alt="Image of page 1"' in shown


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
