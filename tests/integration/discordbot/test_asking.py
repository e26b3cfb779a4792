"""Asking on Discord: what is heard, where it is answered, and what is left alone."""

import pytest

from tests.integration.discordbot.place import ANSWER, KEY, DiscordPlace, buttons, search, texts


@pytest.fixture
async def place() -> DiscordPlace:
    place = DiscordPlace(script=(search(), ANSWER, search("t2"), ANSWER, search("t3"), ANSWER))
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    return place


async def test_a_mention_opens_a_thread_on_its_message_and_is_answered_there(place: DiscordPlace) -> None:
    async with place.open() as house:
        asked = await house.ada.send(house.channel, f"{house.bot} where is the key?")
        [answer] = await house.answered()
        assert house.thread.id == asked.id
        assert house.thread.name == "where is the key?"
        assert "hangs under the stairs" in texts(answer)
        assert "[[1]](https://footnote.example.org/s/1)" in texts(answer)
        assert "House" in texts(answer)


async def test_a_follow_up_in_the_thread_needs_no_mention(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await house.answered()
        await house.ben.send(house.thread, "And who put it there?")
        assert len(await house.answered(count=2)) == 2
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        assert [item.author for item in messages if item.role == "user"] == ["ada", "ben"]


async def test_talk_between_people_is_left_alone_in_a_thread(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        [answer] = await house.answered()
        said = await house.ada.send(house.thread, f"{house.ben.mention} have you seen it?")
        await house.ben.send(house.thread, "No, have you?", reply_to=said)
        assert [item.id for item in await house.answered()] == [answer.id]
        codes = [entry.decision.code for entry in await place.entries.recent("local")]
        assert codes == ["not_for_us", "not_for_us", "accepted"]


async def test_channel_talk_without_a_mention_is_left_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, "Where is the key?")
        [entry] = await place.entries.recent("local")
        assert entry.decision.code == "needs_mention"
        assert house.channel.threads == []


async def test_a_direct_message_is_answered_there(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send_dm("Where is the key?")
        [answer] = await house.answered(house.ada.user.dm_channel)
        assert "hangs under the stairs" in texts(answer)


async def test_buttons_under_an_answer_are_named_in_words(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        [answer] = await house.answered()
        assert {"Show passages", "Helpful", "Not helpful", "How this was answered"} <= set(buttons(answer))
