"""The place of most tests: a house with one document, and a model that knows where the key is."""

from pathlib import Path

import pytest

from tests.integration.discordbot.place import KEY, DiscordPlace, turns


@pytest.fixture
async def place(tmp_path: Path) -> DiscordPlace:
    place = DiscordPlace(script=turns(4), folder=tmp_path / "kept")
    await place.shelf.add(
        "house.md", f"# Keys\n\n{KEY}", "# Are gardens locked?\n\nThe garden has a shed.", title="House"
    )
    return place
