"""What becomes of questions, and of threads, when people edit, delete, rename, mute or listen."""

import discord

from tests.integration.discordbot.house import texts, until
from tests.integration.discordbot.place import ANSWER, DiscordPlace, search
from tests.scripted import says

EXACTLY = says("Exactly there: the key hangs under the stairs [1].")


async def test_an_edited_question_is_answered_anew_in_the_same_post(place: DiscordPlace) -> None:
    place.says(search(), ANSWER, search("e1"), EXACTLY)
    async with place.open() as house:
        asked = await house.ask()
        [before] = house.posts()
        await house.ada.edit(asked, f"{house.bot} where exactly is the key?")
        after = await house.shows("Exactly there")
        assert [item.id for item in house.posts()] == [before.id] == [after.id]
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        assert [item.content for item in messages if item.role == "user"] == ["where exactly is the key?"]


async def test_a_question_edited_while_it_is_answered_has_one_answer(place: DiscordPlace) -> None:
    place.says(search(), ANSWER, search("e1"), EXACTLY)
    async with place.open() as house:
        place.provider.held = {1}
        asked = await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await house.drafts("I have looked")
        await house.ada.edit(asked, f"{house.bot} where exactly is the key?")
        await house.shows("Exactly there")
        [answer] = await house.answered()
        assert "I have looked" not in texts(answer)


async def test_what_follows_a_mention_that_asks_nothing_yet_is_answered_in_its_post(
    place: DiscordPlace,
) -> None:
    place.says(search(), ANSWER, search("e1"), EXACTLY)
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} about the key")
        [before] = await house.answered()
        await house.ada.send(house.channel, "where exactly does it hang?")
        await house.shows("Exactly there")
        assert [item.id for item in house.posts()] == [before.id] and len(house.channel.threads) == 1
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        asked = [item.content for item in messages if item.role == "user"]
        assert asked == ["about the key\nwhere exactly does it hang?"]


async def test_an_edit_that_takes_the_mention_away_leaves_the_answer_as_it_is(place: DiscordPlace) -> None:
    async with place.open() as house:
        asked = await house.ask()
        await house.ada.edit(asked, "never mind")
        assert await place.codes() == ["needs_mention", "accepted"]
        assert len(house.posts()) == 1


async def test_a_message_edited_to_mention_the_bot_is_a_question(place: DiscordPlace) -> None:
    async with place.open() as house:
        said = await house.ada.send(house.channel, "where is the key?")
        await house.ada.edit(said, f"{house.bot} where is the key?")
        await house.answered()
        assert house.thread.id == said.id


async def test_a_deleted_question_is_forgotten_with_its_answer(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        follow_up = await house.ada.send(house.thread, "And who put it there?")
        first, _ = await house.answered(count=2)
        await house.ada.delete(follow_up)
        await until(lambda: [item.id for item in house.posts()] == [first.id])
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        assert [item.content for item in messages if item.role == "user"] == ["where is the key?"]


async def test_a_question_deleted_while_it_is_answered_leaves_no_post(place: DiscordPlace) -> None:
    async with place.open() as house:
        place.provider.held = {1}
        asked = await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await house.drafts("I have looked")
        await house.ada.delete(asked)
        await house.env.advance_time(5)
        await until(lambda: house.posts() == [])
        assert await place.conversations.list_conversations("local") == []
        assert [entry.status for entry in await place.entries.recent("local")] == ["cancelled"]


async def test_a_question_deleted_in_a_thread_that_a_new_process_was_told_nothing_of_is_forgotten(
    place: DiscordPlace,
) -> None:
    async with place.open() as house:
        await house.ask()
        follow_up = await house.ada.send(house.thread, "And who put it there?")
        await house.answered(count=2)
        house.env.backend.edit_channel(house.thread.id, {}, thread_metadata={"archived": True})
        await house.env.settle()
        known = place.client.get_guild(house.guild.id)
        assert known is not None
        known._remove_thread(discord.Object(house.thread.id))  # as after a start: Discord tells of open threads alone
        house.env.backend.delete_message(house.thread.id, follow_up.id)
        await house.env.settle()
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        assert [item.content for item in messages if item.role == "user"] == ["where is the key?"]


async def test_questions_deleted_in_bulk_are_all_forgotten(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        first = await house.ada.send(house.thread, "And the other key?")
        second = await house.ada.send(house.thread, "And the cat?")
        await house.answered(count=3)
        house.env.backend.bulk_delete_messages(house.thread.id, [first.id, second.id])
        await house.env.settle()
        await until(lambda: len(house.posts()) == 1)
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        assert [item.role for item in messages] == ["user", "tool_result", "assistant"]


async def test_a_deleted_direct_message_is_forgotten_too(place: DiscordPlace) -> None:
    async with place.open() as house:
        asked = await house.ada.send_dm("Where is the key?")
        await house.answered(house.ada.user.dm_channel)
        await house.ada.user.delete(asked)
        await until(lambda: house.posts(house.ada.user.dm_channel) == [])
        assert await place.conversations.list_conversations("local") == []


async def test_a_thread_that_people_rename_renames_its_conversation(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        house.env.backend.edit_channel(house.thread.id, {"name": "Keys of the house"})
        await house.env.settle()
        [conversation] = await place.conversations.list_conversations("local")
        assert conversation.title == "Keys of the house"


async def test_other_changes_of_a_thread_leave_the_title_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        [conversation] = await place.conversations.list_conversations("local")
        await place.conversations.rename(conversation.id, "local", "Keys")
        house.env.backend.edit_channel(house.thread.id, {}, thread_metadata={"archived": True})
        await house.env.settle()
        [conversation] = await place.conversations.list_conversations("local")
        assert conversation.title == "Keys"


async def test_the_archived_threads_of_a_deleted_channel_are_forgotten_with_it(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        known = place.client.get_guild(house.guild.id)
        assert known is not None
        known._remove_thread(discord.Object(house.thread.id))
        house.env.backend.delete_channel(house.channel.id)
        await house.env.settle()
        assert await place.conversations.list_conversations("local") == []


async def test_a_deleted_thread_is_forgotten(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        house.env.backend.delete_channel(house.thread.id)
        await house.env.settle()
        assert await place.conversations.list_conversations("local") == []


async def test_a_muted_thread_waits_for_mentions_until_it_is_unmuted(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        await house.ada.slash(house.thread, "mute")
        await house.ada.send(house.thread, "And who put it there?")
        assert await place.codes() == ["muted", "accepted"]
        await house.ada.send(house.thread, f"{house.bot} and who put it there?")
        await house.answered(count=2)
        await house.ada.slash(house.thread, "unmute")
        await house.ada.send(house.thread, "And why?")
        assert await house.answered(count=3)


async def test_a_thread_of_people_can_be_listened_to(place: DiscordPlace) -> None:
    async with place.open() as house:
        house.env.backend.create_thread(house.channel.id, "Keys", house.ben.id)
        await house.env.settle()
        await house.ada.slash(house.thread, "listen")
        await house.ben.send(house.thread, "Where is the key?")
        assert await house.answered(house.thread)
