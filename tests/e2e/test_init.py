"""`footnote init` in a real terminal: from an empty data directory to an answered mention, past every problem."""

import asyncio
import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import discord
import pytest

from bot.cli.init import NO_TERMINAL, SAVED
from tests import forked
from tests.discord_server import TOKEN, DiscordServer
from tests.discord_server import text_of as discord_text
from tests.e2e.platform_service import ANSWER, NOTES, QUESTION, TEAM
from tests.e2e.terminal import Terminal
from tests.slack_server import SlackServer
from tests.slack_server import text_of as slack_text

WRONG = "MTk4NjIy.Cl2FMQ.wrong"
QUIET = {
    "TERM": "dumb",
    "FOOTNOTE_WEB__PORT": "0",
    **dict.fromkeys(("DISCORD_TOKEN", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"), ""),
}
Start = Callable[..., Terminal]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "kites.md").write_text(NOTES[TEAM], encoding="utf-8")
    return folder


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts the wizard on an empty data directory, in a shell that would let everybody read new files."""

    def run(*module: str, environment: Mapping[str, str] | None = None) -> Terminal:
        before = os.umask(0)
        try:
            return Terminal(
                *("--config", str(tmp_path / "config.toml"), "--data-dir", str(tmp_path / "data"), "init"),
                environment={**QUIET, **(environment or {})},
                module=module or ("bot",),
            )
        finally:
            os.umask(before)

    return run


class Person:
    """Reads a question, and types the answer."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._seen = 0

    async def answers(self, question: str, typed: str) -> None:
        await self.sees(question)
        await asyncio.sleep(0.2)  # getpass drops what was typed before it reads
        self._terminal.type(typed + "\n")

    async def sees(self, words: str) -> None:
        await asyncio.to_thread(self._terminal.wait_for_next, words)

    async def sees_all(self, *texts: str) -> None:
        """Wait for texts in any order."""
        for text in texts:
            await asyncio.to_thread(self._terminal.wait_for, text)


def modes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in [folder, *folder.rglob("secrets"), *folder.rglob("secrets/*"), *folder.glob("setup.json")]
    }


async def test_it_leads_to_an_answered_mention_on_discord(start: Start, notes: Path, tmp_path: Path) -> None:
    async with DiscordServer(ack_seconds=30) as server:
        server.world.approved_intents = discord.Intents.default()
        terminal = start("tests.discord_launch", "bot", environment=server.environment)
        person = Person(terminal)
        await person.answers("Platform, by its number: ", "1")
        await person.answers("Bot token: ", WRONG)
        await person.sees("✗ Discord does not know this token.")
        server.lose_reply_of_next("GET", "/users/@me", times=2)  # aiohttp tries it once more
        await person.answers("Bot token: ", TOKEN)
        await person.sees("✗ Discord did not answer. Check this machine's network, and try again.")
        await person.answers("Bot token [stored, Enter keeps it]: ", "")
        await person.sees("✗ Message Content Intent is off, so the bot can't connect.")
        server.world.approved_intents = discord.Intents.all()
        await person.answers("Bot token [stored, Enter keeps it]: ", "")
        await person.sees("isn't in a server yet. Open the invite link, and choose yours.")
        guild = server.world.create_guild("Tern Islands Ferries")
        general = guild.create_text_channel("general")
        await person.answers("Enter checks again: ", "")
        await person.sees("✓ Tern Islands Ferries reads this library.")
        await person.answers("Add a source, by its number [1]: ", "")
        await person.answers("> ", str(notes))
        await person.answers("> ", "")
        await person.answers("Readers in chats, by its number [1]: ", "")
        await person.sees(": 1 document, 1 kB: Markdown 1.")
        await person.answers("Model, by its number [1]: ", "")
        await person.answers("Who may ask, by its number [1]: ", "")
        await person.answers("Enter writes the configuration: ", "")
        await person.answers("Start Footnote now? [Y/n] ", "")
        await person.sees_all("Connected to Discord as", "synced: ")
        alice = server.person("alice", guild)
        await alice.mention(general, QUESTION)
        await server.wait_for(
            lambda: any(ANSWER in discord_text(one) for t in general.threads for one in server.answers(t)),
            120,
            what="an answer",
        )
        await server.wait_for(
            lambda: any("Add documents with /library add." in discord_text(one) for one in server.answers(general)),
            120,
            what="the greeting",
        )
        terminal.type("\x03")
        assert await asyncio.to_thread(terminal.end) == 0

    written = (tmp_path / "config.toml").read_text(encoding="utf-8")
    assert TOKEN not in written and TOKEN not in terminal.shown and WRONG not in terminal.shown
    assert modes(tmp_path / "data") == {".": "0o700", "secrets": "0o700", "secrets/discord_token": "0o600"}


