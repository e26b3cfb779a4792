"""Footnote on a Slack in this process: the real client, inbox, worker and answer service over stores in memory."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from aiohttp import web

from bot.presentation.direct_threads import to_private
from bot.presentation.platform_parts import PlatformParts
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.audiences import SlackAudiences
from bot.slackbot.events.directory import People, slack_gates
from bot.slackbot.events.live import SlackHistories
from bot.slackbot.events.manifest import EVENTS_PATH
from bot.slackbot.events.teams import PLATFORM, Team, Teams
from bot.slackbot.events.transport import ReconnectingSocket, SlackApp, SlackRequestHandler
from bot.slackbot.listeners import Listeners
from bot.slackbot.web_api import build_client
from core.service.inbox import Gate, Inbox
from tests.integration.platform_place import ANSWER as ANSWER
from tests.integration.platform_place import KEY as KEY
from tests.integration.platform_place import PlatformPlace
from tests.integration.platform_place import search as search
from tests.integration.platform_place import turns as turns
from tests.integration.slackbot.house import House
from tests.slack_server import SlackServer
from tests.slack_server import Team as ServerTeam

ENOUGH_SECONDS = 20.0  # for acknowledgements and modals, where Slack's three seconds are not the point


class PlaceClock:
    """Slack's time: it passes as real time does, and where tests move it on."""

    def __init__(self) -> None:
        self.server: SlackServer | None = None

    def now(self) -> datetime:
        seconds = self.server.world.clock.now() if self.server is not None else time.time()
        return datetime.fromtimestamp(seconds, UTC)

    def monotonic(self) -> float:
        return time.perf_counter()


@dataclass
class SlackPlace(PlatformPlace):
    """What is stored outlives `open`: restarting is another process with the same Slack."""

    over_http: bool = False  # else by Socket Mode
    library_groups: tuple[str, ...] = ()
    ack_seconds: float = ENOUGH_SECONDS
    trigger_seconds: float = ENOUGH_SECONDS
    askers: Gate | None = None  # who may ask; None: everyone
    direct_is_one: bool = False
    workspaces: dict[str, str] = field(default_factory=dict)  # ours, by team id; "local" for those that are not here

    def __post_init__(self) -> None:
        self.clock = PlaceClock()
        self.begin(self.clock)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[House]:
        """A team with two people, and the bot at work in it."""
        async with SlackServer(ack_seconds=self.ack_seconds, trigger_seconds=self.trigger_seconds) as server:
            self.server = self.clock.server = server
            house = House(server)
            await self.start()
            try:
                yield house
            finally:
                await self.stop()

    async def start(self) -> None:
        """A new process: another app, platform and worker, and its connection."""
        self._process = AsyncExitStack()
        self.build_worker({PLATFORM: to_private})
        self.teams = Teams([self._team(team) for team in self.server.world.teams.values() if team.install])
        self.people = People(self.clock, self.library_groups)
        self.audiences = self.shelf.access.audiences[PLATFORM] = SlackAudiences(self.teams, self.clock)
        inbox = Inbox(
            self.entries,
            slack_gates(self.settings, self.askers),
            self.clock,
            self.worker.wake,
            self.worker.withdraw,
            self.limits(),
            self.turns(),
        )
        parts = PlatformParts(**{**self.core_parts(), "inbox": inbox})
        self.platform = SlackPlatform(self.teams, self.people, self.entries, parts.link, self.clock, self.pause)
        self.platforms[PLATFORM] = self.readers[PLATFORM] = self.platform
        self.app = SlackApp(
            client=build_client(None, self.server.api),
            signing_secret=self.server.world.app.signing_secret,
            authorize=self.teams.authorize,  # type: ignore[arg-type]  # it may give None, which bolt knows
            process_before_response=True,
            ssl_check_enabled=False,
        )
        self.app.use(self.audiences.hear)
        self.live.histories[PLATFORM] = SlackHistories(self.teams, self.people, self.pause)
        self.listeners = Listeners(
            self.app, parts, self.teams, self.platform, self.people, direct_is_one=self.direct_is_one
        )
        self.listeners.bind()
        for closed in (self.people, self.platform, self.listeners):
            self._process.push_async_callback(closed.close)
        await self.begin_work()
        await self.listeners.resume()
        self._process.push_async_callback(self.end_work)
        await (self._serve() if self.over_http else self._connect())

    async def stop(self) -> None:
        await self._process.aclose()

    async def restart(self) -> None:
        """The process ends in the middle of all it does, and another one begins."""
        await self.stop()
        await self.start()

    @asynccontextmanager
    async def asleep(self) -> AsyncIterator[None]:
        """Nobody hears Slack meanwhile; then another process begins."""
        await self.stop()
        yield
        await self.start()

    async def _connect(self) -> None:
        note, client = partial(self.live.note_connection, PLATFORM), build_client(None, self.server.api)
        self._process.callback(note, False)
        socket = ReconnectingSocket(self.app, self.server.world.app.token, client, note=note)
        self._process.push_async_callback(socket.close)
        before = self.server.socket.opened
        await socket.connect()
        await self.server.wait_for_connection(before + 1)

    async def _serve(self) -> None:
        served = web.Application()
        SlackRequestHandler(self.app, self.server.world.app.signing_secret).add(served)
        runner = web.AppRunner(served, access_log=None, shutdown_timeout=1.0)
        self._process.push_async_callback(runner.cleanup)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        await self.server.use_http(f"http://{host}:{port}{EVENTS_PATH}")

    def _team(self, team: ServerTeam) -> Team:
        """As auth.test would tell of it."""
        assert team.install is not None
        return Team(
            id=team.id,
            name=team.name,
            workspace=self.workspaces.get(team.id, "local"),
            bot_user_id=team.bot.id,
            bot_id=team.bot.bot_id or "",
            client=build_client(team.install.token, self.server.api),
            token=team.install.token,
            url=f"https://{team.name}.slack.com/",
        )
