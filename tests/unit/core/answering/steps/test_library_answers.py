"""Questions about the library without a model: what is listed, how it is paged, and how the scope bounds it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.answer import Answer, AnswerStatus
from core.domain.chat import Capabilities
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.readers import OPEN_TO_ALL
from core.work.progress import SilentProgress
from tests.builders import NOON, build_document, build_pages, build_passages, build_source
from tests.pipeline import build_answers
from tests.scripted import ScriptedProvider, says
from tests.unit.core.library_builder import Shelf

QUOTING = Capabilities(quotes_only=True)
SECRET = build_source("secret", readers=frozenset({"person:boss"}))
MINE = "local/handbook/mine.json"


@pytest.fixture
async def shelf() -> Shelf:
    """Two documents that all may read, and one that only the boss may."""
    shelf = Shelf()
    shelf.source = replace(shelf.source, readers=OPEN_TO_ALL)
    await shelf.add("mine.json", "Gate.", "Hall.", "Cellar.", title="The Lost Mine", kind="foundry")
    await shelf.add("guide.md", "Keys.", title="Guide", crawled_at=NOON - timedelta(days=9))
    await shelf.corpus.save_source(SECRET)
    document = build_document("plan.md", SECRET, title="Takeover plan", crawled_at=NOON)
    pages = build_pages(document, "Buy.")
    await shelf.corpus.switch_revision(document, pages, build_passages(pages))
    return shelf


async def ask(shelf: Shelf, text: str, *script: object, author: str = "ada", **fields: object) -> Answer:
    provider = ScriptedProvider([says("Searched.")], capabilities=QUOTING) if not script else script[0]
    address = ThreadAddress(platform="discord", workspace="local", channel="club", thread=f"t-{author}")
    message = IncomingMessage(address=address, author=author, text=text, event_key=text, **fields)
    return await build_answers(shelf, provider=provider).answer(message, SilentProgress())


async def test_only_documents_that_the_place_may_read_are_listed(shelf: Shelf) -> None:
    answer = await ask(shelf, "Which documents do you have?")
    assert answer.text == (
        "I can read 2 documents here (1 foundry, 1 markdown).\n"
        "- **Guide** (1 page, source handbook: guide.md)\n"
        "- **The Lost Mine** (3 pages, source handbook: mine.json)"
    )
    assert (answer.status, answer.suggestions) == (AnswerStatus.ANSWERED, ())
    assert answer.rests_on is not None and answer.rests_on.sources == (shelf.source.id,)


async def test_a_long_list_is_paged_by_a_suggested_question(shelf: Shelf) -> None:
    for number in range(30):
        await shelf.add(f"n{number:02}.md", "Note.", title=f"Note {number:02}")
    first = await ask(shelf, "Which documents do you have?")
    (more,) = first.suggestions
    rest = await ask(shelf, more)
    assert (first.text.count("\n- "), rest.text.count("\n- ")) == (20, 12)
    assert "These are 21 to 32:" in rest.text and rest.text.endswith("mine.json)") and not rest.suggestions


async def test_a_kind_is_listed_alone_and_none_that_fits_is_searched_for(shelf: Shelf) -> None:
    assert "I can read 1 document here (1 foundry)." in (await ask(shelf, "Which journals do you have?")).text
    assert "I can read" not in (await ask(shelf, "Which tax reports do you have?")).text


async def test_what_is_new_is_bounded_by_the_scope(shelf: Shelf) -> None:
    assert (await ask(shelf, "What is new since 1 February?")).text.splitlines() == [
        "Added or changed here since Sunday, 1 February 2026:",
        "- **Guide** (1 page, source handbook: guide.md)",
    ]
    nothing = await ask(shelf, "What is new since yesterday?")
    assert nothing.text.startswith("Nothing is new since Saturday, 28 February 2026: no document is dated,")
    assert "Takeover" not in nothing.text


async def test_no_page_beyond_a_reading_position_is_told_of(shelf: Shelf) -> None:
    await shelf.settings.save_position(ChannelAddress(platform="discord", workspace="local", channel="club"), MINE, 2)
    assert (await ask(shelf, "Is there a page 3 in The Lost Mine?")).text == (
        "No. “The Lost Mine” has no page 3 that you can read here: it has pages 1 to 2."
    )
    assert "(2 pages, source" in (await ask(shelf, "Which documents do you have?")).text


async def test_an_unknown_document_is_named_and_not_one_that_may_not_be_read(shelf: Shelf) -> None:
    answer = await ask(shelf, "Does Takeover plan have a page 1?")
    assert answer.status is AnswerStatus.NOT_FOUND
    assert answer.text.startswith("There is no document 'Takeover plan'") and "plan.md" not in answer.text


async def test_a_page_of_the_document_that_is_asked_about(shelf: Shelf) -> None:
    answer = await ask(shelf, "is there a page 9?", document="mine.json")
    assert answer.text == "No. “The Lost Mine” has no page 9: it has pages 1 to 3."


async def test_a_model_is_asked_instead_and_told_only_what_may_be_read(shelf: Shelf) -> None:
    model = ScriptedProvider([says("Two documents: the Guide and the mine.")])
    answer = await ask(shelf, "Which documents do you have?", model)
    note = model.requests[0].messages[0].text
    assert "The library holds 2 documents" in note and "Takeover" not in note
    assert [tool.name for tool in model.requests[0].tools][3] == "list_documents"
    assert answer.rests_on is not None and answer.rests_on.documents == ("local/handbook/guide.md",)
