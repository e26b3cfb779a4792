"""The greeting of a channel that the bot was invited to: what it reads there, a question that works, how to add."""

import asyncio

import pytest

from core.domain.service import InboxStatus
from core.errors import StorageError
from tests.integration.slackbot.house import House, shown_of
from tests.integration.slackbot.place import SlackPlace
from tests.slack_server import Channel, Message

ADDING = "To add documents, choose"


async def invited(house: House, *, private: bool = False) -> Channel:
    channel = house.server.create_channel(house.team, "new", house.ada, with_bot=False, private=private)
    await house.ada.invite(channel)
    return channel


def said_in(message: Message) -> str:
    return shown_of(message).replace("\u200b", "").replace("\\", "")


@pytest.mark.parametrize("private", [False, True], ids=["public", "private"])
async def test_a_channel_is_greeted_with_three_lines(place: SlackPlace, private: bool) -> None:
    async with place.open() as house:
        channel = await invited(house, private=private)
        greeting = await house.shows(ADDING, channel)
        lines = greeting.blocks[0]["text"].replace("\u200b", "").replace("\\", "").split("\n\n")
        assert lines == [
            "I answer questions from 1 document here: handbook.",
            "Try it: @footnote Are gardens locked?",
            "To add documents, choose *Add to the library* in the menu of a message with files, or use /footnote "
            "library add. If you aren't an admin, an admin confirms them first.",
        ]
        assert place.provider.requests == []


async def test_its_question_works_there(place: SlackPlace) -> None:
    async with place.open() as house:
        channel = await invited(house)
        await house.shows("Try it:", channel)
        await house.ada.mention(channel, "Are gardens locked?")
        assert len(await house.answered(channel)) == 1


async def test_repeated_events_and_a_second_invitation_greet_no_more(place: SlackPlace) -> None:
    async with place.open() as house:
        house.server.deliver_twice(name="member_joined_channel")
        channel = await invited(house)
        await house.shows(ADDING, channel)
        await house.ada.remove(channel)
        await house.ada.invite(channel)
        await house.server.settle()
        await place.restart()
        await house.ada.mention(channel, "where is the key?")
        await house.answered(channel)
        assert [ADDING in said_in(one) for one in house.posts(channel)] == [True, False]


async def test_a_team_that_removed_the_app_hears_nothing_more_until_it_is_back(place: SlackPlace) -> None:
    async with place.open() as house:
        channel = await invited(house)
        await house.shows(ADDING, channel)
        place.provider.held = {1}
        asked = await house.ada.mention(house.channel, "where is the key?")
        await house.until(lambda: house.posts(), "the draft")
        await house.ada.uninstall()
        await house.server.settle()
        key = f"slack:local:{house.channel.id}:{asked.ts}"
        for _ in range(1_000):
            if await place.entries.find_open(key):
                await asyncio.sleep(0.02)
        assert [entry.status for entry in await place.entries.list_versions(key)] == [InboxStatus.CANCELLED]
        assert await place.shelf.stores.teams.owe_greeting("slack", f"{house.team.id}/{channel.id}")


async def test_other_people_who_join_are_not_greeted(place: SlackPlace) -> None:
    async with place.open() as house:
        eve = house.server.person("eve", team=house.team)
        await house.ada.invite(house.channel, eve.id)
        await house.server.settle()
        assert house.posts() == []


@pytest.mark.parametrize("lost", [False, True], ids=["before the post", "after it"])
async def test_a_process_that_ends_in_the_middle_greets_once(place: SlackPlace, lost: bool) -> None:
    async with place.open() as house:
        hang = house.server.hang_next("chat.postMessage", after=lost)
        channel = await invited(house)
        await hang.reached.wait()
        await place.restart()
        hang.release()
        await house.shows(ADDING, channel)
        await house.until(lambda: not place.listeners.greetings._greeting, "the end of the greeting")
        assert len(house.posts(channel)) == 1
        assert await place.shelf.stores.teams.owed_greetings("slack") == []


async def test_where_another_company_reads_no_source_is_named(place: SlackPlace) -> None:
    async with place.open() as house:
        channel = house.server.create_channel(house.team, "partners", house.ada, with_bot=False)
        channel.is_external = True
        await house.ada.invite(channel)
        greeting = said_in(await house.shows(ADDING, channel))
        assert "People from another company can read this channel" in greeting
        assert "/footnote settings sources" in greeting
        assert "handbook" not in greeting


@pytest.mark.parametrize("crashes", [False, True], ids=["", "a crash after the post"])
async def test_a_channel_that_was_joined_meanwhile_is_greeted_at_the_next_start_once(
    place: SlackPlace, crashes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(*_: object) -> None:
        raise StorageError("The process died.")

    async with place.open() as house:
        await listed(place, house)
        with monkeypatch.context() as patch:
            if crashes:
                patch.setattr(type(place.shelf.stores.teams), "greeted", crash)
            async with place.asleep():
                house.server.hold_events(name="member_joined_channel")  # for ever
                channel = await invited(house, private=True)
            await house.shows(ADDING, channel)
            await house.until(lambda: not place.listeners.greetings._greeting, "the end of the greeting")
        await place.restart()
        await listed(place, house)
        assert await place.shelf.stores.teams.owed_greetings("slack") == []
        assert (len(house.posts(channel)), house.posts(house.channel)) == (1, [])


async def listed(place: SlackPlace, house: House) -> None:
    """Until the start has listed the channels, and greeted."""
    await house.until(lambda: not place.listeners.handler._running, "the end of the start")
