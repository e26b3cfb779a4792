"""Connection of the app: its teams, its platform, and the listeners that a serving process adds.

A worker only posts. Any number of processes share one app: Slack sends each event to one of their connections, and the
inbox drops repeated events.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from aiohttp import web

from bot.config.slack import SlackSettings
from bot.presentation.platform_parts import LinkTo, PlatformParts
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.audiences import SlackAudiences
from bot.slackbot.events.directory import People
from bot.slackbot.events.installation import InstallationPages, build_flow
from bot.slackbot.events.live import SlackHistories
from bot.slackbot.events.teams import PLATFORM, Teams, read_teams
from bot.slackbot.events.translate import TEAM
from bot.slackbot.events.transport import ReconnectingSocket, SlackApp, SlackRequestHandler, open_address
from bot.slackbot.listeners import Listeners
from bot.slackbot.web_api import build_client
from core.access.bindings import Bindings
from core.domain.incoming import IncomingMessage
from core.ports import Clock
from core.ports.identity import OneTimeCodes
from core.ports.service import InboxStore, InstallationRepository
from core.service.inbox import Gate, askers_gate

GOODBYE_SECONDS = 1.0  # for the connection to close; the whole stop has less than five
NOT_INSTALLED = "Footnote is no longer installed in this workspace. Ask an administrator to install it again."

# Extends a web server; its second argument is ignored, so that it fits the server's own extensions.
AddPages: TypeAlias = Callable[[web.Application, Any], None]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reception:
    """How a process receives events: `add_pages` extends its web server, `stay_connected` receives until cancelled.

    It raises ConfigError for an app token that Slack refuses, PlatformError if Slack can't be reached at its start.
    """

    add_pages: AddPages | None
    stay_connected: Callable[[], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackConnection:
    """An adapter that can post once it has logged in. A worker doesn't need more; `listen` adds the listeners."""

    settings: SlackSettings
    teams: Teams
    people: People
    platform: SlackPlatform
    audiences: SlackAudiences

    async def log_in(self) -> None:
        """Look up the teams of the configured token.

        Raises ConfigError for a token that Slack refuses, PlatformError if Slack can't be reached.
        """
        self.teams.configure(await read_teams(self.settings.token) if self.settings.token else [])

    def askers(self) -> Gate | None:
        """Return the gate of [slack] ask_channels and ask_full_members."""

        async def is_full_member(incoming: IncomingMessage) -> bool:
            team = await self.teams.of_workspace(incoming.address.workspace, incoming.metadata.get(TEAM))
            return await self.people.is_full_member(team, incoming.author)

        return askers_gate(self.settings.ask_channels, is_full_member if self.settings.ask_full_members else None)

    async def listen(self, stack: AsyncExitStack, parts: PlatformParts, codes: OneTimeCodes) -> Reception:
        """Bind the listeners until the end of `stack`."""
        bolt = build_bolt(self.teams, self.settings.signing_secret or "")
        bolt.use(self.audiences.hear)
        parts.live.histories[PLATFORM] = SlackHistories(self.teams, self.people)
        direct_is_one = self.settings.direct_is_one
        listeners = Listeners(bolt, parts, self.teams, self.platform, self.people, direct_is_one=direct_is_one)
        listeners.bind()
        stack.push_async_callback(listeners.close)
        return Reception(
            add_pages=self._pages(bolt, parts.clock, codes),
            stay_connected=partial(self._receive, bolt, listeners, partial(parts.live.note_connection, PLATFORM)),
        )

    async def _receive(self, bolt: SlackApp, listeners: Listeners, note: Callable[[bool], None]) -> None:
        await listeners.resume()
        try:
            if self.settings.by_socket:
                await _stay_connected(bolt, self.settings.app_token or "", note)
            else:
                note(True)
                await asyncio.Event().wait()
        finally:
            note(False)

    def _pages(self, bolt: SlackApp, clock: Clock, codes: OneTimeCodes) -> AddPages | None:
        """Return a function that adds Slack's requests and the installation pages to a web server, or None."""
        added: list[SlackRequestHandler | InstallationPages] = []
        if not self.settings.by_socket and self.settings.signing_secret:
            added.append(SlackRequestHandler(bolt, self.settings.signing_secret, lambda: self.teams.are_known))
        if self.settings.client is not None:
            flow = build_flow(self.settings.client, codes, self.teams, clock)
            added.append(InstallationPages(flow, clock))

        def add(served: web.Application, _: Any) -> None:
            for handler in added:
                handler.add(served)

        return add if added else None


async def connect(
    stack: AsyncExitStack,
    settings: SlackSettings,
    *,
    bindings: Bindings,
    installations: InstallationRepository | None,
    entries: InboxStore,
    link: LinkTo,
    clock: Clock,
) -> SlackConnection:
    """Follow the installations that any process stores, until the end of `stack`.

    Raises ConfigError for stored tokens that can't be decrypted.
    """
    for name in ("slack_sdk", "slack_bolt"):  # at DEBUG, they log whole requests, with the tokens of installations
        logging.getLogger(name).setLevel(logging.WARNING)
    teams = Teams(installations=installations, bindings=bindings)
    if installations is not None:
        await teams.renew()
        stack.push_async_callback(_cancel, asyncio.create_task(teams.keep_renewing()))
    people = People(clock, settings.library_groups, settings.review_groups)
    platform = SlackPlatform(teams, people, entries, link, clock, asyncio.sleep)
    stack.push_async_callback(people.close)
    stack.push_async_callback(platform.close)
    audiences = SlackAudiences(teams, clock)
    return SlackConnection(settings=settings, teams=teams, people=people, platform=platform, audiences=audiences)


def build_bolt(teams: Teams, signing_secret: str) -> SlackApp:
    """Return an app that acknowledges after its listeners have returned. It takes tokens from `teams`."""
    # slack_bolt warns about a token in the environment that it ignores; `teams` uses that token
    noisy = logging.getLogger("slack_bolt.AsyncApp")
    noisy.addFilter(drop := lambda _: False)
    try:
        return SlackApp(
            name="footnote",
            client=build_client(None),
            signing_secret=signing_secret,
            authorize=teams.authorize,  # type: ignore[arg-type]  # it may return None, which bolt accepts
            process_before_response=True,
            ssl_check_enabled=False,  # it would be answered unsigned
            user_facing_authorize_error_message=NOT_INSTALLED,
        )
    finally:
        noisy.removeFilter(drop)


async def _stay_connected(bolt: SlackApp, app_token: str, note: Callable[[bool], None]) -> None:
    """Stay connected until cancelled; slack_sdk's tasks renew the connection. Raises as `open_address` at the start."""
    client = build_client(None)
    address = await open_address(client, app_token)
    socket = ReconnectingSocket(bolt, app_token, client, note=note)
    socket.wss_uri = address
    try:
        await socket.connect()
        await asyncio.Event().wait()
    finally:
        await _close(socket)


async def _close(socket: ReconnectingSocket) -> None:
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await socket.close()
    except TimeoutError:
        _log.warning("Slack did not confirm the end of the connection within %g s", GOODBYE_SECONDS)


async def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait({task})
