"""In a channel that another company shares, nothing is told until an admin has chosen what may be read there."""

import pytest

from bot.presentation.answer_buttons import HOW_LABEL
from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings
from tests.integration.slackbot.house import House, shown_of
from tests.integration.slackbot.place import KEY, SlackPlace
from tests.slack_server import Channel

CLOSED = "People from another company can read this channel"


def shared_channel(house: House) -> Channel:
    channel = house.server.create_channel(house.team, "with-bravo", house.ada, house.ben)
    channel.is_external = True
    return channel


async def choose_sources(place: SlackPlace, channel: Channel) -> None:
    address = ChannelAddress(platform="slack", workspace="local", channel=channel.id)
    chosen = frozenset({place.shelf.source.name})
    await place.settings.save_channel(address, ChannelSettings(sources=chosen))


@pytest.mark.parametrize("over_http", [False, True])
async def test_nobody_is_answered_there_before_the_sources_are_chosen(place: SlackPlace, over_http: bool) -> None:
    place.over_http = over_http
    async with place.open() as house:
        channel = shared_channel(house)
        await house.ada.mention(channel, "where is the key?")
        await house.told_once(house.ada, CLOSED, channel)
        await house.ada.mention(channel, "search key")
        await house.until(lambda: len(house.whispered(house.ada, CLOSED, channel)) == 2)
        await house.ada.slash(channel, "ask where is the key?")
        await house.until(lambda: len(house.whispered(house.ada, CLOSED, channel)) == 3)
        assert house.posts(channel) == []
        assert await place.codes() == ["other_companies"] * 3
        assert KEY not in house.server.transcript(channel)


async def test_talk_that_is_not_for_the_bot_stays_without_a_word_there(place: SlackPlace) -> None:
    async with place.open() as house:
        channel = shared_channel(house)
        await house.ben.say(channel, "good morning")
        await house.server.settle()
        assert await place.codes() == ["needs_mention"]
        assert house.server.answers(channel) == []


async def test_with_chosen_sources_it_answers_as_anywhere(place: SlackPlace) -> None:
    async with place.open() as house:
        channel = shared_channel(house)
        await choose_sources(place, channel)
        answer = await house.ask(place=channel)
        assert "under the stairs" in shown_of(answer)
        shown = await house.ben.click(answer, "Show sources")
        assert KEY in shown_of(await house.modal(shown, "stairs"))


async def test_an_admin_chooses_them_there(place: SlackPlace) -> None:
    async with place.open() as house:
        channel = shared_channel(house)
        house.ada.become_admin()
        await house.ada.slash(channel, f"settings sources {place.shelf.source.name}")
        await house.shows("sources is", channel)
        assert "under the stairs" in shown_of(await house.ask(place=channel))


async def test_what_was_answered_before_a_company_came_in_is_not_opened_further(place: SlackPlace) -> None:
    async with place.open() as house:
        answer = await house.ask()
        house.channel.is_external = True
        await house.ben.say(house.channel, "hello from Bravo")
        await house.server.settle()
        for shown in (await house.ben.click(answer, "Show sources"), await house.ben.choose(answer, HOW_LABEL)):
            assert shown.modal is None
        await house.until(lambda: len(house.whispered(house.ben, CLOSED)) == 2)


async def test_in_private_its_own_people_are_answered(place: SlackPlace) -> None:
    async with place.open() as house:
        channel = shared_channel(house)
        await house.ada.slash(channel, "ask where is the key? --private")
        private = await house.told(house.ada, "under the stairs", channel)
        assert private.only_to == house.ada.id
        await house.ada.choose(private, "Share with the channel")
        await house.told(house.ada, CLOSED, channel)
        assert "under the stairs" not in "".join(map(shown_of, house.posts(channel)))


async def test_where_it_cannot_be_found_out_nothing_is_told(place: SlackPlace) -> None:
    async with place.open() as house:
        house.server.fail_next("conversations.info", "channel_not_found", times=9)
        await house.ada.slash(house.channel, "ask where is the key?")
        await house.told(house.ada, CLOSED)
        assert "under the stairs" not in house.server.transcript(house.channel)
