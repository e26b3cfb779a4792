"""Pictures of the set-up wizard: each step, from the real service beside a simulated Discord and Slack.

`python -m tests.pictures` takes them with the others; `python -m tests.pictures.setup [FOLDER]` takes them alone.
"""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import discord
from playwright.async_api import Page, expect

from tests.discord_server import TOKEN, DiscordServer
from tests.e2e.browsing import Browsing, browsing
from tests.e2e.test_browser_setup import Machine, add_documents, choose, end, finding, go_on, make_folder
from tests.slack_server import SlackServer

WIDE: dict[str, Any] = {"viewport": {"width": 1000, "height": 720}}
LOOKS: Mapping[str, dict[str, Any]] = {
    "": WIDE,
    "-dark": {**WIDE, "color_scheme": "dark"},
    "-phone": {"viewport": {"width": 390, "height": 780}, "is_mobile": True, "has_touch": True},
}
Save = Callable[[bytes, Path], None]


class Camera:
    """Takes a page in its looks: another browser of the same person opens the same address."""

    def __init__(self, people: Browsing, folder: Path, save: Save) -> None:
        self._people = people
        self._folder = folder
        self._save = save

    async def take(self, page: Page, name: str) -> None:
        self._save(await page.screenshot(animations="disabled"), self._folder / f"{name}.png")
        cookies: Any = await page.context.cookies()
        for look, options in LOOKS.items():
            if look:
                context, other = await self._people.newcomer("about:blank", reduced_motion="reduce", **options)
                await context.add_cookies(cookies)
                await other.goto(page.url)
                await expect(other.locator("h1")).to_be_visible()
                await other.wait_for_load_state("networkidle")
                self._save(await other.screenshot(animations="disabled"), self._folder / f"{name}{look}.png")


async def take_setup(folder: Path, save: Save) -> None:
    """All steps on Discord, and the one that Slack has of its own."""
    with tempfile.TemporaryDirectory() as place:
        async with DiscordServer() as server, browsing() as people:
            await _take_discord(server, people, Path(place), Camera(people, folder, save))
    with tempfile.TemporaryDirectory() as place:
        async with SlackServer() as slack, browsing() as people:
            slack.create_team("acme")
            said = await Machine(slack, Path(place)).start()
            _, page = await people.newcomer(said["setup"], **WIDE)
            camera = Camera(people, folder, save)
            await choose(page, "Slack")
            await go_on(page, "How does Slack reach Footnote?")
            await camera.take(page, "setup-connection")
            await go_on(page, "Create the app, and paste its two tokens")
            await camera.take(page, "setup-slack")


async def _take_discord(server: DiscordServer, people: Browsing, place: Path, camera: Camera) -> None:
    for name in ("Tern Islands Ferries", "Tuesday Table"):
        server.world.create_guild(name).create_text_channel("general")
    server.world.backend.bot_user.name = "Footnote Tern"
    server.world.approved_intents = discord.Intents.default()
    said = await Machine(server, place).start()
    _, page = await people.newcomer(said["setup"], reduced_motion="reduce", **WIDE)
    await choose(page, "Discord")
    await camera.take(page, "setup-platform")
    await go_on(page, "Paste your bot's token")
    await page.fill("input[type=password]", TOKEN)
    await page.click(".moves button.strong")
    await expect(finding(page, "problem", "Message Content Intent is off")).to_be_visible()
    await page.goto(f"{said['url']}setup?step=discord")
    await camera.take(page, "setup-token")
    server.world.approved_intents = discord.Intents.all()
    await expect(finding(page, "ok", "Message Content Intent is on.")).to_be_visible()
    await go_on(page, "Which server?")
    await choose(page, "Tern Islands Ferries")
    await camera.take(page, "setup-server")
    await page.click(".moves button.strong")
    folder = make_folder(place)

    async def take_documents() -> None:
        await page.fill("textarea:visible", "/srv/handbook")
        await page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        await camera.take(page, "setup-documents")
        await page.fill("textarea:visible", str(folder))

    await add_documents(page, folder, before=take_documents)
    await camera.take(page, "setup-model")
    await choose(page, "No model")
    await go_on(page, "Who may ask?")
    await choose(page, "Only in some channels")
    await choose(page, "#general")
    await page.click(".moves button.strong")
    await page.goto(f"{said['url']}setup?step=people")
    await camera.take(page, "setup-people")
    await choose(page, "Everyone in the server")
    await page.click(".moves button.strong")
    await page.goto(f"{said['url']}setup?step=model")
    await end(page)
    await expect(page.locator("#outcome")).to_contain_text("2 documents read, 0 failed")
    await expect(page.locator("#elsewhere")).to_contain_text("Or say it in Discord")
    await camera.take(page, "setup-done")
    await page.goto(f"{said['url']}settings")
    await camera.take(page, "settings")


def main() -> None:
    from tests.pictures.__main__ import FOLDER, save

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(take_setup(folder, save))


if __name__ == "__main__":
    main()
