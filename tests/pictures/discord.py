"""Pictures of Footnote on Discord, for the documentation.

    python -m tests.pictures.discord docs/pictures

The real client answers from a made-up handbook on a simulated Discord; what people would see is drawn by a browser
(chromium on the PATH). Installed with requirements-bench.lock.
"""

import argparse
import asyncio
import shutil
from pathlib import Path
from typing import Any

import discord
from playwright.async_api import BrowserType
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle

from tests.integration.discordbot.house import House, buttons, told, until
from tests.integration.discordbot.place import DiscordPlace
from tests.pictures.handbook import ANSWER, DRAFT, FIRST, PAGES, QUESTION, look_up
from tests.scripted import says

WIDTH = 920
MORNING_SECONDS = 9.4 * 3_600


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    folder = arguments.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    _use_installed_browser()
    asyncio.run(draw(folder))


async def draw(folder: Path) -> None:
    """All four pictures; each is a scene of the one before."""
    place = DiscordPlace()
    place.says(look_up(), says(FIRST), *(look_up(), says(ANSWER)) * 2)
    await place.shelf.add("keepers.md", *PAGES, title="The keeper's handbook")
    async with place.open() as house:
        house.env.backend.bot_user.name = "Footnote"
        await house.env.advance_time(MORNING_SECONDS)
        await house.ada.send(house.channel, f"{house.bot} where is the log?")
        await house.answered()
        await house.ada.send(house.thread, QUESTION)
        answer = (await house.answered(count=2))[-1]
        await _save(house, folder / "discord-answer.png", house.thread, house.ada, 800)
        passages = await house.ada.click(answer, label="Show sources")
        assert passages.response is not None
        await _save(house, folder / "discord-passages.png", house.thread, house.ada, 640, passages.response.message)
        await _draw_running(place, house, folder)
        await _draw_threads(place, house, folder)


async def _draw_running(place: DiscordPlace, house: House, folder: Path) -> None:
    place.provider.said = DRAFT
    place.provider.held = {len(place.provider.requests) + 1}
    await house.ben.send(house.channel, f"{house.bot} and what if there is fog?")
    await house.drafts("hoist the black cone at once")
    await house.env.settle()
    await _save(house, folder / "discord-steps.png", house.thread, house.ben, 520)
    place.provider.go.set()
    await until(lambda: "Stop" not in buttons(house.posts()[-1]))


async def _draw_threads(place: DiscordPlace, house: House, folder: Path) -> None:
    shown = await house.ada.slash(house.channel, "threads", show="here")
    assert "Conversations of this channel" in told(shown)
    await _save(house, folder / "discord-threads.png", house.channel, house.ada, 460)


async def _save(
    house: House,
    path: Path,
    channel: ChannelHandle,
    viewer: MemberActor,
    height: int,
    target: discord.Message | None = None,
) -> None:
    async with house.env.preview(channel, viewers=[viewer], layout="channel", width=WIDTH, height=height) as preview:
        await preview.screenshot(path, mode="viewport", layout="channel", target=target)


def _use_installed_browser() -> None:
    """The preview asks for playwright's own browser, which is not installed here."""
    chromium = shutil.which("chromium")
    launch = BrowserType.launch

    async def launch_installed(browser: BrowserType, **options: Any) -> Any:
        return await launch(browser, **{"executable_path": chromium, **options})

    BrowserType.launch = launch_installed  # type: ignore[assignment, method-assign]  # the library gives no other way


if __name__ == "__main__":
    main()
