"""The set-up wizard in a real browser: from an empty data directory to an answered mention on Discord and on Slack."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import discord
from playwright.async_api import Page, expect

from tests.bot_process import BotProcess
from tests.discord_server import TOKEN, DiscordServer, text_of
from tests.e2e.browsing import BROWSER_TEST, Browsing, browsing
from tests.e2e.newcomer import DROP
from tests.e2e.test_browser_axe import faults
from tests.platform_server import PlatformServer
from tests.slack_server import SlackServer
from tests.slack_server import text_of as slack_text_of

pytestmark = BROWSER_TEST
TIMEOUT = 120.0
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 780}, "is_mobile": True, "has_touch": True}
KITE = "The red kite of Ondar flies at noon on Thursdays."
FERRY = "The ferry Marigold leaves pier 7."
WIDER = "document.documentElement.scrollWidth - innerWidth"
UNREACHABLE = "{} did not answer."


class Machine:
    """`footnote serve` on an empty data directory, as its terminal and its only person know it."""

    def __init__(self, server: PlatformServer, folder: Path) -> None:
        self.server = server
        self.config = folder / "config.toml"
        self.data = folder / "data"
        command = ("bot", "--config", str(self.config), "--data-dir", str(self.data), "serve", "--json")
        self.config.write_text("")
        self.process: BotProcess = server.bot(
            *command, log=folder / "service.log", environment={"FOOTNOTE_WEB__PORT": "0"}
        )

    async def start(self) -> dict[str, str]:
        """Until it is ready; gives the line it prints."""
        self.process.start()
        await self.server.wait_for(lambda: self._line or not self.process.running, TIMEOUT, what="a service")
        found: dict[str, str] = json.loads(self._line)
        return found

    @property
    def _line(self) -> str:
        return next((line for line in self.process.printed.splitlines() if line.startswith('{"url"')), "")


def finding(page: Page, tone: str, words: str) -> Any:
    return page.locator(f"#findings .{tone}", has_text=words)


async def go_on(page: Page, title: str) -> None:
    """Press Continue, and see the next question."""
    await page.click(".moves button.strong")
    await expect(page.locator("h1")).to_have_text(title)


async def choose(page: Page, label: str) -> None:
    await page.locator(".choice", has_text=label).locator("input").check()


def make_folder(place: Path) -> Path:
    folder = place / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text(f"# Ferry\n\n{FERRY}\n")
    return folder


async def add_documents(page: Page, folder: Path, before: Callable[[], Awaitable[None]] | None = None) -> None:
    """Name a folder, and drop a file; `before` is done before both are sent."""
    await expect(page.locator("h1")).to_have_text("What should it read?")
    await page.evaluate(DROP, {"kites.md": f"# Kites\n\n{KITE}\n"})
    await expect(page.locator("li.read")).to_have_count(1)
    await choose(page, "Folders or files of this machine")
    await page.fill("textarea:visible", str(folder))
    if before is not None:
        await before()
    await go_on(page, "Who writes the answers?")


async def end(page: Page) -> None:
    """From the step of the model to the end: without one."""
    await choose(page, "No model")
    await page.click(".moves button.strong")
    while not await page.locator("button:has-text('Finish and start')").count():  # steps that are added later
        await page.click("button:has-text('Skip')")
        await page.wait_for_load_state()
    await page.click("button:has-text('Finish and start')")
    await expect(page.locator("h1")).to_have_text("Ready. Ask something.")


async def test_from_nothing_to_an_answered_mention_on_discord(tmp_path: Path) -> None:
    async with DiscordServer(ack_seconds=30.0) as server, browsing() as people:
        guild = server.world.create_guild("Tern Islands Ferries")
        general, ada = guild.create_text_channel("general"), server.person("ada", guild)
        server.world.approved_intents = discord.Intents.default()
        machine = Machine(server, tmp_path)
        said = await machine.start()
        _, page = await people.newcomer(said["setup"])
        await expect(page.locator("h1")).to_have_text("Where does your team talk?")
        assert await faults(page, "platform") == []
        await choose(page, "Discord")
        await go_on(page, "Paste your bot's token")

        await page.fill("input[type=password]", "123456789012345678")  # the application's number
        await page.click(".moves button.strong")
        await expect(finding(page, "problem", "The token is on the page “Bot”.")).to_be_visible()
        await page.fill("input[type=password]", "wrong.wrong.wrong")
        await page.click(".moves button.strong")
        await expect(finding(page, "problem", "Discord does not know this token.")).to_be_visible()
        assert await faults(page, "wrong token") == []

        lost = server.fail_next("GET", "/users/@me", 503, times=1)
        await page.fill("input[type=password]", TOKEN)
        await page.click(".moves button.strong")
        await expect(finding(page, "problem", UNREACHABLE.format("Discord"))).to_be_visible()
        assert lost is not None
        # By itself: it is reached again, and lacks the intent.
        await expect(finding(page, "ok", "The token works.")).to_be_visible()
        await expect(finding(page, "problem", "Message Content Intent is off")).to_be_visible()
        await expect(page.locator(".kept")).to_be_visible()
        assert TOKEN not in await page.content()
        server.world.approved_intents = discord.Intents.all()  # in another tab
        await expect(finding(page, "ok", "Message Content Intent is on.")).to_be_visible()
        await go_on(page, "Which server?")
        await choose(page, "Tern Islands Ferries")
        await page.click(".moves button.strong")
        await add_documents(page, make_folder(tmp_path))
        assert await faults(page, "model") == []
        await end(page)

        await expect(page.locator("#outcome")).to_contain_text("online on Discord, in Tern Islands Ferries.")
        await expect(page.locator("#outcome")).to_contain_text("2 documents read, 0 failed")
        await expect(page.locator("#outcome")).to_contain_text("Answers are quotes.")
        await expect(page.locator("#elsewhere")).to_contain_text("Or say it in Discord")
        assert await faults(page, "done") == []
        asked = await ada.mention(general, "When does the red kite of Ondar fly?")
        await server.wait_for(lambda: any(one.id == asked.id for one in general.threads), TIMEOUT, what="a thread")
        thread = next(one for one in general.threads if one.id == asked.id)
        await server.wait_for(
            lambda: any("at noon" in text_of(one) for one in server.answers(thread)), TIMEOUT, what="an answer"
        )
        await page.fill("#question", "Where does the ferry Marigold leave?")
        await page.press("#question", "Enter")
        await expect(page.locator(".from-bot").first).to_contain_text("pier 7")
        assert TOKEN not in machine.config.read_text() and TOKEN not in machine.process.printed
        assert "Traceback" not in machine.process.printed
        await expect_link_to_be_used_up(people, said["setup"], said["url"])


async def expect_link_to_be_used_up(people: Browsing, link: str, url: str) -> None:
    for address in (link, f"{url}setup"):
        _, page = await people.newcomer(address, is_signed_in=False)
        await expect(page.locator(".notice")).to_contain_text("footnote link")
    people.complaints[:] = [said for said in people.complaints if "403" not in said]  # the browser's own word


async def test_from_nothing_to_an_answered_mention_on_slack_on_a_phone(tmp_path: Path) -> None:
    async with SlackServer(ack_seconds=30.0, trigger_seconds=30.0) as server, browsing() as people:
        team = server.create_team("acme")
        assert team.install is not None
        general = server.create_channel(team, "general")
        ada = server.person("ada", general)
        team.install.scopes.discard("files:read")
        machine = Machine(server, tmp_path)
        said = await machine.start()
        _, page = await people.newcomer(said["setup"], **PHONE)
        await choose(page, "Slack")
        await go_on(page, "How does Slack reach Footnote?")
        assert await faults(page, "connection") == []
        await go_on(page, "Create the app, and paste its two tokens")
        assert await page.evaluate(WIDER) <= 0
        assert json.loads(await page.locator("#copied").inner_text())["settings"]["socket_mode_enabled"] is True
        assert await faults(page, "slack") == []

        bot, app = page.locator("input[type=password]").first, page.locator("input[type=password]").last
        await bot.fill(server.app.token)
        await app.fill(server.app.token)
        await page.click(".moves button.strong")
        await expect(finding(page, "problem", "it belongs in the second field")).to_be_visible()
        await page.locator("input[type=password]:visible").first.fill(team.install.token)
        await page.click(".moves button.strong")
        await expect(finding(page, "problem", "files:read")).to_be_visible()
        team.install.scopes.add("files:read")  # installed again, in another tab
        await expect(page.locator("#findings .problem")).to_have_count(0)
        assert await page.evaluate(WIDER) <= 0
        await page.click(".moves button.strong")
        await add_documents(page, make_folder(tmp_path))
        await end(page)

        await expect(page.locator("#outcome")).to_contain_text("online on Slack, in acme.")
        assert await page.evaluate(WIDER) <= 0
        asked = await ada.mention(general, "When does the red kite of Ondar fly?")
        await server.wait_for(
            lambda: any("at noon" in slack_text_of(one) for one in server.answers(general, thread=asked)),
            TIMEOUT,
            what="an answer",
        )
        assert "Traceback" not in machine.process.printed


async def test_a_token_that_was_revoked_meanwhile_is_told_and_the_pages_stay(tmp_path: Path) -> None:
    async with DiscordServer(ack_seconds=30.0) as server, browsing() as people:
        server.world.create_guild("Tern Islands Ferries").create_text_channel("general")
        machine = Machine(server, tmp_path)
        said = await machine.start()
        _, page = await people.newcomer(said["setup"])
        await choose(page, "Discord")
        await go_on(page, "Paste your bot's token")
        await page.fill("input[type=password]", TOKEN)
        await go_on(page, "Which server?")
        await page.goto(f"{said['url']}setup?step=finish")
        refused = server.fail_next("GET", "/users/@me", 401, times=9)
        await page.click("button:has-text('Finish and start')")

        await expect(page.locator("#outcome .problem")).to_contain_text("Discord refuses the bot's token.")
        assert "Discord is off, everything else goes on" in machine.process.printed
        refused.times = 0
        await expect(page.locator("#outcome")).to_contain_text("online on Discord")
        assert machine.process.running
