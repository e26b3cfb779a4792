"""The assistant pane: a greeting, questions that this library answers, and threads with names."""

import pytest

from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings, PersonAddress
from tests.builders import build_source
from tests.integration.slackbot.house import House, is_final, shown_of
from tests.integration.slackbot.place import SlackPlace
from tests.slack_server import Channel, Message, Person

TRANSPORTS = pytest.mark.parametrize("over_http", [False, True], ids=["socket", "http"])
HOUSE = "Are gardens locked?"


async def pane(house: House, person: Person) -> str:
    """A thread that somebody opens in the pane, once it has suggestions."""
    thread = await person.open_pane()
    await house.until(lambda: thread in person.dm.prompts, "suggested questions")
    return thread


def prompts(person: Person, thread: str) -> list[str]:
    """The messages that a pane suggests; each is shown as it would be sent."""
    told = person.dm.prompts[thread]["prompts"]
    assert all(one["title"] == one["message"] for one in told)
    return [one["message"] for one in told]


def greetings(house: House, person: Person, thread: str) -> list[Message]:
    return [one for one in house.server.answers(person.dm, thread=thread) if not is_final(one)]


async def answered(house: House, person: Person, thread: str) -> Message:
    def final() -> list[Message]:
        return [one for one in house.server.answers(person.dm, thread=thread) if is_final(one)]

    await house.until(final, "an answer")
    return final()[-1]


@TRANSPORTS
async def test_it_greets_and_suggests_what_the_library_holds(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    await place.shelf.add("garden.md", "# Garden\n\n## How many sheds are there?\n\nOne.", title="Garden")
    async with place.open() as house:
        thread = await pane(house, house.ada)
        [greeting] = greetings(house, house.ada, thread)
        assert "Here I can read 2 documents from handbook." in shown_of(greeting)
        assert prompts(house.ada, thread) == ["How many sheds are there?", HOUSE]


@TRANSPORTS
async def test_a_suggested_question_is_answered_in_its_thread_which_gets_a_name(
    place: SlackPlace, over_http: bool
) -> None:
    place.over_http = over_http
    async with place.open() as house:
        thread = await pane(house, house.ada)
        await house.ada.say(house.ada.dm, prompts(house.ada, thread)[0], thread=thread)
        assert "under the stairs" in shown_of(await answered(house, house.ada, thread))
        await house.until(lambda: house.ada.dm.titles.get(thread) == HOUSE, "the thread's name")


async def test_a_renamed_conversation_gives_its_thread_the_name(place: SlackPlace) -> None:
    async with place.open() as house:
        thread = await pane(house, house.ada)
        await house.ada.say(house.ada.dm, "where is the key?", thread=thread)
        await answered(house, house.ada, thread)
        await house.ada.say(house.ada.dm, "rename Keys of the house", thread=thread)
        await house.until(lambda: house.ada.dm.titles.get(thread) == "Keys of the house", "the new name")
        [conversation] = await place.conversation_store.list_conversations("local")
        assert conversation.title == "Keys of the house"


async def test_commands_work_in_it(place: SlackPlace) -> None:
    async with place.open() as house:
        thread = await pane(house, house.ada)
        await house.ada.say(house.ada.dm, "sources", thread=thread)
        assert (await house.told(house.ada, "1 document, 0 could not be read", house.ada.dm)).root == thread


async def test_an_event_that_comes_twice_greets_once(place: SlackPlace) -> None:
    async with place.open() as house:
        thread = await pane(house, house.ada)
        house.server.redeliver(next(one for one in house.server.parcels if one.name == "assistant_thread_started"))
        await house.until(lambda: len(house.server.calls("assistant.threads.setSuggestedPrompts")) == 2)
        assert len(greetings(house, house.ada, thread)) == 1


async def test_where_it_can_not_be_told_whether_it_was_greeted_it_is(place: SlackPlace) -> None:
    async with place.open() as house:
        house.server.fail_next("conversations.replies", status=429)
        thread = await pane(house, house.ada)
        assert len(greetings(house, house.ada, thread)) == 1


async def test_without_documents_it_says_so_and_suggests_nothing(place: SlackPlace) -> None:
    async with SlackPlace().open() as house:
        thread = await house.ada.open_pane()
        await house.until(lambda: greetings(house, house.ada, thread), "a greeting")
        [greeting] = greetings(house, house.ada, thread)
        assert "I have no documents to read here yet. Ask an admin to add some." in shown_of(greeting)
        await house.server.settle()
        assert house.ada.dm.prompts == {}


async def test_what_lies_beyond_a_reading_position_is_not_suggested(place: SlackPlace) -> None:
    document = await place.shelf.add("novel.md", "# Novel", "# Who is the murderer?", title="Novel")
    async with place.open() as house:
        person = PersonAddress(workspace="local", person=house.ada.id)
        await place.settings.save_position(person, document.id, 1)
        assert prompts(house.ada, await pane(house, house.ada)) == [HOUSE]
        assert len(prompts(house.ben, await pane(house, house.ben))) == 2


async def test_no_more_than_four_questions_are_suggested(place: SlackPlace) -> None:
    for number in range(9):
        await place.shelf.add(f"{number}.md", f"# What is in section {number}?", title=f"Title {number}")
    async with place.open() as house:
        assert len(prompts(house.ada, await pane(house, house.ada))) == 4


@TRANSPORTS
async def test_beside_a_channel_it_suggests_what_is_read_there(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    await _add_tides(place)
    async with place.open() as house:
        thread = await pane(house, house.ada)
        assert len(prompts(house.ada, thread)) == 2
        await _allow(place, house.channel, "tides")
        await house.ada.look_at(thread, house.channel)
        await house.until(lambda: prompts(house.ada, thread) == ["When is high water?"], "other questions")


async def test_beside_a_channel_that_reads_nothing_of_it_the_questions_stay(place: SlackPlace) -> None:
    async with place.open() as house:
        thread = await pane(house, house.ada)
        await _allow(place, house.channel, "another")
        await house.ada.look_at(thread, house.channel)
        await house.until(lambda: len(house.server.calls("assistant.threads.setSuggestedPrompts")) == 2)
        assert prompts(house.ada, thread) == [HOUSE]


async def test_no_channel_widens_what_the_pane_may_read(place: SlackPlace) -> None:
    await _add_tides(place)
    async with place.open() as house:
        await _allow(place, house.ada.dm, "handbook")
        thread = await pane(house, house.ada)
        await _allow(place, house.channel, "tides", "handbook")
        await house.ada.look_at(thread, house.channel)
        await house.until(lambda: len(house.server.calls("assistant.threads.setSuggestedPrompts")) == 2)
        assert prompts(house.ada, thread) == [HOUSE]


async def _add_tides(place: SlackPlace) -> None:
    handbook, place.shelf.source = place.shelf.source, build_source("tides")
    await place.shelf.add("tides.md", "# When is high water?\n\nAt noon.", title="Tides")
    place.shelf.source = handbook


async def _allow(place: SlackPlace, channel: Channel, *names: str) -> None:
    address = ChannelAddress(platform="slack", workspace="local", channel=channel.id)
    await place.settings.save_channel(address, ChannelSettings(sources=frozenset(names)))
