"""What the source viewer shows of a passage whose document has changed since the answer."""

from dataclasses import replace

import pytest

from bot.web.pages.source import since_answer
from core.domain.answer import Citation
from core.domain.conversation import Role
from core.domain.corpus import Document
from core.domain.incoming import ChannelAddress
from core.domain.passages import Span
from core.features.staleness.changes import Kept
from tests.builders import build_conversation, build_document, build_message, build_pages
from tests.unit.bot.web.conftest import OpenBrowser, Shelves, read
from tests.unit.bot.web.test_pages import TEXTS, THREAD, cited_in, link_to, put


@pytest.fixture
async def guide(shelves: Shelves) -> Document:
    return await put(shelves, build_document("guide.md", title="Guide"), *TEXTS)


async def answered(shelves: Shelves, *citations: Citation) -> str:
    """The link of the first footnote of an answer in the thread."""
    answer = build_message("a1", role=Role.ASSISTANT, citations=citations)
    await shelves.conversations.add(build_conversation(address=THREAD), [answer])
    return link_to(shelves, citations[0])


async def test_what_the_passage_has_become_is_shown_word_by_word(
    browse: OpenBrowser, shelves: Shelves, guide: Document
) -> None:
    link = await answered(shelves, cited_in(guide, "The key is under the mat."))
    await put(shelves, replace(guide, revision="r2"), "Doors.\n\nThe key is in the <shed>, behind the mat.", "More.")
    text = await read(await browse(), link)

    assert "Changed since the answer" in text
    assert "The key is <del>under</del><ins>in the &lt;shed&gt;, behind</ins> the mat." in text
    assert 'class="cited"' in text  # what stands there now is marked


async def test_a_passage_that_only_moved_is_marked_where_it_stands_now(
    browse: OpenBrowser, shelves: Shelves, guide: Document
) -> None:
    link = await answered(shelves, cited_in(guide, "under the mat"))
    await put(shelves, replace(guide, revision="r2"), "A new first page.", "As ever, it is under the mat.")
    text = await read(await browse(), link)

    assert "Changed since the answer" not in text
    assert "the passage is unchanged; it was on page 1" in text
    assert "Page 2 of 2" in text and 'class="cited"' in text


async def test_a_passage_without_anything_like_it_is_shown_as_it_was(
    browse: OpenBrowser, shelves: Shelves, guide: Document
) -> None:
    link = await answered(shelves, cited_in(guide, "The key is under the mat."))
    await put(shelves, replace(guide, revision="r2"), "Nothing of that kind.")
    text = await read(await browse(), link)
    assert "no longer contains this passage, or a similar one" in text
    assert "<del>The key is under the mat.</del>" in text


async def test_other_pages_of_the_document_open_as_they_are(
    browse: OpenBrowser, shelves: Shelves, guide: Document
) -> None:
    link = await answered(shelves, cited_in(guide, "The key is under the mat."))
    await put(shelves, replace(guide, revision="r2"), "The key is in the shed.", "More.")
    text = await read(await browse(), f"{link}/2")
    assert "Page 2 of 2" in text and "Changed since" not in text


@pytest.mark.parametrize("page", [1, 2])
async def test_nothing_beyond_a_reading_position_is_told(
    browse: OpenBrowser, shelves: Shelves, guide: Document, page: int
) -> None:
    quote = ("The key is under the mat.", "The *Marigold* carries 96.")[page - 1]
    link = await answered(shelves, cited_in(guide, quote, page))
    await shelves.settings.save_position(ChannelAddress.of(THREAD), guide.id, 1)
    await put(shelves, replace(guide, revision="r2"), "Short.", "The key is under the bed.", "The *Marigold* sank.")
    browser = await browse()
    if page == 2:
        text = await read(browser, link, 410)
        assert "Marigold" not in text
    else:
        text = await read(browser, link)
        assert "bed" not in text and "<del>The key is under the mat.</del>" in text


def test_a_place_is_always_on_a_page_that_is_there() -> None:
    pages = build_pages(build_document(revision="r2"), "One.", "Two.", "Three.")[:2]
    citation = replace(cited_in(build_document()), page_number=9, span=Span(0, 3), quote="Ninety-nine sheep")
    since = since_answer(citation, pages)
    assert (since.page_number, since.span) == (2, None)
    assert [piece.kept for piece in since.pieces] == [Kept.THEN]
