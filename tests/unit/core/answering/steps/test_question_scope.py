"""What one question may read: to the end only where nobody else reads, and never beyond what it names itself."""

from dataclasses import replace

import pytest

from core.answering.steps.question import QuestionScopes
from core.domain.incoming import ChannelAddress, Circumstances, IncomingMessage, ThreadAddress
from core.domain.service import PersonAddress
from core.errors import AccessDenied, BadInput
from tests.unit.core.library_builder import Shelf

CLUB = ThreadAddress(platform="web", workspace="local", channel="club", thread="t1")
OWN = replace(CLUB, thread="private:ada")
NOVEL = "local/handbook/novel.md"


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("novel.md", *[f"# Chapter {number}\n\nText." for number in range(1, 6)], title="Novel")
    await shelf.settings.save_position(ChannelAddress.of(CLUB), NOVEL, 2)
    await shelf.settings.save_position(PersonAddress(workspace="local", person="ada"), NOVEL, 4)
    return shelf


def question(address: ThreadAddress = CLUB, **fields: object) -> IncomingMessage:
    return IncomingMessage(address=address, author="ada", text="And then?", event_key="e", **fields)


async def position(shelf: Shelf, message: IncomingMessage) -> int | None:
    scopes = QuestionScopes(shelf.access, shelf.library, shelf.corpus)
    scope = await scopes.up_to(message, None, await scopes.of(message))
    return scope.positions.get(NOVEL)


async def test_in_a_channel_the_lowest_holds_and_alone_ones_own(shelf: Shelf) -> None:
    direct = question(circumstances=Circumstances(direct=True))

    assert [await position(shelf, message) for message in (question(), direct, question(OWN))] == [2, 4, 4]


async def test_a_question_names_how_far_but_never_further(shelf: Shelf) -> None:
    for place, last in (("Novel=chapter 1", 1), ("Novel=in chapter 1", 0), ("Novel=chapter 5", 2), ("Novel=end", 2)):
        assert await position(shelf, question(position=place)) == last


async def test_to_the_end_is_for_who_reads_alone(shelf: Shelf) -> None:
    assert await position(shelf, question(OWN, to_the_end=True)) is None
    with pytest.raises(AccessDenied, match="only answered in private"):
        await position(shelf, question(to_the_end=True))


async def test_a_lifted_position_holds_in_the_channel(shelf: Shelf) -> None:
    await shelf.settings.save_position(PersonAddress(workspace="local", person="ada", alone=True), NOVEL, 5)

    assert [await position(shelf, message) for message in (question(), question(OWN))] == [2, 5]


async def test_what_could_be_meant_instead_is_named_only_as_far_as_the_asker_reads(shelf: Shelf) -> None:
    await shelf.add("night.md", "# The Arrival\n\nText.", "# Chapter 8\n\nText.", title="Night")
    mistyped = {"position": "Night=chapter 9"}
    with pytest.raises(BadInput, match="Did you mean 'Chapter 8'"):
        await position(shelf, question(**mistyped))
    await shelf.settings.save_position(ChannelAddress.of(CLUB), "local/handbook/night.md", 1)
    with pytest.raises(BadInput) as refused:
        await position(shelf, question(**mistyped))

    assert "Chapter 8" not in str(refused.value)
