"""Reading positions on Discord: the channel is at chapter 1, Ada has read three chapters, Ben one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import discord

from core.errors import ProviderOverloaded
from tests.integration.discordbot.house import House, texts, told, until
from tests.integration.discordbot.place import DiscordPlace, search
from tests.scripted import says

SENTENCE = "The answer is beyond this channel's reading position, so I'm sending it to ada privately."
SECRET = "The keeper drowned Mirabel."
QUESTION = "who drowned Mirabel?"
LOOK = search(query="drowned Mirabel")
TOLD = says("The keeper drowned Mirabel [1].")
NOTHING = says("I found nothing.")


async def test_what_lies_beyond_the_channel_comes_to_its_asker_by_direct_message() -> None:
    place = DiscordPlace(script=(LOOK, TOLD))
    async with reading(place) as house:
        await house.ask(QUESTION)
        [answer] = await house.answered(house.ada.user.dm_channel)

        assert "The keeper drowned Mirabel" in texts(answer)
        assert "[[1]](https://footnote.example.org/s/1)" in texts(answer)
        assert SENTENCE in texts(house.posts()[0])
        assert_channel_knows_nothing(house)


async def test_who_has_read_no_further_is_told_in_the_channel_that_nothing_is_found() -> None:
    place = DiscordPlace(script=(LOOK, NOTHING))
    async with reading(place) as house:
        await house.ben.send(house.channel, f"{house.bot} {QUESTION}")
        [answer] = await house.answered()

        assert "Not found in the documents" in texts(answer)
        assert "keeper" not in repr(place.provider.requests)
        assert len(await place.entries.recent("local")) == 1
        assert_channel_knows_nothing(house)


async def test_a_private_answer_that_is_tried_again_stays_private_and_is_one() -> None:
    place = DiscordPlace(script=(ProviderOverloaded("The model is overloaded."), LOOK, TOLD))
    async with reading(place) as house:
        await house.ask(QUESTION)
        await house.answered(house.ada.user.dm_channel)

        assert len(house.posts(house.ada.user.dm_channel)) == 1
        assert_channel_knows_nothing(house)


async def test_a_restart_in_the_middle_of_it_ends_in_one_post_for_each() -> None:
    place = DiscordPlace(script=(LOOK, TOLD, LOOK, TOLD))
    async with reading(place) as house:
        place.provider.held = {1}
        await house.ask(QUESTION)
        await house.drafts("I have looked", house.ada.user.dm_channel)  # the model is where it is held
        await place.restart()
        await house.answered(house.ada.user.dm_channel)

        assert len(house.posts(house.ada.user.dm_channel)) == 1
        assert [SENTENCE in texts(post) for post in house.posts()] == [True]
        assert_channel_knows_nothing(house)


async def test_by_command_in_the_open_it_is_private_all_the_same() -> None:
    place = DiscordPlace(script=(LOOK, TOLD))
    async with reading(place) as house:
        await house.ada.slash(house.channel, "ask", question=QUESTION)
        await house.answered(house.ada.user.dm_channel)
        await house.answered()

        assert SENTENCE in texts(house.posts()[0])
        assert_channel_knows_nothing(house)


async def test_its_passage_is_shown_to_its_asker_alone() -> None:
    place = DiscordPlace(script=(LOOK, TOLD))
    async with reading(place) as house:
        await house.ask(QUESTION)
        [answer] = await house.answered(house.ada.user.dm_channel)
        await until(lambda: SENTENCE in texts(house.posts()[0]))

        assert SECRET in told(await house.ada.user.click(answer, label="Show sources")).replace("**", "")
        assert SECRET in told(await house.ada.slash(house.channel, "source", footnote=1)).replace("**", "")
        assert SECRET not in told(await house.ben.slash(house.channel, "source", footnote=1))
        assert "Nothing found" in told(await house.ada.slash(house.channel, "search", words="drowned"))
        assert_channel_knows_nothing(house)


async def test_a_deleted_question_takes_its_private_answer_away() -> None:
    place = DiscordPlace(script=(LOOK, TOLD))
    async with reading(place) as house:
        asked = await house.ask(QUESTION)
        await house.answered(house.ada.user.dm_channel)
        await house.ada.delete(asked)
        await until(lambda: not house.posts(house.ada.user.dm_channel))

        assert await place.conversations.list_conversations("local") == []


async def test_in_a_direct_message_her_own_position_holds() -> None:
    place = DiscordPlace(script=(LOOK, TOLD, LOOK, NOTHING))
    async with reading(place) as house:
        for person, words in ((house.ada, "The keeper drowned"), (house.ben, "Not found in the documents")):
            await person.send_dm(QUESTION)
            [answer] = await house.answered(person.user.dm_channel)
            assert words in texts(answer)


async def test_only_an_admin_sets_the_position_of_a_channel() -> None:
    place = DiscordPlace()
    async with reading(place) as house:
        result = await house.ben.slash(house.channel, "position", book="tower.md", place="3", channel=True)
        assert "Only an admin" in told(result)

        shown = told(await house.ben.slash(house.channel, "position"))
        assert shown.count("up to page 1") == 2


@asynccontextmanager
async def reading(place: DiscordPlace) -> AsyncIterator[House]:
    """The positions, given as people give them."""
    chapters = ("# Chapter 1\n\nMirabel lights the lamp.", f"# Chapter 2\n\n{SECRET}", "# Chapter 3\n\nMorning.")
    await place.shelf.add("tower.md", *chapters, title="The Tower")
    async with place.open() as house:
        [book] = await house.ada.autocomplete(house.channel, "position", "book", "tow")
        for person, options in (
            (house.admin(), {"place": "chapter 1", "channel": True}),
            (house.ada, {"place": "chapter 3"}),
            (house.ben, {"place": "1"}),
        ):
            await person.slash(house.channel, "position", book=book["value"], **options)
        yield house


def assert_channel_knows_nothing(house: House) -> None:
    shown: list[discord.Message] = [*house.channel.history(), *(m for t in house.channel.threads for m in t.history())]
    assert "keeper" not in "\n".join(f"{item.content}\n{texts(item)}" for item in shown)
    assert house.env.backend.messages.get(house.ben.user.dm_channel.id, {}) == {}
