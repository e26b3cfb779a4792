"""[discord] ask_channels and ask_roles: other questions are refused in a sentence, also in direct messages."""

from dataclasses import dataclass, field

import pytest

from bot.config.sections import DiscordConfig
from bot.discordbot.events.askers import discord_gates
from core.service.inbox import MAY_NOT_ASK, OTHER_CHANNEL, Gate
from tests.integration.discordbot.place import KEY, DiscordPlace, turns


@dataclass
class ClosedPlace(DiscordPlace):
    allowed: DiscordConfig = field(default_factory=DiscordConfig)

    def gates(self) -> tuple[Gate, ...]:
        return discord_gates(self.settings, self.clock, self.client, self.bindings, self.allowed)


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
        await house.shows(MAY_NOT_ASK.sentence, house.channel)
        await house.ada.send_dm("where is the key?")
        await house.shows(MAY_NOT_ASK.sentence, house.ada.user.dm_channel)
        assert house.channel.threads == []
        await eve.send(house.channel, f"{house.bot} where is the key?")
        await house.answered()


async def test_only_chosen_channels_are_answered(place: ClosedPlace) -> None:
    async with place.open() as house:
        other = house.guild.create_text_channel("other")
        place.allowed = DiscordConfig(ask_channels=(str(house.channel.id),))
        await place.restart()
        await house.ada.send(other, f"{house.bot} where is the key?")
        await house.shows(OTHER_CHANNEL.sentence, other)
        await house.ada.send(other, "between people")
        await house.ask()
        assert len(house.posts(other)) == 1
