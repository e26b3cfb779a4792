"""Live channels on Discord: what is kept of them, and how it goes."""

import discord
from simcord.actors import MemberActor
from simcord.enums import ChannelType

from core.domain.incoming import ChannelAddress
from tests.integration.discordbot.house import House, told
from tests.integration.discordbot.place import DiscordPlace

SHED, BOAT = "The ladder is in the shed.", "The oars are in the boat."


async def turn_on(place: DiscordPlace, house: House, admin: MemberActor) -> None:
    """An admin makes the channel a source, which is open when this returns."""
    await admin.slash(house.channel, "settings", name="live_channel", value="on")
    await house.shows("From now on I keep", house.channel)
    await place.until_open("discord", str(house.channel.id))


async def test_talk_between_people_in_the_named_channel_is_kept_and_nothing_else(place: DiscordPlace) -> None:
    async with place.open() as house:
        admin = house.admin()
        other = house.guild.create_text_channel("other")
        early = await house.ben.send(house.channel, SHED)
        await turn_on(place, house, admin)
        await house.ben.send(other, "elsewhere")
        await house.ask()
        await house.ben.send(house.thread, "and the other key?")
        await house.ada.send(house.channel, "Thanks!", reply_to=early)
        quiet = house.env.backend.create_thread(
            house.channel.id, "quiet", house.ben.id, type=ChannelType.PRIVATE_THREAD
        )
        house.env.backend.create_message(quiet.id, house.ben.id, "for few")
        await place.until_read(SHED, "Thanks!")
        source = await place.live.find(
            ChannelAddress(platform="discord", workspace="local", channel=str(house.channel.id))
        )
        assert source is not None and source.readers == {f"channel:{house.channel.id}"}
        documents = await place.shelf.corpus.list_documents("local", frozenset({source.id}))
        assert [one.path for one in documents] == [f"{early.id}.said"]  # a reply is in its thread

        place.live.recheck(ChannelAddress(platform="discord", workspace="local", channel=str(house.channel.id)))
        await place.until_open("discord", str(house.channel.id))
        await place.until_read(SHED, "Thanks!")


async def test_edits_single_and_bulk_deletions_and_removed_threads_reach_the_library(place: DiscordPlace) -> None:
    async with place.open() as house:
        admin = house.admin()
        await turn_on(place, house, admin)
        said = [await house.ben.send(house.channel, f"Number {number}.") for number in range(4)]
        thread = house.env.backend.create_thread(house.channel.id, "talk", house.ben.id, message_id=said[3].id)
        house.env.backend.create_message(thread.id, house.ben.id, BOAT)
        await place.until_read("Number 0.", "Number 1.", "Number 2.", "Number 3.", BOAT)
        await house.ben.edit(said[0], SHED)
        await house.ben.delete(said[1])
        await place.until_read(SHED, "Number 2.", "Number 3.", BOAT)
        house.env.backend.delete_channel(thread.id)
        await place.until_read(SHED, "Number 2.", "Number 3.")
        await place.client.on_raw_bulk_message_delete(_deleted(house, said[0].id, said[2].id))
        await place.until_read("Number 3.")
        assert await place.kept() == ["Number 3."]


async def test_what_was_deleted_while_nobody_listened_is_never_shown_again(place: DiscordPlace) -> None:
    async with place.open() as house:
        admin = house.admin()
        await turn_on(place, house, admin)
        said = await house.ben.send(house.channel, SHED)
        await house.ben.send(house.channel, BOAT)
        await place.until_read(SHED, BOAT)
        async with place.asleep():
            place.live.note_connection("discord", False)
            await house.ben.delete(said)
            assert await place.read_of_channels() == []
        await place.until_read(BOAT)


async def test_nothing_is_left_of_a_channel_that_is_off_or_that_was_deleted(place: DiscordPlace) -> None:
    async with place.open() as house:
        admin = house.admin()
        await turn_on(place, house, admin)
        await house.ben.send(house.channel, SHED)
        await place.until_read(SHED)
        shown = await house.ada.slash(house.channel, "catchup", since="2 hours")
        assert SHED in told(shown) and shown.ephemeral
        await admin.slash(house.channel, "settings", name="live_channel", value="off")
        await house.shows("deleted what I had", house.channel)
        assert (await place.kept(), await place.live.sources()) == ([], [])

        await turn_on(place, house, admin)
        await place.until_read(SHED)
        house.env.backend.delete_channel(house.channel.id)
        await house.env.settle()
        assert (await place.kept(), await place.live.sources()) == ([], [])


def _deleted(house: House, *ids: int) -> discord.RawBulkMessageDeleteEvent:
    data = {"ids": [str(id) for id in ids], "channel_id": str(house.channel.id), "guild_id": str(house.guild.id)}
    return discord.RawBulkMessageDeleteEvent(data)  # type: ignore[arg-type]  # as Discord sends it
