"""What people, payloads and names may not bring about: a private thing in the open, and a bot that is held up."""

import pytest

from tests.integration.slackbot.house import shown_of
from tests.integration.slackbot.place import KEY, SlackPlace

PRIVATELY = "ask where is the key to the cellar? --private"


@pytest.mark.parametrize("command", ["rename My divorce", "delete"])
async def test_what_becomes_of_a_private_conversation_is_not_told_to_its_channel(
    place: SlackPlace, command: str
) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, PRIVATELY)
        await house.told(house.ada, KEY.rstrip("."))
        await house.ada.slash(house.channel, command)
        told = await house.told(house.ada, "“")
        assert shown_of(told).startswith(("Renamed to “My divorce”", "Deleted “where is the key to the cellar?”"))
        assert house.posts() == []
