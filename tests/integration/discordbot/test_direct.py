"""Direct messages: answered for the server that both are in, and for no other."""

import pytest

from core.errors import StorageError
from tests.integration.discordbot.house import House, texts
from tests.integration.discordbot.place import DiscordPlace


async def test_a_direct_message_is_answered_there(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send_dm("Where is the key?")
        [answer] = await house.answered(house.ada.user.dm_channel)
        assert "hangs under the stairs" in texts(answer)


async def test_a_follow_up_there_belongs_to_the_same_conversation(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send_dm("Where is the key?")
        await house.answered(house.ada.user.dm_channel)
        await house.ada.send_dm("And who put it there?")
        await house.answered(house.ada.user.dm_channel, count=2)
        assert len(await place.conversations.list_conversations("local")) == 1


async def test_with_several_servers_in_common_none_is_guessed(place: DiscordPlace) -> None:
    async with place.open() as house:
        office = House(house.env, "Office")
        place.workspaces[office.guild.id] = "office"
        await house.ada.send_dm("Where is the key?")
        told = await house.shows("We share more than one server", house.ada.user.dm_channel)
        assert "/ask" in texts(told)
        assert await place.codes() == await place.codes("office") == []


async def test_servers_of_one_workspace_are_one(place: DiscordPlace) -> None:
    async with place.open() as house:
        House(house.env, "The other door")
        await house.ada.send_dm("Where is the key?")
        assert await house.answered(house.ada.user.dm_channel)


async def test_on_very_many_servers_nobody_is_looked_for(place: DiscordPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.discordbot.events.workspaces.MAX_GUILDS", 0)
    async with place.open() as house:
        await house.ada.send_dm("Where is the key?")
        assert await house.shows("I'm on too many servers", house.ada.user.dm_channel)


async def test_without_a_server_in_common_there_is_nothing_to_read(place: DiscordPlace) -> None:
    async with place.open() as house:
        stranger = house.env.create_user("stranger")
        await stranger.send_dm("Where is the key?")
        await house.shows("We don't share a server", stranger.dm_channel)
        assert await place.codes() == []


async def test_who_left_the_server_reads_nothing_any_more(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ben.send_dm("Where is the key?")
        await house.answered(house.ben.user.dm_channel)
        ben = house.ben.user
        house.guild.remove_member(house.ben)
        await house.env.settle()
        await ben.send_dm("And the other key?")
        await house.shows("We don't share a server", ben.dm_channel)
        assert await place.codes() == ["accepted"]


async def test_a_message_that_can_not_be_stored_is_not_met_with_silence(
    place: DiscordPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(incoming: object, decision: object) -> None:
        raise StorageError("The disk is full.")

    async with place.open() as house:
        monkeypatch.setattr(place.entries, "accept", full)
        await house.ada.send_dm("Where is the key?")
        await house.shows("Send it again", house.ada.user.dm_channel)
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await house.shows("Send it again", house.channel)
        await house.ada.send(house.channel, "good morning")
        await house.env.settle()
        assert len(house.posts(house.channel)) == 1
