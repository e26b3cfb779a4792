"""Channels that an admin made a source: what people say there is cited for its readers, until they delete it."""

import discord
import pytest
from simcord.backend.models import Overwrite
from simcord.builders import ChannelHandle, GuildHandle
from simcord.enums import OverwriteType

from tests.discord_server import DiscordServer
from tests.discord_server import Person as DiscordPerson
from tests.discord_server import text_of as discord_text
from tests.e2e.discord_service import DiscordService
from tests.e2e.platform_service import TEAM, PlatformService
from tests.e2e.slack_service import SlackService
from tests.scanning import find_in_database, find_in_files
from tests.slack_server import Channel, Message, Person, text_of

pytestmark = pytest.mark.slow
SEXTANT = "The brass sextant of Ondar is locked in the wheelhouse drawer."
ASKED, WHERE = "Where is the brass sextant of Ondar?", "wheelhouse drawer"
COMPASS = "The spare compass of Ondar hangs behind the galley door."
DECIDED = "We decided to paint the lighthouse of Ondar green."
WONDERED = "Who brings the ladder on Friday?"
MARKS = ("wheelhouse drawer", "galley door", "lighthouse of Ondar", "brings the ladder", "harbour office")
ON, OFF = "From now on I keep people's messages", "deleted what I had"


def left(service: PlatformService, *words: str) -> list[str]:
    """The places in the database and in the files where words are."""
    return [
        *find_in_database(f"sqlite:///{service.data / 'footnote.db'}", words),
        *find_in_files(service.data, words),
    ]


def has_read(service: PlatformService, words: str) -> bool:
    """Whether the library has what was said."""
    url = f"sqlite:///{service.data / 'footnote.db'}"
    return any(line.startswith("passage.text:") for line in find_in_database(url, [words]))


def opened(service: PlatformService) -> int:
    """How often a live channel was compared, and opened."""
    return service.process.printed.count(" is open: ")


async def make_live(service: SlackService, place: Channel) -> Person:
    """An admin makes a channel a source, which is open when this returns."""
    admin = service.server.person("ivy", place)
    admin.become_admin()
    before = opened(service)
    await admin.slash(place, "settings live_channel on")
    await service.told(admin, place, ON)
    await service.until(lambda: opened(service) > before, "an open channel")
    return admin


async def caught_up(service: SlackService, person: Person, place: Channel, words: str, period: str = "") -> Message:
    await person.slash(place, f"catchup {period}".strip())
    return await service.told(person, place, words)


async def test_what_is_said_in_a_live_channel_of_slack_is_cited_for_its_readers_until_it_is_deleted(
    slack_service: SlackService,
) -> None:
    service, server = slack_service, slack_service.server
    bridge = server.create_channel(service.team, "bridge", private=True)
    general, _ = service.settle_in()
    ben, eve = server.person("ben", bridge, general), server.person("eve", general)
    await service.start()
    unnamed = await ben.say(general, "The harbour office of Ondar opens at nine.")
    admin = await make_live(service, bridge)

    # said, and asked by others: the footnote is the message
    said = await admin.say(bridge, SEXTANT)
    await service.until(lambda: has_read(service, WHERE), "a message in the library")
    asked = await service.ask(ben, bridge, ASKED)
    [answer] = service.finals(bridge, asked)
    link = f"/archives/{bridge.id}/p{said.ts.replace('.', '')}"
    assert WHERE in text_of(answer) and link in str(answer.blocks)
    assert "Said in #bridge by ivy, " in str(answer.blocks)
    assert not left(service, "harbour office"), unnamed

    # only for those who can read the channel
    elsewhere = await service.ask(ben, general, ASKED)
    await eve.say(eve.dm, ASKED)
    await ben.say(ben.dm, ASKED)
    await service.answered(eve.dm)
    [own] = await service.answered(ben.dm)
    assert not [one for one in server.answers(general, thread=elsewhere) if WHERE in text_of(one)]
    assert not [one for one in server.answers(eve.dm) if WHERE in text_of(one)]
    assert WHERE in own

    # caught up with, for one person alone
    await admin.say(bridge, DECIDED)
    await admin.say(bridge, WONDERED)
    await service.until(lambda: has_read(service, "brings the ladder"), "more messages")
    told = await caught_up(service, ben, bridge, "lighthouse of Ondar green")
    assert told.only_to == ben.id and link.rpartition("/")[0] in str(told.blocks)
    assert WONDERED in text_of(told) and "Said in #bridge by ivy, " in text_of(told)
    assert (await caught_up(service, ben, bridge, "nobody else wrote here")).only_to == ben.id
    assert (await caught_up(service, ben, bridge, "3 messages of 1 person", "3 hours")).only_to == ben.id

    await edit_and_delete_on_slack(service, admin, said, asked)

    # turned off
    await admin.slash(bridge, "settings live_channel off")
    await service.told(admin, bridge, OFF)
    await service.until(lambda: not has_read(service, "lighthouse of Ondar"), "nothing kept")
    await service.stop()
    assert left(service, *MARKS) == []


