"""Runs the real `footnote serve` beside a test server of a platform, on a copy of a data directory with two notes."""

import asyncio
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from bot.cli.app import run
from tests import forked
from tests.bot_process import BotProcess
from tests.copying import copy_folder
from tests.platform_server import PlatformServer

TIMEOUT_SECONDS = 120.0  # models are loaded, and machines that test are busy
PUBLIC_URL = "https://notes.example"
READY = '{"url": "'  # what a service that listens prints, once at each start

TEAM, CLUB = "team", "club"  # workspaces
NOTES = {
    TEAM: "# Kites\n\nThe red kite of Ondar flies at noon on Thursdays.\n\n"
    "# Where does the ferry leave?\n\nThe ferry Marigold leaves pier 7.\n",
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


class PlatformService(ABC):
    """A service that can be stopped and started again."""

    def __init__(self, server: PlatformServer, data: Path, folder: Path) -> None:
        self._server = server
        self.folder = folder
        self._source = data.parent
        self.data = copy_folder(data, folder / "data")
        self.settings: dict[str, str] = {}  # variables of its environment
        self.program: tuple[str, ...] = ("bot",)  # perhaps behind the launcher of a second platform
        self.public_url: str | None = PUBLIC_URL  # None: nobody can open its pages from elsewhere
        self.more_config: list[str] = []  # lines at the end of the configuration file
        self._process: BotProcess | None = None

    @abstractmethod
    def _environment(self) -> Mapping[str, str]:
        """What the platform needs: tokens and the like."""

    @abstractmethod
    def _config_lines(self) -> Sequence[str]:
        """Of the configuration file."""

    @abstractmethod
    async def start(self) -> None:
        """Until it hears what is said."""

    @property
    def _config(self) -> Path:
        config = self.folder / "config.toml"
        config.write_text("\n".join([*self._config_lines(), *self.more_config]), encoding="utf-8")
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
        web = {"FOOTNOTE_WEB__PORT": "0", **({"FOOTNOTE_WEB__PUBLIC_URL": self.public_url} if self.public_url else {})}
        environment = {**web, **self._environment(), **self.settings, **settings}
        command = (*self.program, "--config", str(self._config), "--data-dir", str(self.data), *arguments)
        return self._server.bot(*command, log=self.folder / log, environment=environment)

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
        return url_of(self.process)

    async def run(self, *arguments: str, workspace: str = TEAM) -> Any:
        """What a command on the data directory prints as JSON, beside the service or through it."""
        command = ["bot", "--config", str(self._config), "--data-dir", str(self.data), "--workspace", workspace]
        done = await asyncio.to_thread(
            forked.run, [*command, *arguments, "--json"], env={**os.environ, **self.settings}
        )
        assert (done.returncode, done.stderr) == (0, ""), done
        return json.loads(done.stdout)

    async def until(self, condition: Callable[[], object], what: str) -> None:
        await self._server.wait_for(condition, TIMEOUT_SECONDS, what=what)

    async def follow(self, said: str) -> str:
        """The page that the first footnote of a text leads to."""
        path = said.partition(f"]({PUBLIC_URL}/")[2].partition(")")[0].partition("#")[0]
        async with ClientSession() as browser, browser.get(self.url + path) as reply:
            assert reply.status == 200
            return await reply.text()


def url_of(process: BotProcess) -> str:
    """Where a service listens, as it said at its latest start."""
    return process.printed.rpartition(READY)[2].partition('"')[0]
