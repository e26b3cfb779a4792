"""Footnote on an in-process Discord: the real client, inbox, worker and answer service over stores in memory."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import simcord
from simcord.env import Env

from bot.config.sections import TEAM_IDS
from bot.discordbot.actions.handler import LibraryRules
from bot.discordbot.events.audiences import DiscordAudiences
from bot.discordbot.events.client import Events, FootnoteClient
from bot.presentation.direct_threads import to_private
from bot.presentation.platform_parts import PlatformParts
from core.access.bindings import Bindings, own_workspace
from tests.integration.discordbot.house import House
from tests.integration.platform_place import ANSWER as ANSWER
from tests.integration.platform_place import KEY as KEY
from tests.integration.platform_place import PlatformPlace
from tests.integration.platform_place import search as search
from tests.integration.platform_place import turns as turns


class PlaceClock:
    """Discord's time: it passes as real time does, and where tests move it on."""

    def __init__(self) -> None:
        self.env: Env | None = None
        self._began = time.perf_counter()

    def now(self) -> datetime:
        discords = self.env.now() if self.env is not None else datetime(2026, 1, 1, tzinfo=UTC)
        return discords + timedelta(seconds=time.perf_counter() - self._began)

    def monotonic(self) -> float:
        return time.perf_counter()


class HouseBindings(Bindings):
    """Servers read "local", unless a test or an admin says otherwise."""

    def __init__(self, place: "DiscordPlace") -> None:
        super().__init__(place.shelf.stores.teams, {}, TEAM_IDS, place.clock)
        self._place = place

    def workspace_of(self, platform: str, team_id: str) -> str:
        found = super().workspace_of(platform, team_id)
        named = self._place.workspaces.get(int(team_id), "local")
        return named if found == own_workspace(platform, team_id) else found


@dataclass
class DiscordPlace(PlatformPlace):
    """What is stored outlives `open`: restarting is another process on the same server."""

    workspaces: dict[int, str] = field(default_factory=dict)  # of guilds that are not the first one
    rules: LibraryRules = field(default_factory=LibraryRules)  # of documents that people add
    may_fail: bool = False  # errors inside the bot are what the test is about
    before_ready: Callable[[Events], Awaitable[None]] | None = None  # what comes before the session is ready
    client_of: Callable[[], Events] = FootnoteClient

    def __post_init__(self) -> None:
        self.clock = PlaceClock()
        self.begin(self.clock)
        self.bindings = HouseBindings(self)

    def build(self) -> Events:
        """A new process: another client, platform and worker."""
        self.client = self.client_of()
        if self.before_ready is not None:
            self._let_in_first(self.before_ready)
        self.build_worker({"discord": to_private})
        parts = PlatformParts(**self.core_parts())
        platform = self.client.attach(parts, self.bindings, rules=self.rules, open_url=self._download)
        self.platforms["discord"] = self.readers["discord"] = platform
        self.shelf.access.audiences["discord"] = DiscordAudiences(self.client, self.bindings, self.clock)
        return self.client

    @asynccontextmanager
    async def open(self) -> AsyncIterator[House]:
        """A server with two people, and the bot at work in it."""
        async with simcord.run(self.build(), settle_timeout=60, check_errors=not self.may_fail) as env:
            self.env = self.clock.env = env
            await self.begin_work()
            try:
                yield House(env)
            finally:
                await self.client.flow.close()
                await self.end_work()
            if not self.may_fail:
                env.raise_errors()

    async def restart(self) -> None:
        """The process ends in the middle of all it does, and another one begins."""
        await self.client.flow.close()
        await self.end_work()
        self.begin_reading()
        await self.env.restart_bot(self.build())
        await self.begin_work()

    @asynccontextmanager
    async def asleep(self) -> AsyncIterator[None]:
        """Nothing that happens meanwhile reaches the bot; then it starts anew."""
        await self.env.settle()
        listening = self.env.backend.subscribers[:]
        self.env.backend.subscribers.clear()
        yield
        self.env.backend.subscribers.extend(listening)
        await self.restart()

    async def _download(self, url: str) -> AsyncIterator[bytes]:
        """From the in-process Discord, which no address leads to."""
        yield await self.client.http.get_from_cdn(url)

    def _let_in_first(self, event: Callable[[Events], Awaitable[None]]) -> None:
        client, ready = self.client, self.client.on_ready

        async def on_ready() -> None:
            await event(client)
            await ready()

        client.on_ready = on_ready
