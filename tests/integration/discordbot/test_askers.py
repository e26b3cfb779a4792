"""[discord] ask_channels and ask_roles: other questions are refused in a sentence, also in direct messages."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import discord
import pytest
from simcord.builders import ChannelHandle

from bot.config.sections import DiscordConfig
from bot.discordbot.events.askers import discord_gates
from bot.discordbot.events.client import REFUSED
from bot.presentation.refusals import TOLD_FOR
from core.service.inbox import MAY_NOT_ASK, OTHER_CHANNEL, Gate
from tests.integration.discordbot.house import until
from tests.integration.discordbot.place import KEY, DiscordPlace, turns


@dataclass
class ClosedPlace(DiscordPlace):
    allowed: DiscordConfig = field(default_factory=DiscordConfig)

    def gates(self) -> tuple[Gate, ...]:
        return discord_gates(self.settings, self.client, self.bindings, self.allowed)


def reactions(channel: ChannelHandle, message: int) -> list[str]:
    found = next(item for item in channel.history() if item.id == message)
    return [str(one.emoji) for one in found.reactions]


def take_no_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody has closed their direct messages."""
    response: Any = SimpleNamespace(status=403, reason="Forbidden")

    async def refuse(*_: object, **__: object) -> None:
        raise discord.Forbidden(response, {"code": 50007, "message": "Cannot send messages to this user"})

    monkeypatch.setattr(discord.Member, "send", refuse)


@pytest.fixture
async def place() -> ClosedPlace:
    place = ClosedPlace(script=turns(4))
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    return place


async def test_only_members_with_the_role_are_answered(place: ClosedPlace) -> None:
    async with place.open() as house:
        role = house.guild.create_role("crew")
        eve = house.guild.add_member(house.env.create_user("eve"), roles=[role])
        place.allowed = DiscordConfig(ask_roles=(str(role.id),))
        await place.restart()
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await house.shows(MAY_NOT_ASK.sentence, house.ada.user.dm_channel)
        await house.ada.send_dm("where is the key?")
        await until(lambda: len(house.posts(house.ada.user.dm_channel)) == 2)
        assert house.posts(house.channel) == []
        assert house.channel.threads == []
        await eve.send(house.channel, f"{house.bot} where is the key?")
        await house.answered()


async def test_only_chosen_channels_are_answered(place: ClosedPlace) -> None:
    async with place.open() as house:
        other = house.guild.create_text_channel("other")
        place.allowed = DiscordConfig(ask_channels=(str(house.channel.id),))
        await place.restart()
        await house.ada.send(other, f"{house.bot} where is the key?")
        await house.shows(OTHER_CHANNEL.sentence, house.ada.user.dm_channel)
        await house.ada.send(other, "between people")
        await house.ask()
        assert (house.posts(other), len(house.posts(house.ada.user.dm_channel))) == ([], 1)


async def test_the_reason_is_told_privately_once_an_hour_and_then_only_a_reaction(place: ClosedPlace) -> None:
    async with place.open() as house:
        other = house.guild.create_text_channel("other")
        place.allowed = DiscordConfig(ask_channels=(str(house.channel.id),))
        await place.restart()
        asked = [await house.ada.send(other, f"{house.bot} question {number}") for number in range(3)]
        await until(lambda: len(reactions(other, asked[2].id)) == 1)
        assert [reactions(other, one.id) for one in asked] == [[], [REFUSED], [REFUSED]]
        await house.env.advance_time(TOLD_FOR.total_seconds())
        await house.ada.send(other, f"{house.bot} and now?")
        await until(lambda: len(house.posts(house.ada.user.dm_channel)) == 2)
        assert (house.posts(other), await place.codes()) == ([], [OTHER_CHANNEL.code] * 4)


async def test_whoever_takes_no_direct_messages_gets_a_reaction(
    place: ClosedPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.open() as house:
        place.allowed = DiscordConfig(ask_channels=("100000000000000000",))
        await place.restart()
        take_no_messages(monkeypatch)
        asked = await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await until(lambda: reactions(house.channel, asked.id) == [REFUSED])
        assert house.posts(house.channel) == []


async def test_what_is_wrong_with_a_message_is_told_to_its_person_alone(place: ClosedPlace) -> None:
    async with place.open() as house:
        for count in (1, 2):
            await house.ada.send(house.channel, house.bot)
            await until(lambda count=count: len(house.posts(house.ada.user.dm_channel)) == count)
        await house.shows("The question is empty", house.ada.user.dm_channel)
        assert house.posts(house.channel) == []


async def test_it_is_a_reply_for_whoever_takes_no_direct_messages(
    place: ClosedPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.open() as house:
        take_no_messages(monkeypatch)
        asked = await house.ada.send(house.channel, house.bot)
        await house.shows("The question is empty", house.channel)
        assert reactions(house.channel, asked.id) == []
