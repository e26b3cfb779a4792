"""What was said while the bot was away is heard at its next start; nothing is answered twice, and no old talk."""

import asyncio

from bot.discordbot.events.client import ShardedFootnoteClient
from tests.integration.discordbot.house import House, until
from tests.integration.discordbot.place import KEY, DiscordPlace, turns


async def test_a_mention_that_was_missed_is_answered_at_the_next_start(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, "hello")
        async with place.asleep():
            asked = await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await house.answered()
        assert house.thread.id == asked.id


async def test_what_was_missed_in_a_thread_and_directly_is_answered_there(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        await house.ada.send_dm("Where is the key?")
        await house.answered(house.ada.user.dm_channel)
        async with place.asleep():
            await house.ben.send(house.thread, "And who put it there?")
            await house.ada.send_dm("And why?")
        await house.answered(count=2)
        assert await house.answered(house.ada.user.dm_channel, count=2)


async def test_nothing_is_answered_twice(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        await place.restart()
        async with place.asleep():
            await house.ben.send(house.channel, "good night")
        assert sorted(await place.codes()) == ["accepted", "needs_mention"]
        assert len(house.posts()) == 1


async def test_a_server_that_is_new_to_the_bot_gets_no_answers_to_old_talk(place: DiscordPlace) -> None:
    async with place.open() as house:
        async with place.asleep():
            await house.ada.send(house.channel, f"{house.bot} where is the key?")
        assert await place.codes() == []
        assert house.channel.threads == []


async def test_what_is_older_than_the_limit_is_left(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, "hello")
        async with place.asleep():
            await house.ada.send(house.channel, f"{house.bot} where is the key?")
            house.env.backend.advance_clock(25 * 3600)
        assert await place.codes() == ["needs_mention"]


async def test_what_comes_while_it_connects_hides_nothing_that_was_missed(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, "hello")
        async with place.asleep():
            asked = await house.ada.send(house.channel, f"{house.bot} where is the key?")
            house.env.backend.advance_clock(3600)
            early = await house.ben.send(house.channel, "good morning")
            place.before_ready = lambda client: client.on_message(early)
        await house.answered()
        assert house.thread.id == asked.id
        assert sorted(await place.codes()) == ["accepted", "needs_mention", "needs_mention"]


async def test_two_starts_of_a_session_at_once_read_the_channels_one_after_the_other(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, "hello")
        async with place.asleep():
            await house.ada.send(house.channel, f"{house.bot} where is the key?")
        with house.env.time_context():
            await asyncio.gather(place.client.on_ready(), place.client.on_ready())
        await house.answered()
        assert sorted(await place.codes()) == ["accepted", "needs_mention"]


async def test_a_channel_that_can_not_be_read_does_not_hold_up_the_others(place: DiscordPlace) -> None:
    async with place.open() as house:
        other = house.guild.create_text_channel("other")
        await house.ada.send(house.channel, "hello")
        async with place.asleep():
            await house.ada.send(house.channel, f"{house.bot} where is the key?")
            await house.ada.send(other, f"{house.bot} where is the key?")
            house.env.inject_error("GET", f"/channels/{house.channel.id}/messages", status=500, times=1)
        await until(lambda: other.threads)
        await house.answered(other.threads[0])
        assert house.channel.threads == []


async def test_a_sharded_client_serves_several_servers() -> None:
    place = DiscordPlace(script=turns(2), client_of=lambda: ShardedFootnoteClient(shards=2))
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    async with place.open() as house:
        other = House(house.env, "Other")
        assert place.client.shard_count == 2
        await house.ask()
        await other.ask()
        assert len(await place.conversations.list_conversations("local")) == 2
        await place.restart()
        await house.ben.send(house.channel, "good night")
        assert (await place.codes())[0] == "needs_mention"
