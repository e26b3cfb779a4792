"""/recap: what was found so far, with footnotes proved anew."""

import pytest

from core.domain.incoming import ChannelAddress
from core.errors import BadInput
from tests.unit.core.service.commands.counter import HERE, answered, stocked

KEY = "The key hangs under the stairs."


async def test_what_was_found_is_told_with_its_footnotes() -> None:
    run = await answered()
    told = await run("recap")

    assert "Under the stairs[1]." in told.text
    assert f'- [1] Page 1 of "House" > Keys: “{KEY}”' in told.text
    assert [citation.quote for citation in told.citations] == [KEY]
    assert all(citation.proved for citation in told.citations)
    assert not told.is_public


async def test_what_may_not_be_read_here_any_more_is_left_out() -> None:
    run = await answered()
    await run.shelf.corpus.remove_source(run.shelf.source.id)
    told = await run("recap")

    assert "stairs" not in told.text
    assert told.citations == ()


async def test_a_lifted_position_is_lifted_for_it_where_nobody_else_reads() -> None:
    run = await answered()
    await run("position", "house.md lifted", direct=True)
    [document] = await run.shelf.corpus.list_documents("local")
    await run.shelf.settings.save_position(ChannelAddress.of(HERE), document.id, 0)

    assert "stairs" in (await run("recap", direct=True)).text
    assert "stairs" not in (await run("recap")).text


async def test_it_needs_a_conversation() -> None:
    with pytest.raises(BadInput, match="needs a conversation"):
        await (await stocked())("recap")