async def edit_and_delete_on_slack(service: SlackService, admin: Person, said: Message, asked: Message) -> None:
    """A message is edited, then deleted; one more is deleted while nobody listens."""
    server, bridge = service.server, said.channel
    await admin.edit(said, COMPASS)
    await service.until(lambda: has_read(service, "galley door") and not has_read(service, WHERE), "the edit")
    await admin.delete(said)
    await service.until(lambda: not has_read(service, "galley door"), "the deletion")
    await service.until(lambda: WHERE not in text_of(server.answers(bridge, thread=asked)[0]), "a note in its place")
    again = await admin.say(bridge, COMPASS)
    await service.until(lambda: has_read(service, "galley door"), "a message in the library")

    # deleted while nobody listened
    await service.stop()
    await admin.delete(again)
    before = opened(service)
    await service.start()
    await service.until(lambda: opened(service) > before, "an open channel")
    await service.until(lambda: not has_read(service, "galley door"), "the missed deletion")


async def test_what_is_said_in_a_live_channel_of_discord_is_cited_for_its_readers_until_it_is_deleted(
    discord_service: DiscordService,
) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    ivy, ben, eve = (
        server.person("ivy", guild, manage_guild=True),
        *(server.person(name, guild) for name in ("ben", "eve")),
    )
    bridge = closed_channel(server, guild, ivy, ben)
    general = guild.create_text_channel("general")
    await service.start()
    await ben.say(general, "The harbour office of Ondar opens at nine.")
    before = opened(service)
    await ivy.slash(bridge, "settings", name="live_channel", value="on")
    assert ON in await service.told(bridge, ON)
    await service.until(lambda: opened(service) > before, "an open channel")

    # said, and asked by others: the footnote is the message
    said = await ivy.say(bridge, SEXTANT)
    talk = await ivy.open_thread(said, "sextant")
    decided = await ivy.say(talk, DECIDED)
    wondered = await ivy.say(bridge, WONDERED)
    for words in (WHERE, "lighthouse of Ondar", "brings the ladder"):
        await service.until(lambda: has_read(service, words), words)  # noqa: B023 - awaited at once
    place = await service.ask(ben, bridge, ASKED)
    [answer] = service.finals(place)
    link = f"https://discord.com/channels/{guild.id}/{bridge.id}/{said.id}"
    assert WHERE in discord_text(answer) and link in discord_text(answer)
    assert "bridge by ivy, " in discord_text(answer)
    assert not left(service, "harbour office")

    # only for those who can read the channel
    elsewhere = await service.ask(ben, general, ASKED)
    await eve.say(eve.dm, ASKED)
    await service.answered(eve.dm)
    assert not [one for where in (elsewhere, eve.dm) for one in server.answers(where) if WHERE in discord_text(one)]

    # caught up with, for one person alone
    shown = await ben.slash(bridge, "catchup", since="3 hours")
    told = await service.told(bridge, "3 messages of 1 person")
    assert shown.ephemeral and DECIDED in told and WONDERED in told
    assert f"https://discord.com/channels/{guild.id}/{talk.id}/{decided.id}" in told

    await edit_and_delete_on_discord(service, ivy, bridge, said)
    await service.until(lambda: WHERE not in discord_text(server.answers(place)[0]), "a note in its place")
    before = opened(service)
    async with server.gateway_down(resume=False):
        await ivy.delete(wondered)
    await service.until(lambda: opened(service) > before, "an open channel")
    await service.until(lambda: not has_read(service, "brings the ladder"), "the missed deletion")

    # turned off
    await ivy.slash(bridge, "settings", name="live_channel", value="off")
    await service.told(bridge, OFF)
    await service.until(lambda: not has_read(service, "lighthouse of Ondar"), "nothing kept")
    await service.stop()
    assert left(service, *MARKS) == []


async def edit_and_delete_on_discord(
    service: DiscordService, ivy: DiscordPerson, bridge: ChannelHandle, said: discord.Message
) -> None:
    """A message is edited, then deleted; one more is deleted while nobody listens."""
    await ivy.edit(said, COMPASS)
    await service.until(lambda: has_read(service, "galley door") and not has_read(service, WHERE), "the edit")
    await ivy.delete(said)
    await service.until(lambda: not has_read(service, "galley door"), "the deletion")
    again = await ivy.say(bridge, COMPASS)
    await service.until(lambda: has_read(service, "galley door"), "a message in the library")
    await service.stop()
    await ivy.delete(again)
    before = opened(service)
    await service.start()
    await service.until(lambda: opened(service) > before, "an open channel")
    await service.until(lambda: not has_read(service, "galley door"), "the missed deletion")


def closed_channel(server: DiscordServer, guild: GuildHandle, *people: DiscordPerson) -> ChannelHandle:
    """A channel that only these people see, and the bot."""
    backend, everyone = server.world.backend, guild.roles["@everyone"]
    hidden = discord.PermissionOverwrite(view_channel=False)
    channel = guild.create_text_channel("bridge", overwrites={everyone: hidden})
    seen = discord.Permissions(view_channel=True, read_message_history=True).value
    for id in (backend.bot_user.id, *(one.id for one in people)):
        backend.set_overwrite(channel.id, Overwrite(target_id=id, type=OverwriteType.MEMBER, allow=seen, deny=0))
    return channel
