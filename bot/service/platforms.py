"""The platforms that a process can post to, all in one place: its worker claims only their entries.

Chat page, API and terminal keep their posts in the history, so every process on the database can post to them; the
process that serves them shows new posts (bot/web/client.py, and the requests and commands that wait). A platform
elsewhere has its line here too: with a token, a worker process can answer there with a client that only posts.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property, partial

from bot.config.slack import read_settings
from bot.discordbot.connection import DiscordConnection, build_client, close_client, log_in
from bot.discordbot.delivery.platform import DiscordPlatform
from bot.discordbot.events.audiences import DiscordAudiences
from bot.discordbot.events.translate import PLATFORM as DISCORD
from bot.presentation.direct_threads import to_private
from bot.presentation.platform_parts import PlatformParts
from bot.runtime.metrics import MeteredRun, Metrics
from bot.slackbot.connection import Reception, SlackConnection, connect
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.directory import slack_gates
from bot.slackbot.events.teams import PLATFORM as SLACK
from bot.terminal.platform import TerminalPlatform
from bot.web.api.platform import ApiPlatform
from bot.web.client import WebPlatform
from bot.web.events import EventHub
from bot.web.links import link_maker
from bot.wiring.parts import Parts
from bot.wiring.pipeline import build_pipeline
from core.access.bindings import Bindings
from core.answering.deletion import Forgetting
from core.answering.pipeline import Pipeline
from core.errors import FootnoteError
from core.ports.service import ChatPlatform, ThreadReader
from core.service.commands.table import Commands
from core.service.inbox import Gate
from core.service.worker import Worker

FOLLOW_SECONDS = 5.0  # between two looks at the bots' servers and teams, and at other processes' bindings

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Platforms:
    """What a process can post to."""

    hub: EventHub
    chat: WebPlatform
    api: ApiPlatform
    terminal: TerminalPlatform
    discord: DiscordConnection | None  # where a token is configured
    slack: SlackConnection | None  # likewise, or where teams can install the app

    @cached_property
    def by_name(self) -> dict[str, ChatPlatform]:
        own: list[ChatPlatform] = [self.chat, self.api, self.terminal, *self._elsewhere]
        return {platform.name: platform for platform in own}

    @property
    def readers(self) -> dict[str, ThreadReader]:
        """Those whose threads hold more than our history, by name."""
        return {platform.name: platform for platform in self._elsewhere}

    @property
    def _elsewhere(self) -> list[DiscordPlatform | SlackPlatform]:
        return [opened.platform for opened in (self.discord, self.slack) if opened is not None]

    def workspaces(self, app: Parts) -> set[str]:
        """Return our own workspace, the configured ones, and the workspaces of the bot's servers and teams."""
        own = [app.bindings.workspace_of(name, id) for name, teams in self._names() for id in teams]
        return {app.workspace, *own, *(one.workspace for one in app.bindings.all())}

    def _names(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the names of the bots' servers and teams by id, for each platform that knows its own by now."""
        if self.discord is not None and (servers := self.discord.names()) is not None:
            yield DISCORD, servers
        if self.slack is not None:
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
            await asyncio.sleep(FOLLOW_SECONDS)


async def open_platforms(stack: AsyncExitStack, app: Parts, *, hears: bool = True) -> Platforms:
    """Open the platforms of this process until the end of `stack`; a worker passes `hears=False`.

    Raises as `open_discord` and `open_slack`.
    """
    hub = EventHub()
    await app.bindings.load()
    await app.syncs.apply_readers()
    return Platforms(
        hub=hub,
        chat=WebPlatform(hub, app.conversations, app.clock),
        api=ApiPlatform(),
        terminal=TerminalPlatform(),
        discord=await open_discord(stack, app),
        slack=await open_slack(stack, app, hears=hears),
    )


async def open_discord(stack: AsyncExitStack, app: Parts) -> DiscordConnection | None:
    """Log in until the end of `stack`; None without a configured token. Raises as `log_in` does."""
    token = app.config.discord_token()
    if token is None:
        return None
    client = build_client(app.config.discord)
    stack.push_async_callback(close_client, client)
    await log_in(client, token.get_secret_value())
    platform = DiscordPlatform(client, app.inbox_store, link_maker(app.config, app.clock), app.clock, asyncio.sleep)
    stack.push_async_callback(platform.close)
    app.access.audiences[DISCORD] = DiscordAudiences(client, app.bindings, app.clock)
    return DiscordConnection(client=client, platform=platform, settings=app.config.discord, bindings=app.bindings)


async def open_slack(stack: AsyncExitStack, app: Parts, *, hears: bool = True) -> SlackConnection | None:
    """Open the adapter until the end of `stack`; None if Slack isn't configured. A worker passes `hears=False`.

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
    """Receive events until the end of `stack`. Raises as `SlackConnection.listen`."""
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
            kept=app.kept,
        ),
        commands=commands,
        feedbacks=app.feedbacks,
        jobs=app.jobs,
        access=app.access,
        corpus=app.stores.corpus,
        suggestions=app.suggestions,
        keeping=app.kept,
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
        to_private={name: to_own for name, to_own in own_threads.items() if name in platforms.by_name},
        observe=partial(MeteredRun, metrics, keep) if metrics else None,
    )
