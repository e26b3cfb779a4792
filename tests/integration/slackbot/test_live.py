"""Live channels on Slack: what is kept of them, what isn't, and what closes them."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from core.access.availability import STILL_COMPARING
from core.domain.identity import PersonOnPlatform
from core.domain.incoming import ChannelAddress
from core.errors import ProviderError
from tests.integration.platform_place import until
from tests.integration.slackbot.house import House, shown_of
from tests.integration.slackbot.place import SlackPlace
from tests.scripted import ScriptedProvider, says
from tests.slack_server import Channel

SHED, BOAT = "The ladder is in the shed.", "The oars are in the boat."
ON = "From now on I keep"


def address(channel: Channel) -> ChannelAddress:
    return ChannelAddress(platform="slack", workspace="local", channel=channel.id)


async def turn_on(place: SlackPlace, house: House, channel: Channel | None = None) -> None:
    """Ada is an admin, and makes a channel a source, which is open when this returns."""
    there = channel or house.channel
    house.ada.become_admin()
    await house.ada.slash(there, "settings live_channel on")
    await house.shows(ON, there)
    await place.until_open("slack", there.id)


async def _is(find: Callable[[], Awaitable[list[str]]], wanted: list[str]) -> bool:
    return await find() == wanted


async def is_empty(place: SlackPlace) -> bool:
    return not await place.live.sources()


async def test_talk_between_people_in_the_named_channel_is_kept_and_nothing_else(place: SlackPlace) -> None:
    async with place.open() as house:
        other = house.server.create_channel(house.team, "other", house.ada, house.ben)
        early = await house.ben.say(house.channel, SHED)
        await house.ada.reply(early, "Thanks!")
        await turn_on(place, house)
        await place.until_read(SHED, "Thanks!")  # of its history

        await house.ben.say(other, "elsewhere")
        await house.ben.say(house.ben.dm, "directly")
        await house.server.other_bot("cron", house.channel).say(house.channel, "job done")
        answer = await house.ask()
        await house.ben.reply(answer, "and the other key?")
        await house.ben.say(house.channel, BOAT)
        await place.until_read(SHED, "Thanks!", BOAT)
        await house.ben.slash(house.channel, "settings")
        assert sorted(await place.kept()) == sorted([SHED, "Thanks!", BOAT])

    async with place.open() as house:  # another process, which reads its history: nothing more
        assert SHED not in await place.read_of_channels()


async def test_a_thread_is_a_document_with_a_page_for_each_message(place: SlackPlace) -> None:
    async with place.open() as house:
        await turn_on(place, house)
        said = await house.ben.say(house.channel, SHED)
        asked = await house.ben.say(house.channel, "Who has the brush?")
        reply = await house.ada.reply(said, "Since when?")
        await house.ada.reply(asked, "Me.")
        await place.until_read(SHED, "Since when?", "Who has the brush?", "Me.")
        source = await place.live.find(address(house.channel))
        assert source is not None and source.readers == {f"channel:{house.channel.id}"}

        async def titles() -> list[str]:
            listed = await place.shelf.corpus.list_documents("local", frozenset({source.id}))
            return sorted(one.title.partition(", ")[0] for one in listed)

        await until(lambda: _is(titles, ["Said in #general by ben"] * 2))  # a name may come later
        documents = await place.shelf.corpus.list_documents("local", frozenset({source.id}))
        document, answered = sorted(documents, key=lambda one: one.path)
        pages = await place.shelf.corpus.list_pages(document.id, await place.shelf.access.scope("local"))
        assert [page.title.partition(", ")[0] for page in pages] == [
            "Said in #general by ben",
            "Said in #general by ada",
        ]
        assert [page.heading_path for page in pages] == [(), ()]
        below = await place.shelf.corpus.list_pages(answered.id, await place.shelf.access.scope("local"))
        assert [page.heading_path for page in below] == [(), ("Who has the brush?",)]
        place_of_reply = f"p{reply.ts.replace('.', '')}?thread_ts={said.ts}&cid={house.channel.id}"
        assert str(pages[1].deep_link).endswith(place_of_reply)


async def test_edits_and_deletions_reach_the_library_and_repeated_events_bring_nothing_back(place: SlackPlace) -> None:
    async with place.open() as house:
        await turn_on(place, house)
        said = await house.ben.say(house.channel, SHED)
        await place.until_read(SHED)
        parcel = next(one for one in house.server.parcels if one.event.get("ts") == said.ts)
        await house.ben.edit(said, BOAT)
        await place.until_read(BOAT)
        await house.ben.delete(said)
        await place.until_read()
        house.server.redeliver(parcel)
        await house.server.settle()
        assert await place.kept() == []


async def test_what_was_deleted_while_nobody_listened_is_never_shown_again(place: SlackPlace) -> None:
    async with place.open() as house:
        await turn_on(place, house)
        said = await house.ben.say(house.channel, SHED)
        kept = await house.ben.say(house.channel, BOAT)
        await place.until_read(SHED, BOAT)
        async with place.asleep():
            await house.ben.delete(said)
            await house.ben.edit(kept, "The oars are at the pier.")
            house.server.fail_next("conversations.history", "internal_error")
        assert await place.read_of_channels() == []  # closed
        await house.ada.slash(house.channel, "catchup")
        await house.told(house.ada, STILL_COMPARING)
        place.live.recheck(address(house.channel))
        await place.until_read("The oars are at the pier.")


async def test_only_admins_turn_it_on_and_not_where_another_company_reads(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ben.slash(house.channel, "settings live_channel on")
        await house.told(house.ben, "Only an admin can change this channel's settings.")
        shared = house.server.create_channel(house.team, "with-bravo", house.ada)
        shared.is_external = True
        house.ada.become_admin()
        await house.ada.slash(shared, "settings live_channel on")
        await house.told(house.ada, "People of another company read this channel", shared)
        await house.ada.slash(house.ada.dm, "settings live_channel on")
        await house.told(house.ada, "not direct or group messages", house.ada.dm)
        assert await place.live.sources() == []


async def test_nothing_is_left_of_a_channel_that_is_off_or_that_the_bot_has_left(place: SlackPlace) -> None:
    async with place.open() as house:
        await turn_on(place, house)
        await house.ben.say(house.channel, SHED)
        await place.until_read(SHED)
        await house.ada.slash(house.channel, "settings live_channel off")
        await house.shows("deleted what I had")
        assert (await place.kept(), await place.live.sources()) == ([], [])

        await turn_on(place, house)
        await place.until_read(SHED)
        await house.ben.remove(house.channel)
        await until(lambda: is_empty(place))
        assert await place.kept() == []


async def test_nothing_is_left_of_a_channel_that_is_shared_with_another_company(place: SlackPlace) -> None:
    async with place.open() as house:
        await turn_on(place, house)
        await house.ben.say(house.channel, SHED)
        await place.until_read(SHED)
        await house.ada.share_channel(house.channel)
        await until(lambda: is_empty(place))
        await house.ben.say(house.channel, BOAT)
        await house.server.settle()
        assert await place.kept() == []


async def test_old_threads_and_the_messages_of_a_removed_person_go(place: SlackPlace) -> None:
    async with place.open() as house:
        await turn_on(place, house)
        await house.ben.say(house.channel, SHED)
        await place.until_read(SHED)
        house.server.advance(timedelta(days=20).total_seconds())
        await house.ada.say(house.channel, BOAT)
        await place.until_read(SHED, BOAT)
        house.server.advance(timedelta(days=11).total_seconds())
        assert await place.live.tidy() == 1
        await place.until_read(BOAT)

        person = PersonOnPlatform(workspace="local", platform="slack", id=house.ada.id)
        assert await place.live.forget_person(person) == 1
        place.live.recheck(address(house.channel))  # on Slack, it is still there
        await place.until_open("slack", house.channel.id)
        assert await place.kept() == []


@pytest.mark.parametrize("is_written", [False, True])
async def test_somebody_who_was_away_catches_up_alone(place: SlackPlace, is_written: bool) -> None:
    if is_written:
        place.writer = ScriptedProvider([says("- Ben decided on green paint [2].\n- Small talk.\n- Nothing [7].")])
    async with place.open() as house:
        await turn_on(place, house)
        said = "Good morning!", "We decided to take the green paint. It dries fast.", "Who has the brush?"
        for words in said:
            await house.ben.say(house.channel, words)
        await place.until_read(*said)
        await house.ada.slash(house.channel, "catchup 2 hours")
        told = shown_of(await house.told_once(house.ada, "3 messages of 1 person"))
        assert "[[1]](https://footnote.example.org/s/1) Said in #general by ben, " in told
        if is_written:
            assert "Ben decided on green paint [[1]](" in told and "Small talk" not in told and "Nothing" not in told
        else:
            assert "ben: “We decided to take the green paint.” [[1]](" in told
            assert "ben: “Who has the brush?” [[2]](" in told
        assert not [one for one in house.posts() if "green paint" in shown_of(one)]
        await house.ada.slash(house.channel, "catchup")
        await house.told(house.ada, "nobody else wrote here")
        await house.ada.slash(house.channel, "catchup whenever")
        await house.told(house.ada, "'whenever' is no time that I know")


async def test_what_messages_do_not_support_gives_way_to_their_words(place: SlackPlace) -> None:
    lines = (
        "- Ben decided not to take the green paint [1].",
        "- Ben says the green paint dries fast [2].",
        "- Ben buys 9 brushes [3].",
    )
    place.writer = ScriptedProvider([says("\n".join(lines))])
    async with place.open() as house:
        await turn_on(place, house)
        said = "We decided to take the green paint.", "The green paint dries fast.", "I'll buy 4 brushes on Monday."
        for words in said:
            await house.ben.say(house.channel, words)
        await place.until_read(*said)
        await house.ada.slash(house.channel, "catchup")
        told = shown_of(await house.told_once(house.ada, "3 messages of 1 person"))
        assert "ben: “We decided to take the green paint.” [[1]](" in told
        assert "Ben says the green paint dries fast [[2]](" in told
        assert "ben: “I'll buy 4 brushes on Monday.” [[3]](" in told
        assert "decided not" not in told and "9 brushes" not in told


async def test_a_model_that_fails_is_no_visit(place: SlackPlace) -> None:
    place.writer = ScriptedProvider([ProviderError("The model is away."), says("- Ben bought paint [1].")])
    async with place.open() as house:
        await turn_on(place, house)
        await house.ben.say(house.channel, "I bought paint.")
        await place.until_read("I bought paint.")
        await house.ada.slash(house.channel, "catchup")
        await house.told(house.ada, "The model is away")
        await house.ada.slash(house.channel, "catchup")
        assert "Ben bought paint [[1]](" in shown_of(await house.told(house.ada, "1 message of 1 person"))
