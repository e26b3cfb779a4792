"""Commands about what can be read, within what the channel may read."""

from dataclasses import replace

import pytest

from core.access.scopes import ATTACHMENTS, attached_name
from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings
from core.errors import BadInput, NotFound
from core.work.commands import SourceRow
from tests.builders import build_document, build_source
from tests.unit.core.service.commands.counter import HERE, Counter, answered, stocked


async def restrict(run: Counter, *sources: str) -> None:
    await run.shelf.settings.save_channel(ChannelAddress.of(HERE), ChannelSettings(sources=frozenset(sources)))


async def test_sources_search_and_pages_show_what_can_be_read() -> None:
    run = await stocked()

    assert "1 document, 0 could" in (await run("sources")).text
    assert "House" in (await run("search", "stairs key")).text
    assert "Nothing found" in (await run("search", "zebra")).text
    assert "A shed." in (await run("page", "House 2")).text
    for name, argument in (("search", " "), ("page", "House"), ("page", ""), ("page", "House two")):
        with pytest.raises(BadInput):
            await run(name, argument)


async def test_sources_name_what_could_not_be_read_and_why() -> None:
    run = await stocked()
    await run.shelf.corpus.save_failure(
        build_document("torn.pdf", run.shelf.source, revision=None, failed_reason="it is torn")
    )
    result = await run("sources")

    assert result.rows == (SourceRow(name="handbook", documents=1, failures=(("torn.pdf", "it is torn"),)),)
    assert "torn.pdf: it is torn" in result.text


async def test_a_channel_without_a_source_finds_lists_and_opens_nothing_of_it() -> None:
    run = await stocked()
    await run.shelf.corpus.save_source(build_source("wiki"))
    await restrict(run, "wiki")
    elsewhere = replace(HERE, channel="cellar")

    assert [row.name for row in (await run("sources")).rows] == ["wiki"]
    assert "The sources that I may read here have no documents yet" in (await run("search", "stairs key")).text
    for name, argument in (("page", "House 1"), ("ask", "where? --document House"), ("summary", "House")):
        with pytest.raises(NotFound):
            await run(name, argument)
        assert await run(name, argument, address=elsewhere)
    await restrict(run)
    assert (await run("sources")).text.startswith("I may not read any documents here. Allow some sources here with")


async def test_attached_files_are_listed_in_their_thread_alone_under_a_plain_name() -> None:
    run = await stocked()
    await run.shelf.corpus.save_source(build_source(attached_name(HERE), kind=ATTACHMENTS))

    assert [row.name for row in (await run("sources")).rows] == ["attached in this thread", "handbook"]
    assert [row.name for row in (await run("sources", address=replace(HERE, thread="t2"))).rows] == ["handbook"]


async def test_a_footnote_shows_its_passage_in_place() -> None:
    run = await answered()
    shown = await run("source", "[1]")

    assert "**The key hangs under the stairs.**" in shown.text
    assert shown.citation is not None and shown.citation.number == 1
    with pytest.raises(BadInput, match="it has 1"):
        await run("source", "4")
    await restrict(run)
    with pytest.raises(NotFound):
        await run("source", "1")


async def test_an_empty_conversation_has_no_footnotes() -> None:
    run = await stocked()
    run.conversation = await run.begin("t1")
    with pytest.raises(BadInput, match="answer yet"):
        await run("source", "1")
