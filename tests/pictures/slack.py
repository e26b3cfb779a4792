"""Pictures of Footnote on Slack, for the documentation.

    python -m tests.pictures.slack docs/pictures

The real adapter answers from a made-up handbook on a Slack of the tests; its blocks are drawn by a browser (chromium on
the PATH) near enough to how Slack draws them.
"""

import argparse
import asyncio
import shutil
from pathlib import Path

from playwright.async_api import Page, async_playwright

from tests.integration.slackbot.house import House, buttons
from tests.integration.slackbot.place import SlackPlace
from tests.pictures.block_kit import to_modal, to_page
from tests.pictures.handbook import ANSWER, DRAFT, FIRST, PAGES, QUESTION, look_up
from tests.scripted import says
from tests.slack_server import Message

WIDTH = 800


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    folder = arguments.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(draw(folder))


async def draw(folder: Path) -> None:
    """An answer, its passages, one that is being written, and the home tab."""
    place = SlackPlace()
    place.says(look_up(), says(FIRST), *(look_up(), says(ANSWER)) * 2)
    await place.shelf.add("keepers.md", *PAGES, title="The keeper's handbook")
    async with place.open() as house, async_playwright() as browsers:
        browser = await browsers.chromium.launch(executable_path=shutil.which("chromium"))
        page = await browser.new_page(viewport={"width": WIDTH, "height": 200})
        await house.ask("where is the log?")
        asked = await house.ada.reply(house.posts()[-1], QUESTION)
        answer = (await house.answered(count=2))[-1]
        await _save(page, to_page("Thread in #general", _thread(house, asked)), folder / "slack-answer.png")
        shown = await house.ada.click(answer, "Show sources")
        modal = await house.modal(shown, "barometer")
        await _save(page, to_modal(modal), folder / "slack-passages.png")
        await _draw_running(place, house, page, folder / "slack-steps.png")
        await house.ada.open_home()
        await house.until(lambda: house.ada.home is not None, "the home tab")
        assert house.ada.home is not None
        await _save(page, to_modal(house.ada.home), folder / "slack-home.png")
        await browser.close()


async def _draw_running(place: SlackPlace, house: House, page: Page, path: Path) -> None:
    place.provider.said = DRAFT
    place.provider.held = {len(place.provider.requests) + 1}
    asked = await house.ben.mention(house.channel, "and what if there is fog?")
    draft = await house.shows("hoist the black cone at once")
    await _save(page, to_page("Thread in #general", _thread(house, asked)), path)
    place.provider.go.set()
    await house.until(lambda: "Stop" not in buttons(draft), "the answer")


def _thread(house: House, message: Message) -> list[Message]:
    return [one for one in house.channel.seen_by(house.ada.id) if one.root == message.root]


async def _save(page: Page, content: str, path: Path) -> None:
    await page.set_content(content)
    await page.screenshot(path=path, full_page=True)


if __name__ == "__main__":
    main()
