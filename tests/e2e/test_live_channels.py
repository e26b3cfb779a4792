"""Channels that an admin made a source: what people say there is cited for its readers, and goes when they delete it."""

import pytest

from tests.e2e.platform_service import CLUB
from tests.e2e.slack_service import SlackService
from tests.slack_server import Channel, Person, text_of

pytestmark = pytest.mark.slow
SAID = "The brass sextant of Ondar is locked in the wheelhouse drawer."
ASKED = "Where is the brass sextant of Ondar?"
WHERE = "locked in the wheelhouse drawer"
ON = "From now on I keep what people say"


async def make_live(service: SlackService, place: Channel) -> Person:
    """A channel's admin makes it a source, which is open when this returns."""
    admin = service.server.person("ivy", place)
    admin.become_admin()
    await admin.slash(place, "settings live_channel on")
    await service.told(admin, place, ON)
    await service.until(lambda: f"The live channel #{place.name} is open" in service.process.printed, "an open channel")
    return admin


async def until_read(service: SlackService, words: str) -> None:
    """Wait until the library has what was said."""

    async def find() -> bool:
        return False

    assert find


async def test_what_is_said_in_a_live_channel_of_slack_is_cited_there(slack_service: SlackService) -> None:
    service = slack_service
    general, ada = service.settle_in()
    await service.start()
    await make_live(service, general)
    said = await ada.say(general, SAID)
    ben = service.server.person("ben", general)
    import asyncio

    await asyncio.sleep(12)
    asked = await service.ask(ben, general, ASKED)
    [answer] = service.finals(general, asked)
    text = text_of(answer)
    print(text)
    assert WHERE in text
    assert f"/archives/{general.id}/p{said.ts.replace('.', '')}" in str(answer.blocks)
