"""When the bot speaks on Slack where nobody named it, and what it knows of people's talk."""

import asyncio

import pytest

from core.domain.incoming import ChannelAddress
from core.domain.service import AutoAnswer, ChannelSettings
from core.errors import ProviderOverloaded
from tests.integration.platform_place import a_day_later, search, turns
from tests.integration.slackbot.house import is_final, shown_of
from tests.integration.slackbot.place import SlackPlace
from tests.scripted import says


async def until_decided(place: SlackPlace, count: int) -> None:
    """Wait until the inbox has decided about so many messages."""
    for _ in range(6000):
        if len(await place.codes()) >= count:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(await place.codes())


async def test_thanks_get_a_reaction_and_without_its_scope_nothing(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        thanks = await house.ben.reply(answer, "brilliant, cheers")
        await house.server.wait_for(lambda: thanks.reactions, what="a reaction")
        assert thanks.reactions == {"+1": [house.team.bot.id]}
        assert len(house.posts()) == 1

        assert house.team.install is not None
        house.team.install.scopes.remove("reactions:write")
        again = await house.ben.reply(answer, "thanks!")
        await until_decided(place, 3)
        await house.server.settle()
        assert again.reactions == {}
        assert len(house.posts()) == 1


async def test_talk_and_thanks_in_its_thread_get_no_post(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        said = [
            (house.ben, "brilliant, cheers"),
            (house.ben, "ada, are you coming to the pub?"),
            (house.ada, "only for one"),
        ]
        for count, (person, text) in enumerate(said, start=2):
            await person.reply(answer, text)
            await until_decided(place, count)
        assert await place.codes() == ["chatter", "for_people", "acknowledged", "accepted"]
        assert len(house.posts()) == 1


async def test_a_follow_up_is_answered_with_the_talk_before_it(place: SlackPlace) -> None:
    place.says(*turns(2))
    async with place.open() as house:
        answer = await house.ask()
        await house.ben.reply(answer, "the spare one went to Piotr")
        await until_decided(place, 2)
        await house.ada.mention(house.channel, "who has the spare key?", thread=answer)
        await house.answered(count=2)
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        told = [item.content for item in messages if item.role == "user"]
        assert told == ["where is the key?", "the spare one went to Piotr", "who has the spare key?"]


async def test_where_slack_rations_reading_the_talk_is_known_from_its_events(place: SlackPlace) -> None:
    place.says(*turns(2))
    async with place.open() as house:
        answer = await house.ask()
        await house.ben.reply(answer, "the spare one went to Piotr")
        gone = await house.ben.reply(answer, "Marta took the red one home")
        await until_decided(place, 3)
        await house.ben.delete(gone)
        house.server.fail_next("conversations.replies", status=429, retry_after_seconds=60, times=9)
        await house.ada.mention(house.channel, "who has the spare key?", thread=answer)
        await house.answered(count=2)
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        told = [item.content for item in messages if item.role == "user"]
        assert told == ["where is the key?", "the spare one went to Piotr", "who has the spare key?"]


@pytest.mark.parametrize("is_rationed", [False, True])
async def test_a_question_in_a_channel_that_leans_on_its_talk_is_read_with_it(
    place: SlackPlace, *, is_rationed: bool
) -> None:
    async with place.open() as house:
        await house.ben.say(house.channel, "the key of the shed is gone")
        other = await house.ada.say(house.channel, "lunch?")
        await house.ben.say(house.channel, "at noon", thread=other)
        await until_decided(place, 3)
        if is_rationed:
            house.server.fail_next("conversations.history", status=429, retry_after_seconds=60, times=9)
        await house.ada.mention(house.channel, "where was it?")
        await house.answered()
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        told = [item.content for item in messages if item.role == "user"]
        assert told == ["the key of the shed is gone", "lunch?", "where was it?"]


async def test_direct_messages_go_on_with_what_was_said_half_an_hour_ago(place: SlackPlace) -> None:
    place.says(*turns(4))
    async with place.open() as house:
        first = await house.ada.say(house.ada.dm, "where is the key?")
        await house.answered(house.ada.dm, 1)
        second = await house.ada.say(house.ada.dm, "and who put it there?")
        await house.answered(house.ada.dm, 2)
        await house.ada.say(house.ada.dm, "and why?", thread=second)
        await house.answered(house.ada.dm, 3)
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        told = [item.content for item in messages if item.role == "user"]
        assert told == ["where is the key?", "and who put it there?", "and why?"]
        assert [one.root for one in house.posts(house.ada.dm)] == [first.ts, second.ts, second.ts]
        house.server.advance(31 * 60)
        await house.ada.say(house.ada.dm, "where is the other key?")
        await house.answered(house.ada.dm, 4)
        assert len(await place.conversations.list_conversations("local")) == 2


async def test_direct_messages_can_be_one_conversation_without_threads(place: SlackPlace) -> None:
    place.says(*turns(4))
    place.direct_is_one = True
    async with place.open() as house:
        await house.ada.say(house.ada.dm, "where is the key?")
        await house.answered(house.ada.dm, 1)
        house.server.advance(24 * 3600)
        await house.ada.say(house.ada.dm, "and who put it there?")
        _, second = await house.answered(house.ada.dm, 2)
        assert [post.thread_ts for post in house.posts(house.ada.dm)] == [None, None]
        assert house.server.calls("chat.startStream") == []
        await house.ada.say(house.ada.dm, "and in a thread?", thread=second)
        *_, third = await house.answered(house.ada.dm, 3)
        assert third.root == second.ts
        asked = []
        for conversation in await place.conversations.list_conversations("local"):
            _, messages = await place.conversations.show(conversation.id, "local")
            asked.append([item.content for item in messages if item.role == "user"])
        assert sorted(asked) == [["and in a thread?"], ["where is the key?", "and who put it there?"]]


async def test_a_conversation_that_was_deleted_is_not_continued(place: SlackPlace) -> None:
    place.says(*turns(3))
    async with place.open() as house:
        for count, text in enumerate(("where is the key?", "and who put it there?"), start=1):
            await house.ada.say(house.ada.dm, text)
            await house.answered(house.ada.dm, count)
        [conversation] = await place.conversations.list_conversations("local")
        await place.conversations.delete(conversation.id, "local")
        asked = await house.ada.say(house.ada.dm, "and why?")
        await house.until(lambda: any(post.root == asked.ts and is_final(post) for post in house.posts(house.ada.dm)))
        [another] = await place.conversations.list_conversations("local")
        assert another.id != conversation.id


async def test_what_follows_a_mention_that_asks_nothing_yet_is_answered_in_its_post(place: SlackPlace) -> None:
    place.says(*turns(2))
    async with place.open() as house:
        await house.ada.mention(house.channel, "about the key")
        await house.answered()
        await house.ada.say(house.channel, "where does it hang?")
        await until_decided(place, 2)
        [newest, _] = await place.entries.recent("local")
        while await place.entries.find_open(newest.message_key):  # noqa: ASYNC110 - the store tells no test of it
            await asyncio.sleep(0.01)
        assert await place.codes() == ["accepted", "accepted"] and len(house.posts()) == 1
        [conversation] = await place.conversations.list_conversations("local")
        _, messages = await place.conversations.show(conversation.id, "local")
        asked = [item.content for item in messages if item.role == "user"]
        assert asked == ["about the key\nwhere does it hang?"]


async def test_being_called_into_a_thread_of_people_is_no_subscription(place: SlackPlace) -> None:
    place.says(*turns(2))
    async with place.open() as house:
        root = await house.ben.say(house.channel, "the shed is locked again")
        await house.ada.mention(house.channel, "where is the key?", thread=root)
        await house.answered()
        await house.ada.reply(root, "and where is the other key?")
        await until_decided(place, 3)
        assert (await place.codes())[0] == "needs_mention"
        await house.ada.reply(root, "footnote, and where is the other key?")
        await house.answered(count=2)


async def test_a_channel_that_answers_by_itself_needs_a_question_that_the_library_covers(place: SlackPlace) -> None:
    async with place.open() as house:
        channel = ChannelAddress(platform="slack", workspace="local", channel=house.channel.id)
        await place.settings.save_channel(channel, ChannelSettings(auto_answer=AutoAnswer.LIVE))
        for count, text in enumerate(("hello everybody", "who won the match?", "coffee?"), start=1):
            await house.ben.say(house.channel, text)
            await until_decided(place, count)
        await house.ben.say(house.channel, "where do they keep the key?")
        await house.answered()
        assert (await place.codes())[1:] == ["for_people", "not_covered", "chatter"]


async def test_auto_answers_begin_in_shadow_mode_with_a_private_report_to_the_admin(place: SlackPlace) -> None:
    async with place.open() as house:
        house.ada.become_admin()
        await house.ada.slash(house.channel, "settings auto_answer on")
        await house.shows("auto_answer is shadow")
        await house.ben.say(house.channel, "good morning all")
        await until_decided(place, 1)
        asked = await house.ben.say(house.channel, "where do they keep the key?")
        await until_decided(place, 2)
        link = f"/archives/{house.channel.id}/p{asked.ts.replace('.', '')}"
        await house.ada.slash(house.channel, "settings")
        shown = await house.told(house.ada, "I would have answered 1 of 2 messages")
        assert link in str(shown.blocks)
        assert place.provider.requests == []

        assert await a_day_later(place, "slack", house.channel.id, place.platform) == 1
        assert house.ada.dm is not None
        report = await house.shows("I would have answered 1 of 2 messages", house.ada.dm)
        assert link in str(report.blocks) and "/footnote settings auto_answer live" in shown_of(report)
        assert await place.auto_answers().send_reports({"slack": place.platform}, place.entries) == 0

        await house.ada.slash(house.channel, "settings auto_answer live")
        await house.shows("auto_answer is live")
        await house.ben.say(house.channel, "and where is the spare key kept?")
        await house.answered()


async def test_ratings_of_auto_answers_move_the_bar_of_their_channel(place: SlackPlace) -> None:
    place.says(*turns(2))
    place.relevance = 0.06
    async with place.open() as house:
        channel = ChannelAddress(platform="slack", workspace="local", channel=house.channel.id)
        await place.settings.save_channel(channel, ChannelSettings(auto_answer=AutoAnswer.LIVE))
        await house.ben.say(house.channel, "where do they keep the key?")
        [answer] = await house.answered()
        for count, code in ((2, "not_covered"), (3, "unasked")):  # the second click takes it back
            await house.ben.click(answer, "👎")
            await house.server.settle()
            await house.ben.say(house.channel, "where is the spare key kept?")
            await until_decided(place, count)
            assert (await place.codes())[0] == code


async def test_nothing_is_said_unasked_that_is_no_answer(place: SlackPlace) -> None:
    place.says(search(), says("I could not find out where the key is."), *[ProviderOverloaded("It is overloaded.")] * 8)
    async with place.open() as house:
        channel = ChannelAddress(platform="slack", workspace="local", channel=house.channel.id)
        await place.settings.save_channel(channel, ChannelSettings(auto_answer=AutoAnswer.LIVE))
        for count, text in enumerate(("where do they keep the key?", "where is the spare key kept?"), start=1):
            await house.ben.say(house.channel, text)
            await until_decided(place, count)
            while await place.entries.list_open("local"):  # noqa: ASYNC110 - the store tells nobody
                await asyncio.sleep(0.01)
            assert await place.codes() == ["no_answer"] * count
        assert house.server.answers(house.channel) == []
        assert [call.method for call in house.server.calls("assistant.threads.setStatus")] == []
        assert await place.conversations.list_conversations("local") == []
