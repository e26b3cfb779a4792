"""Channels that an admin made a source: what people say there is cited for its readers, until they delete it."""

import pytest

from tests.e2e.platform_service import PlatformService
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
ON, OFF = "From now on I keep what people say", "deleted what I had"


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
    general, ada = service.settle_in()
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

    # edited and deleted
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

    # turned off
    await admin.slash(bridge, "settings live_channel off")
    await service.told(admin, bridge, OFF)
    await service.until(lambda: not has_read(service, "lighthouse of Ondar"), "nothing kept")
    await service.stop()
    assert left(service, *MARKS) == []