async def test_it_leads_to_an_answered_mention_on_slack(start: Start, notes: Path, tmp_path: Path) -> None:
    async with SlackServer(ack_seconds=30) as server:
        _, team = server.create_organisation("Tern Islands", "Harbour", "Ferries")
        general = server.create_channel(team, "general")
        alice = server.person("alice", general)
        assert team.install is not None
        team.install.scopes -= {"files:read"}
        token, app_token = team.install.token, server.app.token
        terminal = start("tests.slack_launch", "bot", environment=server.environment)
        person = Person(terminal)
        await person.answers("Platform, by its number: ", "2")
        await person.answers("Connection, by its number [1]: ", "")
        await person.sees("https://api.slack.com/apps?new_app=1&manifest_json=%7B")
        await person.answers("Bot token (xoxb-…): ", app_token)
        await person.answers("App-level token (xapp-…): ", token)
        await person.sees("✗ This is the app-level token; it belongs in the second field.")
        await person.sees("✗ This is the bot token; it belongs in the first field.")
        server.lose_reply_of_next("auth.test", times=2)
        await person.answers("Bot token (xoxb-…): ", token)
        await person.answers("App-level token (xapp-…): ", app_token)
        await person.sees("✗ Slack did not answer. Check this machine's network, and try again.")
        await person.answers("Bot token (xoxb-…) [stored, Enter keeps it]: ", "")
        await person.answers("App-level token (xapp-…) [stored, Enter keeps it]: ", "")
        await person.sees("✗ The bot lacks the scope files:read.")
        team.install.scopes |= {"files:read"}
        await person.answers("Bot token (xoxb-…) [stored, Enter keeps it]: ", "")
        await person.answers("App-level token (xapp-…) [stored, Enter keeps it]: ", "")
        await person.sees("✓ The app token works")
        await person.answers("Teams, by their numbers with commas: ", "Ferries")
        await person.sees("✓ Ferries reads this library.")
        await person.answers("Add a source, by its number [1]: ", "")
        await person.answers("> ", str(notes))
        await person.answers("> ", "")
        await person.answers("Readers in chats, by its number [1]: ", "")
        await person.answers("Model, by its number [1]: ", "")
        await person.answers("Who may ask, by its number [1]: ", "")
        await person.answers("Enter writes the configuration: ", "")
        await person.answers("Start Footnote now? [Y/n] ", "y")
        await person.sees_all("Connected to Slack", "synced: ")
        asked = await alice.mention(general, QUESTION)
        await server.wait_for(
            lambda: any(ANSWER in slack_text(one) for one in server.answers(general, thread=asked)),
            120,
            what="an answer",
        )
        terminal.type("\x03")
        assert await asyncio.to_thread(terminal.end) == 0

    written = (tmp_path / "config.toml").read_text(encoding="utf-8")
    for secret in (token, app_token):
        assert secret not in written and secret not in terminal.shown
    assert modes(tmp_path / "data") == {
        ".": "0o700",
        "secrets": "0o700",
        "secrets/slack_bot_token": "0o600",
        "secrets/slack_app_token": "0o600",
    }


async def test_ctrl_c_loses_nothing(start: Start, notes: Path, tmp_path: Path) -> None:
    terminal = start()
    person = Person(terminal)
    await person.answers("Platform, by its number: ", "3")
    await person.answers("Add a source, by its number [1]: ", "1")
    await person.answers("> ", str(tmp_path / "nowhere"))
    await person.answers("> ", "")
    await person.answers("Readers in chats, by its number [1]: ", "")
    await person.sees("✗ There is no folder or file")
    await person.answers("Add a source, by its number [1]: ", "1")
    await person.answers("> ", str(notes))
    await person.answers("> ", "")
    await person.answers("Readers in chats, by its number [1]: ", "")
    await person.sees("Model, by its number [1]: ")
    terminal.type("\x03")
    assert await asyncio.to_thread(terminal.end) == 130
    assert SAVED in terminal.shown and "Traceback" not in terminal.shown
    assert modes(tmp_path / "data") == {".": "0o700", "setup.json": "0o600"}

    terminal = start()
    person = Person(terminal)
    await person.answers("Model, by its number [1]: ", "back")
    await person.sees("notes - ")
    await person.answers("Sources to keep, by their numbers with commas [1]: ", "")
    await person.answers("Add a source, by its number [6]: ", "skip")
    await person.answers("Model, by its number [1]: ", "")
    await person.answers("Who may ask, by its number [1]: ", "")
    await person.sees("It reads 1 source: notes.")
    await person.answers("Enter writes the configuration: ", "")
    await person.answers("Start Footnote now? [Y/n] ", "n")
    assert await asyncio.to_thread(terminal.end) == 0
    assert not (tmp_path / "data" / "setup.json").exists()
    assert f'path = "{notes}"' in (tmp_path / "config.toml").read_text(encoding="utf-8")


def test_without_a_terminal_it_says_so(tmp_path: Path) -> None:
    command = ["bot", "--config", str(tmp_path / "config.toml"), "--data-dir", str(tmp_path / "data"), "init"]
    done = forked.run(command, env={**os.environ, **QUIET})
    assert (done.returncode, done.stderr) == (1, f"footnote: {NO_TERMINAL}\n")
    described = json.loads(forked.run([*command, "--json"], env={**os.environ, **QUIET}, check=True).stdout)
    assert [(step["step"], step["is_set_up"]) for step in described["steps"]] == [
        ("platform", False),
        ("documents", False),
        ("model", False),
    ]
