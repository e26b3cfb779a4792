"""[slack] ask_channels: other questions are refused in a sentence that only their person sees, once an hour."""

from functools import partial

import pytest

from bot.presentation.refusals import TOLD_FOR
from core.service.inbox import OTHER_CHANNEL, askers_gate
from tests.integration.slackbot.place import SlackPlace


@pytest.fixture
def closed(place: SlackPlace) -> SlackPlace:
    place.askers = askers_gate({"C0OTHER"}, None)
    return place


async def test_the_reason_is_told_privately_once_an_hour(closed: SlackPlace) -> None:
    async with closed.open() as house:
        for number in range(3):
            await house.ada.mention(house.channel, f"question {number}")
        await house.ben.mention(house.channel, "and I?")
        await house.told_once(house.ben, OTHER_CHANNEL.sentence)
        await house.told_once(house.ada, OTHER_CHANNEL.sentence)
        house.server.advance(TOLD_FOR.total_seconds())
        await house.ada.mention(house.channel, "and now?")
        await house.until(lambda: len(house.whispered(house.ada, OTHER_CHANNEL.sentence)) == 2)
        assert (house.posts(), await closed.codes()) == ([], [OTHER_CHANNEL.code] * 5)


async def test_a_direct_message_is_refused_each_time(closed: SlackPlace) -> None:
    async with closed.open() as house:
        for count in range(1, 3):
            await house.ada.say(house.ada.dm, "where is the key?")
            refused = partial(house.whispered, house.ada, OTHER_CHANNEL.sentence, house.ada.dm)
            await house.until(lambda count=count, refused=refused: len(refused()) == count)
        assert await closed.codes() == [OTHER_CHANNEL.code] * 2


async def test_a_question_that_cannot_be_read_is_told_each_time(place: SlackPlace) -> None:
    async with place.open() as house:
        for count in (1, 2):
            await house.ada.mention(house.channel, "")
            await house.until(lambda count=count: len(house.whispered(house.ada, "The question is empty")) == count)
        assert await place.codes() == ["bad_question"] * 2
