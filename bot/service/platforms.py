"""The platforms that a process can post to, all in one place: its worker claims only their entries.

Chat page, API and terminal keep their posts in the history, so every process on the database can post to them; the
process that serves them shows new posts (bot/web/client.py, and the requests and commands that wait). A platform
elsewhere has its line here too: with a token, a worker process can answer there with a client that only posts. While
one of those isn't connected (bot/service/supervision.py), its entries wait.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from bot.config.slack import read_settings
from bot.discordbot.connection import DiscordConnection, build_client
from bot.discordbot.delivery.platform import DiscordPlatform
from bot.discordbot.events.audiences import DiscordAudiences
from bot.discordbot.events.translate import PLATFORM as DISCORD
from bot.presentation.direct_threads import to_private
from bot.presentation.platform_parts import PlatformParts
from bot.runtime.metrics import MeteredRun, Metrics
from bot.service.supervision import Supervision, start_task
from bot.slackbot.connection import Reception, SlackConnection, connect
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.directory import slack_gates
from bot.slackbot.events.teams import PLATFORM as SLACK
from bot.terminal.platform import TerminalPlatform
from bot.web.api.platform import PLATFORM as API
from bot.web.api.platform import ApiPlatform
from bot.web.audiences import WebAudiences
from bot.web.client import WebPlatform
from bot.web.events import EventHub
from bot.web.links import link_maker
from bot.web.translate import PLATFORM as WEB
from bot.wiring.parts import Parts
from bot.wiring.pipeline import build_pipeline
from core.access.bindings import Bindings
from core.access.identity import ApiAudiences
from core.answering.deletion import Forgetting
from core.answering.pipeline import Pipeline
from core.errors import FootnoteError
from core.ports.auto_answers import PrivateReports
from core.ports.service import ChatPlatform, ThreadReader
from core.service.commands.table import Commands
from core.service.inbox import Gate
from core.service.worker import Worker

FOLLOW_SECONDS = 5.0  # between two looks at the bots' servers and teams, and at other processes' bindings

_log = logging.getLogger(__name__)


Hear: TypeAlias = Callable[[DiscordConnection], Awaitable[None]]


@dataclass(kw_only=True)
class Platforms:
    """The platforms that a process can post to."""

    hub: EventHub
    chat: WebPlatform
    api: ApiPlatform
    terminal: TerminalPlatform
    slack: SlackConnection | None  # where a token is configured, or teams can install the app
    discord: DiscordConnection | None  # likewise; the latest connection
    supervision: Supervision
    wrap: Callable[[ChatPlatform], ChatPlatform]
    by_name: dict[str, ChatPlatform] = field(default_factory=dict)  # all that can post now
    connected: asyncio.Event = field(default_factory=asyncio.Event)  # a platform was, just now
    reporters: dict[str, PrivateReports] = field(default_factory=dict)  # that can write to people, by name
    readers: dict[str, ThreadReader] = field(default_factory=dict)  # whose threads hold more than our history, by name

    def __post_init__(self) -> None:
        for platform in (self.chat, self.api, self.terminal):
            self.by_name[platform.name] = self.wrap(platform)

    @property
    def elsewhere(self) -> list[str]:
        """The names of the platforms that are set up, connected or not."""
        return [name for name, opened in ((DISCORD, self.discord), (SLACK, self.slack)) if opened is not None]

    async def connect(
        self, stack: AsyncExitStack, app: Parts, *, hear: Hear | None = None, reception: Reception | None = None
    ) -> None:
        """Keep the platforms elsewhere connected until the end of `stack`; return after their first tries.

        `hear` receives the events of Discord, `reception` those of Slack; without them the platforms only post.
        """
        if self.discord is not None:
            await start_task(stack, self.supervision.keep(DISCORD, partial(self._connect_discord, app, hear)))
        if self.slack is not None:
            await start_task(stack, self.supervision.keep(SLACK, partial(self._connect_slack, self.slack, reception)))
        await self.supervision.wait_for_first_tries()

    async def close(self) -> None:
        if self.discord is not None:
            await self.discord.close()

    async def _connect_discord(self, app: Parts, hear: Hear | None, note_up: Callable[[], None]) -> None:
        if self.discord is None or self.discord.client.is_closed():
            self.discord = build_discord(app)
        opened = self.discord
        if opened is None:
            return
        try:
            await opened.log_in()
            self._add(opened.platform)
            note_up()
            await (hear(opened) if hear else asyncio.Event().wait())
        except Exception:  # at the end of the process, its worker closes its posts before the client is closed
            self.by_name.pop(DISCORD, None)
            await opened.close()
            raise

    async def _connect_slack(
        self, opened: SlackConnection, reception: Reception | None, note_up: Callable[[], None]
    ) -> None:
        try:
            await opened.log_in()
            self._add(opened.platform)
            note_up()
            await (reception.stay_connected() if reception else asyncio.Event().wait())
        except Exception:
            self.by_name.pop(SLACK, None)
            raise

    def _add(self, platform: DiscordPlatform | SlackPlatform) -> None:
        self.connected.set()
        self.readers[platform.name] = self.reporters[platform.name] = platform
        self.by_name[platform.name] = self.wrap(platform)

    def workspaces(self, app: Parts) -> set[str]:
        """Return our own workspace, the configured ones, and the workspaces of the bot's servers and teams."""
        own = [app.bindings.workspace_of(name, id) for name, teams in self._names() for id in teams]
        return {app.workspace, *own, *(one.workspace for one in app.bindings.all())}

    def _names(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the names of the bots' servers and teams by id, for each platform that knows its own by now."""
        if self.discord is not None and (servers := self.discord.names()) is not None:
            yield DISCORD, servers
        if self.slack is not None and self.slack.teams.are_known:
            yield SLACK, self.slack.teams.names()

    async def follow_teams(self, bindings: Bindings) -> None:
        """Until cancelled, store the names of the servers and teams that the bots are in, and load their bindings.

        Failures are logged and retried.
        """
        while True:
            try:
                await bindings.load()
                for name, teams in self._names():
                    await bindings.record_connected(name, teams)
            except FootnoteError as error:
                _log.warning("The names of servers and teams were not stored: %s", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.connected.wait(), FOLLOW_SECONDS)
            self.connected.clear()


async def open_platforms(
    stack: AsyncExitStack,
    app: Parts,
    *,
    hears: bool = True,
    wrap: Callable[[ChatPlatform], ChatPlatform] = lambda platform: platform,
) -> Platforms:
    """Build the platforms of this process, which are closed at the end of `stack`; `connect` logs in elsewhere.

    A worker passes `hears=False`. `wrap` adds to each platform. Raises as `open_slack`.
    """
    hub = EventHub()
    await app.bindings.load()
    await app.syncs.apply_readers()
    if app.config.web.has_others:
        has_visitors = app.config.web.open_to_network
        app.access.audiences[WEB] = WebAudiences(
            app.stores.conversations, app.stores.identity, has_visitors=has_visitors
        )
    app.access.audiences[API] = ApiAudiences(app.stores.conversations, app.stores.identity, app.access.audiences)
    platforms = Platforms(
        hub=hub,
        chat=WebPlatform(hub, app.conversations, app.clock),
        api=ApiPlatform(),
        terminal=TerminalPlatform(),
        discord=build_discord(app),
        slack=await open_slack(stack, app, hears=hears),
        supervision=Supervision(app.clock),
        wrap=wrap,
    )
    stack.push_async_callback(platforms.close)
    return platforms


def build_discord(app: Parts) -> DiscordConnection | None:
    """Return a connection that isn't logged in yet; None without a configured token."""
    token = app.config.discord_token()
    if token is None:
        return None
    client = build_client(app.config.discord)
    platform = DiscordPlatform(client, app.inbox_store, link_maker(app.config, app.clock), app.clock, asyncio.sleep)
    app.access.audiences[DISCORD] = DiscordAudiences(client, app.bindings, app.clock)
    return DiscordConnection(
        client=client, token=token, platform=platform, settings=app.config.discord, bindings=app.bindings
    )


async def open_slack(stack: AsyncExitStack, app: Parts, *, hears: bool = True) -> SlackConnection | None:
    """Build the adapter, open until the end of `stack`; None if Slack isn't configured. A worker passes `hears=False`.

    Raises ConfigError with all that is missing, and as `connect`.
    """
    settings = read_settings(app.config, hears=hears)
    if settings is None:
        return None
    installations = app.installations if settings.has_keys else None
    if installations is not None and (count := await installations.reseal()):
        _log.info("The tokens of %d Slack teams are encrypted with the new key", count)
    connection = await connect(
        stack,
        settings,
        bindings=app.bindings,
        installations=installations,
        entries=app.inbox_store,
        link=link_maker(app.config, app.clock),
        clock=app.clock,
    )
    app.access.audiences[SLACK] = connection.audiences
    return connection


async def receive_slack(
    stack: AsyncExitStack, connection: SlackConnection, app: Parts, commands: Commands, worker: Worker
) -> Reception:
    """Bind the listeners of events until the end of `stack`."""
    gates = slack_gates(app.stores.settings, connection.askers())
    return await connection.listen(stack, build_platform_parts(app, commands, worker, gates), app.one_time_codes)


def build_platform_parts(app: Parts, commands: Commands, worker: Worker, gates: Sequence[Gate]) -> PlatformParts:
    """Return an adapter's parts of core; `gates` are the platform's, in order."""
    return PlatformParts(
        inbox=app.build_inbox(gates, worker.wake, worker.withdraw),
        additions=app.additions,
        entries=app.inbox_store,
        worker=worker,
        conversations=app.conversations,
        forgetting=Forgetting(
            inbox=app.inbox_store,
            conversations=app.conversations,
            stop=worker.withdraw,
            attachments=app.attachments,
            derived=(app.kept, app.live),
        ),
        commands=commands,
        feedbacks=app.feedbacks,
        jobs=app.jobs,
        access=app.access,
        corpus=app.stores.corpus,
        suggestions=app.suggestions,
        keeping=app.kept,
        live=app.live,
        settings=app.stores.settings,
        teams=app.stores.teams,
        clock=app.clock,
        link=link_maker(app.config, app.clock),
    )


def build_answers(app: Parts, platforms: Platforms, metrics: Metrics | None = None) -> Pipeline:
    """Build the pipeline for the questions of these platforms; `metrics` counts the outcomes."""
    own_threads = {DISCORD: to_private, SLACK: to_private}
    keep = app.cassettes.keep if app.config.replay.record else None
    return build_pipeline(
        app,
        readers=platforms.readers,
        to_private={name: to_own for name, to_own in own_threads.items() if name in platforms.elsewhere},
        observe=partial(MeteredRun, metrics, keep) if metrics else None,
    )
