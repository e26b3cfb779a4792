"""/facts and /extract: rows with their footnotes, within what the channel may read."""

from dataclasses import replace

import pytest

from core.domain.extracts import ExtractType
from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings, PersonAddress
from core.errors import BadInput, NotFound
from tests.unit.core.service.commands.counter import HERE, Counter, stocked

NOTES = "Ann buys paint.\n\nBen mends the pump."


@pytest.fixture
async def run() -> Counter:
    run = await stocked()
    document = await run.shelf.add("council.md", NOTES, title="Council")
    items = [
        {"description": "buy paint", "owner": "Ann", "due_date": "2026-11-02", "page_number": 1, "span": [0, 15]},
        {"description": "mend the pump", "owner": "Ben", "page_number": 1, "span": [17, 36]},
    ]
    await run.shelf.extract(document, ExtractType.MEETING, {"title": "Council", "action_items": items})
    return run


async def test_a_question_is_answered_by_rows_with_their_footnotes(run: Counter) -> None:
    result = await run("facts", "open action items of Ann due before December")
    assert "1 row for `type:action_item status=open due_date<2026-12 owner:Ann`" in result.text
    assert "**buy paint** (owner Ann, due date 2026-11-02, status open, meeting Council) [1]" in result.text
    assert '[1] Page 1 of "Council" > Page 1: “Ann buys paint.”' in result.text
    assert [(item.quote, item.proved) for item in result.citations] == [("Ann buys paint.", True)]


async def test_what_fits_nothing_is_said_with_what_was_understood(run: Counter) -> None:
    text = (await run("facts", "action items of Ben due before May")).text
    assert "Nothing fits `type:action_item due_date<2026-05 owner:Ben`" in text
    assert "1 more says no date" in text


async def test_a_documents_rows_are_listed_whole_by_type_or_words(run: Counter) -> None:
    assert "3 rows" in (await run("extract", "council.md")).text
    assert "mend the pump" not in (await run("extract", 'council.md --words "owner:Ann"')).text
    assert "2 rows" in (await run("extract", "Council --type action_item")).text
    assert "2 rows" in (await run("extract", "--type action_item")).text
    assert "Nothing fits" in (await run("extract", "House")).text
    with pytest.raises(NotFound):
        await run("extract", "atlantis.md")


async def test_without_a_document_it_tells_how_much_there_is(run: Counter) -> None:
    assert "- meeting: 1" in (await run("extract")).text


@pytest.mark.parametrize(("name", "argument"), [("facts", ""), ("facts", "type:x"), ("extract", "--type nonsense")])
async def test_what_can_not_be_asked_is_one_sentence(run: Counter, name: str, argument: str) -> None:
    with pytest.raises(BadInput):
        await run(name, argument)


async def test_a_channel_without_the_source_finds_nothing_and_no_count(run: Counter) -> None:
    await run.shelf.settings.save_channel(ChannelAddress.of(HERE), ChannelSettings(sources=frozenset({"wiki"})))
    assert (await run("facts", "type:action_item")).text.startswith("I may not read any documents here.")
    assert "Nothing was extracted" in (await run("extract")).text
    elsewhere = replace(HERE, channel="cellar")
    assert "2 rows" in (await run("facts", "type:action_item", address=elsewhere)).text


async def test_nothing_beyond_the_readers_position_is_told(run: Counter) -> None:
    book = await run.shelf.add("book.md", "Once.", "Ann finds the ruby.", title="Book")
    await run.shelf.extract(book, ExtractType.ENTITY, {"name": "Ruby", "kind": "gem"}, page=2)
    assert "1 row" in (await run("facts", "ruby")).text
    person = PersonAddress(workspace="local", person="ada")
    await run.shelf.settings.save_position(person, book.id, 1)
    assert "Nothing fits" in (await run("facts", "ruby")).text
