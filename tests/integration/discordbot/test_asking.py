"""Asking on Discord: what is heard, where it is answered, and what is left alone."""

import discord
import pytest

from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings
from tests.integration.discordbot.house import House, is_final, texts, until
from tests.integration.discordbot.place import DiscordPlace


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
        await house.ask()
        await house.ben.send(house.thread, "And who put it there?")
        assert len(await house.answered(count=2)) == 2
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        assert [item.author for item in messages if item.role == "user"] == ["ada", "ben"]


async def test_talk_between_people_is_left_alone_in_a_thread(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        said = await house.ada.send(house.thread, f"{house.ben.mention} have you seen it?")
        await house.ben.send(house.thread, "No, have you?", reply_to=said)
        assert len(house.posts()) == 1
        assert await place.codes() == ["not_for_us", "not_for_us", "accepted"]


async def test_channel_talk_without_a_mention_is_left_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, "Where is the key?")
        assert await place.codes() == ["needs_mention"]
        assert house.channel.threads == []


async def test_a_mention_inside_a_thread_of_people_is_answered_there_after_reading_their_talk(
    place: DiscordPlace,
) -> None:
    async with place.open() as house:
        thread = _thread_of(house, "The lost key")
        await house.ben.send(thread, "I hid it from the cat.")
        await house.ada.send(thread, f"{house.bot} where is the key?")
        [answer] = await house.answered(thread)
        assert "hangs under the stairs" in texts(answer)
        first = place.provider.requests[0]
        assert "I hid it from the cat." in str(first.messages)
        assert "ben" in str(first.messages)


async def test_a_thread_that_people_opened_is_not_listened_to_after_it_answered_there(place: DiscordPlace) -> None:
    async with place.open() as house:
        thread = _thread_of(house, "The lost key")
        await house.ben.send(thread, "Where is the key?")
        await house.ben.send(thread, f"{house.bot} where is the key?")
        await house.answered(thread)
        await house.ben.send(thread, "And the other key?")
        await house.env.settle()
        assert await place.codes() == ["needs_mention", "accepted", "needs_mention", "needs_mention"]
        assert len(house.posts(thread)) == 1


async def test_a_reply_that_mentions_the_bot_asks_about_the_message_replied_to(place: DiscordPlace) -> None:
    async with place.open() as house:
        said = await house.ben.send(house.channel, "The stairs creak at midnight.")
        asked = await house.ada.send(house.channel, f"{house.bot} is the key near?", reply_to=said)
        await house.answered()
        assert house.thread.id == asked.id
        request = str(place.provider.requests[0].messages)
        assert "The stairs creak at midnight." in request
        assert "is the key near?" in request


async def test_a_bare_mention_as_a_reply_asks_what_the_documents_say(place: DiscordPlace) -> None:
    async with place.open() as house:
        said = await house.ben.send(house.channel, "Where is the key?")
        await house.ada.send(house.channel, house.bot, reply_to=said)
        await house.answered()
        assert "What do the documents say about this?" in str(place.provider.requests[0].messages)


async def test_other_bots_and_webhooks_are_not_answered(place: DiscordPlace) -> None:
    async with place.open() as house:
        robot = house.guild.add_member(house.env.create_user("robot", bot=True))
        await robot.send(house.channel, f"{house.bot} where is the key?")
        await house.guild.create_webhook(house.channel).send(f"{house.bot} where is the key?")
        assert await place.codes() == ["another_bot", "another_bot"]
        assert house.channel.history()[-1].webhook_id is not None  # and nothing behind it


async def test_a_channel_set_to_it_is_answered_without_a_mention(place: DiscordPlace) -> None:
    async with place.open() as house:
        eve = house.admin()
        await eve.slash(house.channel, "settings", name="auto_answer", value="live")
        asked = await house.ben.send(house.channel, "Where is the key?")
        await house.answered()
        assert house.thread.id == asked.id


async def test_a_new_forum_post_is_answered_where_that_is_set_and_else_left_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        forum = house.guild.create_forum_channel("help")
        await _post_in(house, forum.id, "Where is it?", "Where is the key?")
        assert await place.codes() == ["posts_off"]
        address = ChannelAddress(platform="discord", workspace="local", channel=str(forum.id))
        await place.settings.save_channel(address, ChannelSettings(answer_posts=True))
        post = await _post_in(house, forum.id, "Again", "Where is the key?")
        thread = next(item for item in forum.threads if item.id == post)
        await house.answered(thread)
        await house.ben.send(thread, "And the other one?")
        assert len(await house.answered(thread, count=2)) == 2


async def test_a_typed_command_is_told_where_commands_are(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} /threads all")
        reply = await house.shows("choose /threads from the list", house.ada.user.dm_channel)
        assert not is_final(reply)
        assert (house.posts(house.channel), await place.codes()) == ([], ["command"])


async def test_too_many_questions_of_one_person_are_refused_with_a_sentence(place: DiscordPlace) -> None:
    async with place.open() as house:
        address = ChannelAddress(platform="discord", workspace="local", channel=str(house.channel.id))
        await place.settings.save_channel(address, ChannelSettings(questions_per_minute=1))
        await house.ask()
        await house.ada.send(house.channel, f"{house.bot} and where is the cat?")
        await house.shows("You can ask again at", house.ada.user.dm_channel)
        for number in range(5):
            await house.ada.send(house.channel, f"{house.bot} and where is cat {number}?")
        await house.ben.send(house.channel, f"{house.bot} where is the key?")
        await until(lambda: len(house.channel.threads) == 2)
        assert await place.codes() == ["accepted", *["over_limit_again"] * 5, "over_limit", "accepted"]
        assert len(house.posts(house.ada.user.dm_channel)) == 1
        assert not any("You can ask again at" in texts(post) for post in house.posts(house.channel))


def _thread_of(house: House, name: str):
    """A thread that Ben opened on a message of his."""
    said = house.env.backend.create_message(house.channel.id, house.ben.id, "Has anybody seen my key?")
    house.env.backend.create_thread(house.channel.id, name, house.ben.id, message_id=said.id)
    return house.thread


async def _post_in(house: House, forum: int, title: str, text: str) -> int:
    """A new post of Ben's; its first message has the post's id, as on Discord."""
    backend = house.env.backend
    thread = backend.create_thread(forum, title, house.ben.id)
    await house.env.settle()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backend, "snowflake", lambda: thread.id)
        backend.create_message(thread.id, house.ben.id, text)
    await house.env.settle()
    assert isinstance(house.env.bot.get_channel(thread.id), discord.Thread)
    return thread.id
