"""An empty library on the real bots: the same sentence in every entry point, for admins and for members."""

import re

import pytest

from core.access.availability import Condition, LibraryState, Reader, describe
from core.domain.answer import AnswerStatus
from core.domain.incoming import ChannelAddress
from core.domain.ingest_report import IngestProgress
from core.domain.service import ChannelSettings
from tests.integration.discordbot import house as discord_house
from tests.integration.discordbot.place import DiscordPlace
from tests.integration.discordbot.place import turns as model_turns
from tests.integration.platform_place import PlatformPlace
from tests.integration.slackbot import house as slack_house
from tests.integration.slackbot.place import SlackPlace
from tests.integration.slackbot.test_home import home

NOT_FOUND = re.compile(r"(did not|didn't|couldn't) find|not found|nothing found", re.IGNORECASE)
EMPTY = Condition(state=LibraryState.NO_DOCUMENTS, workspace="local")
READERS = pytest.mark.parametrize("reader", [Reader.ADMIN, Reader.MEMBER])


def plain(text: str) -> str:
    """A text without its marks, as people read it."""
    return " ".join(text.replace("`", "").replace("*", "").split())


def as_on_slack(sentence: str, *, in_thread: bool = False) -> str:
    """Slack takes no slash commands in threads."""
    return plain(re.sub(r"/(library|settings|sources)", rf"{'@' if in_thread else '/'}footnote \1", sentence))


def named(state: LibraryState, reader: Reader) -> str:
    return plain(describe(Condition(state=state, workspace="local", done=1, total=3, failed=1), reader))


@READERS
async def test_discord_answers_commands_and_private_questions_say_the_same(reader: Reader) -> None:
    place = DiscordPlace()
    async with place.open() as house:
        person = house.admin() if reader is Reader.ADMIN else house.ben
        wanted = plain(describe(EMPTY, reader))
        await person.send(house.channel, f"{house.bot} where is the key?")
        answer = await house.shows("I have no documents")
        listed = await person.slash(house.channel, "sources")
        searched = await person.slash(house.channel, "search", words="key")

        assert plain(discord_house.texts(answer)).startswith(wanted)
        assert not NOT_FOUND.search(discord_house.texts(answer))
        assert "👍" not in discord_house.buttons(answer)
        assert [plain(discord_house.told(one)) for one in (listed, searched)] == [wanted] * 2
        assert place.provider.requests == []


@READERS
async def test_slack_answers_commands_and_the_home_tab_say_the_same(reader: Reader) -> None:
    place = SlackPlace()
    async with place.open() as house:
        person = house.ada
        if reader is Reader.ADMIN:
            person.user.is_admin = True
        wanted = as_on_slack(describe(EMPTY, reader))
        await person.mention(house.channel, "where is the key?")
        answer = await house.shows("I have no documents")
        await person.slash(house.channel, "sources")
        listed = await house.told(person, "I have no documents")
        opened = await home(house, person, "I have no documents")

        in_thread = as_on_slack(describe(EMPTY, reader), in_thread=True)
        assert plain(slack_house.shown_of(answer)).startswith(in_thread)
        assert not NOT_FOUND.search(slack_house.shown_of(answer))
        assert not slack_house.is_final(answer), "it can't be rated"
        assert plain(slack_house.shown_of(listed)) == wanted
        assert wanted in plain(slack_house.shown_of(opened))
        assert place.provider.requests == []


async def not_allowed(place: PlatformPlace, channel: ChannelAddress) -> None:
    await place.shelf.add("house.md", "# Keys\n\nUnder the stairs.")
    await place.settings.save_channel(channel, ChannelSettings(sources=frozenset()))


async def being_read(place: PlatformPlace, channel: ChannelAddress) -> None:
    source = place.shelf.source
    await place.shelf.corpus.save_source(source)
    await place.ingests().note(source.id, IngestProgress(done=1, total=3, path="a.md"))


async def without_index(place: PlatformPlace, channel: ChannelAddress) -> None:
    document = await place.shelf.add("house.md", "# Keys\n\nUnder the stairs.")
    await place.shelf.index.remove_document(document.id)


STATES = {
    LibraryState.NOT_ALLOWED: not_allowed,
    LibraryState.READING: being_read,
    LibraryState.NO_INDEX: without_index,
}


@pytest.mark.parametrize("state", STATES)
async def test_each_state_is_said_on_both_platforms(state: LibraryState) -> None:
    discord, slack = DiscordPlace(script=model_turns(1)), SlackPlace()
    async with discord.open() as house:
        channel = ChannelAddress(platform="discord", workspace="local", channel=str(house.channel.id))
        await STATES[state](discord, channel)
        await house.ben.send(house.channel, f"{house.bot} where is the key?")
        said = await house.shows(named(state, Reader.MEMBER)[:20])
        assert plain(discord_house.texts(said)).startswith(named(state, Reader.MEMBER))
    async with slack.open() as team:
        await STATES[state](slack, ChannelAddress(platform="slack", workspace="local", channel=team.channel.id))
        await team.ada.mention(team.channel, "where is the key?")
        shown = await team.shows(named(state, Reader.MEMBER)[:20])
        assert plain(slack_house.shown_of(shown)).startswith(
            as_on_slack(describe(Condition(state=state, workspace="local", done=1, total=3), Reader.MEMBER))
        )


async def test_an_edited_question_is_answered_once_there_are_documents() -> None:
    place = DiscordPlace(script=model_turns(1))
    async with place.open() as house:
        asked = await house.ben.send(house.channel, f"{house.bot} where is the key?")
        await house.shows("I have no documents")
        await place.shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", title="House")
        await house.ben.edit(asked, content=f"{house.bot} where is the key now?")
        [answer] = await house.answered()
        assert "under the stairs" in discord_house.texts(answer)


async def test_the_stored_reason_is_shown_again_as_it_was() -> None:
    place = DiscordPlace()
    async with place.open() as house:
        await house.ben.send(house.channel, f"{house.bot} where is the key?")
        await house.shows("I have no documents")
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        answer = messages[-1]
        assert (answer.status, answer.outcome and answer.outcome.searched) == (AnswerStatus.NOT_FOUND.value, False)
