"""Runs the real `footnote serve` against a Discord on loopback, and tells what people see there."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import discord
from aiohttp import ClientSession
from simcord.backend.models import Message
from simcord.builders import ChannelHandle, GuildHandle

from bot.cli import run
from tests.discord_server import TOKEN, BotProcess, DiscordServer, Person, text_of
from tests.discord_server.transcript import walk

PATIENCE_SECONDS = 60.0  # models are loaded, and machines that test are busy
ACK_SECONDS = 30.0  # Discord's are 3: how fast the bot is, other tests measure
PUBLIC_URL = "https://notes.example"
FINAL = "Helpful"  # a button that only whole answers have

TEAM, CLUB = "team", "club"  # workspaces
NOTES = {
    TEAM: "# Kites\n\nThe red kite of Ondar flies at noon on Thursdays.\n\n"
    "# Boats\n\nThe ferry Marigold leaves pier 7.\n",
    CLUB: "# Kites\n\nThe red kite of Ondar is grounded until the frost ends.\n",
}
QUESTION = "When does the red kite of Ondar fly?"
ANSWER = "flies at noon on Thursdays"
NEXT_QUESTION = "Where does the ferry Marigold leave?"
NEXT_ANSWER = "leaves pier 7"
CLUB_ANSWER = "grounded until the frost ends"


def ingest_notes(folder: Path) -> Path:
    """A data directory with a note for each of the two workspaces."""
    for workspace, text in NOTES.items():
        notes = folder / workspace
        notes.mkdir()
        (notes / "kites.md").write_text(text, encoding="utf-8")
        command = ["--data-dir", str(folder / "data"), "--workspace", workspace, "ingest", str(notes), "--json"]
        assert run(command) == 0
    return folder / "data"


class DiscordService:
    """A service on a copy of a data directory, that can be stopped and started again; `server` is its Discord."""

    def __init__(self, server: DiscordServer, data: Path, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self._source = data.parent
        self.data = shutil.copytree(data, folder / "data", dirs_exist_ok=True)
        self.settings: dict[str, str] = {}  # variables of its environment
        self._workspaces: dict[str, str] = {}
        self._process: BotProcess | None = None

    def join(self, name: str, workspace: str, **options: Any) -> GuildHandle:
        """A new guild whose documents are those of a workspace; before the start."""
        guild = self.server.world.create_guild(name, **options)
        self._workspaces[str(guild.id)] = workspace
        return guild

    @property
    def _config(self) -> Path:
        config = self.folder / "config.toml"
        lines = ["[discord.workspaces]", *(f'{guild} = "{workspace}"' for guild, workspace in self._workspaces.items())]
        config.write_text("\n".join(lines), encoding="utf-8")
        return config

    @property
    def notes(self) -> Path:
        """What the first workspace's documents were made of."""
        return self._source / TEAM

    @property
    def process(self) -> BotProcess:
        if self._process is None:
            self._process = self.command("serve", "--json", log="service.log")
        return self._process

    def command(self, *arguments: str, log: str, **settings: str) -> BotProcess:
        """Any command on the data directory, not yet started."""
        environment = {
            "DISCORD_TOKEN": TOKEN,
            "FOOTNOTE_WEB__PORT": "0",
            "FOOTNOTE_WEB__PUBLIC_URL": PUBLIC_URL,
            **self.settings,
            **settings,
        }
        command = ("bot", "--config", str(self._config), "--data-dir", str(self.data), *arguments)
        return self.server.bot(*command, log=self.folder / log, environment=environment)

    async def start(self) -> None:
        """Until it hears what is said, and has begun to read what it missed."""
        connections = self.connections
        self.process.start()
        await self.until(lambda: self.connections > connections or not self.process.running, "a connection to Discord")
        assert self.process.running, self.process.printed

    async def stop(self) -> float:
        """By SIGTERM; gives the seconds it took."""
        begun = time.monotonic()
        await self.process.stop()
        return time.monotonic() - begun

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    @property
    def url(self) -> str:
        """The address of its pages."""
        return self.process.printed.rpartition('{"url": "')[2].partition('"')[0]

    @property
    def connections(self) -> int:
        """How often it got ready to hear."""
        return self.process.printed.count("Connected to Discord as")

    async def run(self, *arguments: str, workspace: str = TEAM) -> Any:
        """What a command on the data directory prints as JSON, beside the service or through it."""
        command = [sys.executable, "-m", "bot", "--config", str(self._config), "--data-dir", str(self.data)]
        done = await asyncio.to_thread(
            subprocess.run,
            [*command, "--workspace", workspace, *arguments, "--json"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **self.settings},
        )
        assert (done.returncode, done.stderr) == (0, ""), done
        return json.loads(done.stdout)

    async def until(self, condition: Callable[[], object], what: str) -> None:
        await self.server.wait_for(condition, PATIENCE_SECONDS, what=what)

    # ------------------------------------------------------------------ what people see

    def finals(self, place: ChannelHandle) -> list[Message]:
        """The whole answers in a place, oldest first."""
        return [message for message in self.server.answers(place) if FINAL in buttons(message)]

    async def answered(self, place: ChannelHandle, count: int = 1) -> list[str]:
        """What the bot's answers in a place say, when there are so many and all of its posts there are answers."""

        def is_done() -> bool:
            finals = self.finals(place)
            return len(finals) >= count and finals == self.server.answers(place)

        await self.until(is_done, f"{count} answers in {place.name}, and nothing else")
        return [text_of(message) for message in self.finals(place)]

    async def thread_on(self, channel: ChannelHandle, message_id: int) -> ChannelHandle:
        """The thread that a message got."""
        await self.until(lambda: self.find_thread(channel, message_id) is not None, "a thread on the message")
        found = self.find_thread(channel, message_id)
        assert found is not None
        return found

    async def ask(self, person: Person, channel: ChannelHandle, question: str = QUESTION) -> ChannelHandle:
        """Mentions the bot in a channel; gives the thread, when it is answered there."""
        asked = await person.mention(channel, question)
        thread = await self.thread_on(channel, asked.id)
        await self.answered(thread)
        return thread

    async def follow(self, said: str) -> str:
        """The page that the first footnote of a text leads to."""
        path = said.partition(f"]({PUBLIC_URL}/")[2].partition(")")[0].partition("#")[0]
        async with ClientSession() as browser, browser.get(self.url + path) as reply:
            assert reply.status == 200
            return await reply.text()

    def find_thread(self, channel: ChannelHandle, message_id: int) -> ChannelHandle | None:
        return next((thread for thread in channel.threads if thread.id == message_id), None)

    async def told(self, place: ChannelHandle, words: str) -> str:
        """The first of the bot's posts in a place that has these words, when there is one."""

        def find() -> str | None:
            return next((said for said in map(text_of, self.server.answers(place)) if words in said), None)

        await self.until(find, f"a post with {words!r}")
        return find() or ""


def history(place: ChannelHandle) -> list[discord.Message]:
    """The messages of a place, as something that people can click on."""
    return place.history()


def buttons(message: Message) -> Mapping[str, str]:
    """Label -> custom id."""
    found = [one for one in walk(message.components) if one.get("custom_id")]
    return {str(one.get("label") or ""): str(one["custom_id"]) for one in found}
