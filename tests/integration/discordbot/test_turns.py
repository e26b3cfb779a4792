"""When the bot speaks on Discord where nobody named it, and what it knows of people's talk."""

import asyncio

from core.domain.incoming import ChannelAddress
from core.domain.service import AutoAnswer, ChannelSettings
from core.errors import ProviderOverloaded
from tests.integration.discordbot.house import House, texts, told, until
from tests.integration.discordbot.place import DiscordPlace, search, turns
from tests.integration.platform_place import a_day_later
from tests.scripted import says


def reactions(house: House) -> list[str]:
    """The reactions to messages of the newest thread."""
    return [str(one.emoji) for message in house.thread.history() for one in message.reactions]


async def test_thanks_get_a_reaction_and_talk_gets_nothing(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        await house.ben.send(house.thread, "brilliant, cheers")
        await until(lambda: reactions(house) == ["👍"])
        await house.ben.send(house.thread, "ada, are you coming to the pub?")
        await house.ada.send(house.thread, "only for one")
        await until_decided(place, 4)
        assert await place.codes() == ["chatter", "for_people", "acknowledged", "accepted"]
        assert len(house.posts()) == 1


async def test_a_follow_up_is_answered_and_why_tells_of_silence(place: DiscordPlace) -> None:
    place.says(*turns(2))
    async with place.open() as house:
        await house.ask()
        await house.ada.send(house.thread, "and who hung it there?")
        await house.answered(count=2)
        await house.ben.send(house.thread, "I could not have guessed that")
        await until_decided(place, 3)
        why = await house.ben.slash(house.thread, "why")
        assert "This didn't ask anything" in told(why)


async def test_the_talk_since_the_last_answer_is_read_with_the_next_question(place: DiscordPlace) -> None:
    place.says(*turns(2))
    async with place.open() as house:
        await house.ask()
        await house.ben.send(house.thread, "the spare one went to Piotr")
        await until_decided(place, 2)
        await house.ada.send(house.thread, f"{house.bot} who has the spare key?")
        await house.answered(count=2)
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        told = [(item.author, item.content) for item in messages if item.role == "user"]
        assert told == [
            ("ada", "where is the key?"),
            ("ben", "the spare one went to Piotr"),
            ("ada", "who has the spare key?"),
        ]


async def test_a_question_in_a_channel_that_leans_on_its_talk_is_read_with_it(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ben.send(house.channel, "the key of the shed is gone")
        await house.ada.send(house.channel, f"{house.bot} where was it?")
        await house.answered()
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        told = [(item.author, item.content) for item in messages if item.role == "user"]
        assert told == [("ben", "the key of the shed is gone"), ("ada", "where was it?")]


async def test_a_greeting_is_answered_without_the_model(place: DiscordPlace) -> None:
    place.says()
    async with place.open() as house:
        await house.ada.send(house.channel, f"{house.bot} guten Morgen!")
        await house.shows("Stell mir eine Frage")
        assert place.provider.requests == []


async def test_a_channel_that_answers_by_itself_needs_a_question_that_the_library_covers(place: DiscordPlace) -> None:
    async with place.open() as house:
        channel = ChannelAddress(platform="discord", workspace="local", channel=str(house.channel.id))
        await place.settings.save_channel(channel, ChannelSettings(auto_answer=AutoAnswer.LIVE))
        for text in ("hello everybody", "who won the match?", "coffee?"):
            await house.ben.send(house.channel, text)
        await house.ben.send(house.channel, "where do they keep the key?")
        await house.answered()
        assert (await place.codes())[1:] == ["for_people", "not_covered", "chatter"]
        assert len(house.channel.threads) == 1


async def test_auto_answers_begin_in_shadow_mode_with_a_private_report_to_the_admin(place: DiscordPlace) -> None:
    async with place.open() as house:
        eve = house.admin()
        await eve.slash(house.channel, "settings", name="auto_answer", value="on")
        await house.ben.send(house.channel, "good morning all")
        asked = await house.ben.send(house.channel, "where do they keep the key?")
        await until_decided(place, 2)
        link = f"https://discord.com/channels/{house.guild.id}/{house.channel.id}/{asked.id}"
        shown = told(await eve.slash(house.channel, "settings"))
        assert "I would have answered 1 of 2 messages" in shown and link in shown
        assert "I would have answered 1" not in told(await house.ben.slash(house.channel, "settings"))
        assert "would_answer" in told(await house.ben.slash(house.channel, "why"))
        assert place.provider.requests == [] and house.channel.threads == []

        assert await a_day_later(place, "discord", str(house.channel.id), place.client.platform) == 1
        report = await house.shows("I would have answered 1 of 2 messages", eve.user.dm_channel)
        assert link in texts(report)
        assert await place.auto_answers().send_reports({"discord": place.client.platform}, place.entries) == 0

        await eve.slash(house.channel, "settings", name="auto_answer", value="live")
        await house.ben.send(house.channel, "and where is the spare key kept?")
        await house.answered()


async def test_ratings_of_auto_answers_move_the_bar_of_their_channel(place: DiscordPlace) -> None:
    place.says(*turns(2))
    place.relevance = 0.06
    async with place.open() as house:
        channel = ChannelAddress(platform="discord", workspace="local", channel=str(house.channel.id))
        await place.settings.save_channel(channel, ChannelSettings(auto_answer=AutoAnswer.LIVE))
        await house.ben.send(house.channel, "where do they keep the key?")
        [answer] = await house.answered()
        await house.ben.click(answer, label="👎")
        await house.ben.send(house.channel, "where is the spare key kept?")
        await until_decided(place, 2)
        assert (await place.codes())[0] == "not_covered"
        await house.ben.click(answer, label="👎")  # taken back
        await house.ben.send(house.channel, "where is the other key kept?")
        await until_decided(place, 3)
        assert (await place.codes())[0] == "unasked"


async def test_nothing_is_said_unasked_that_is_no_answer(place: DiscordPlace) -> None:
    place.says(search(), says("I could not find out where the key is."), *[ProviderOverloaded("It is overloaded.")] * 8)
    async with place.open() as house:
        channel = ChannelAddress(platform="discord", workspace="local", channel=str(house.channel.id))
        await place.settings.save_channel(channel, ChannelSettings(auto_answer=AutoAnswer.LIVE))
        for count, text in enumerate(("where do they keep the key?", "where is the spare key kept?"), start=1):
            await house.ben.send(house.channel, text)
            await until_decided(place, count)
            while await place.entries.list_open("local"):  # nothing tells of it
                await house.env.settle()
            assert await place.codes() == ["no_answer"] * count
        assert house.channel.threads == [] and house.posts(house.channel) == []
        assert "found no answer" in told(await house.ben.slash(house.channel, "why"))
        assert await place.conversations.list_conversations("local") == []


async def until_decided(place: DiscordPlace, count: int) -> None:
    """Wait until the inbox has decided about so many messages."""
    for _ in range(6000):
        if len(await place.codes()) >= count:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(await place.codes())
