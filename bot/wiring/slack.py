"""The composition root's part for Slack: the teams it may post to, and the app that hears, by socket or over HTTP.

A worker alone posts without hearing. Any number of processes share one app: Slack gives each event to one of their
connections, and what is heard twice the inbox knows.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiohttp import web
from slack_bolt.async_app import AsyncApp

from bot.config.slack import SlackSettings, read_settings
from bot.slackbot.delivery.platform import SlackPlatform
from bot.slackbot.events.directory import People, slack_gates
from bot.slackbot.events.installation import InstallPages, build_flow
from bot.slackbot.events.teams import SlackParts, Teams
from bot.slackbot.events.transport import SlackRequests, SteadySocket, open_address
from bot.slackbot.listeners import Events
from bot.slackbot.web_api import build_client
from bot.web.app import WebAddition
from bot.web.parts import WebParts
from bot.wiring.parts import Parts
from bot.wiring.platforms import link_maker, shared_parts
from bot.wiring.slack_teams import OpenedTeams, open_teams
from core.service.commands import Commands
from core.service.worker import Worker

GOODBYE_SECONDS = 1.0  # for the connection to close; the whole stop has less than five
NOT_HERE = "Footnote is not installed in this workspace any more: an administrator has to install it again."
# slack_bolt warns of a token in the environment that it is not to use: ours uses it, with teams.py.
_NOISY = logging.getLogger("slack_bolt.AsyncApp")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackDoor:
    """What can be posted to: `hear_slack` lets it hear, too."""

    settings: SlackSettings
    opened: OpenedTeams
    people: People
    platform: SlackPlatform

    @property
    def teams(self) -> Teams:
        return self.opened.teams

    def workspaces(self) -> set[str]:
        """Of the teams that the app is installed in."""
        return set(self.teams.workspaces())


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackEars:
    """How a process hears: `pages` go into its web application, `stay_connected` into a task. None: not needed."""

    pages: WebAddition | None
    stay_connected: Callable[[], Coroutine[Any, Any, None]] | None


async def open_slack(stack: AsyncExitStack, app: Parts, *, hears: bool = True) -> SlackDoor | None:
    """Ready to post, until the end of `stack`; None where nothing is configured. `hears` False: for a worker alone.

    Raises ConfigError with all that is missing, or for a token or key that does not fit, and PlatformError when Slack
    can't be reached.
    """
    settings = read_settings(app.config, hears=hears)
    if settings is None:
        return None
    be_silent()
    opened = await open_teams(stack, app, settings)
    people = People(app.clock)
    platform = SlackPlatform(
        opened.teams, people, app.inbox_store, link_maker(app.config, app.clock), app.clock, asyncio.sleep
    )
    stack.push_async_callback(people.close)
    stack.push_async_callback(platform.close)
    return SlackDoor(settings=settings, opened=opened, people=people, platform=platform)


def be_silent() -> None:
    """Slack's libraries log whole requests at DEBUG, with the tokens that an installation brings: never that."""
    for name in ("slack_sdk", "slack_bolt"):
        logging.getLogger(name).setLevel(logging.WARNING)


async def hear_slack(
    stack: AsyncExitStack, door: SlackDoor, app: Parts, commands: Commands, worker: Worker
) -> SlackEars:
    """Everything bound to a slack_bolt app. Raises ConfigError for an app token that Slack refuses."""
    bolt = build_bolt(door)
    events = Events(bolt, _parts(door, app, commands, worker), door.platform, door.people)
    events.bind()
    stack.push_async_callback(events.close)
    socket = await _open_socket(stack, bolt, door.settings) if door.settings.by_socket else None
    return SlackEars(pages=_pages(bolt, door, app), stay_connected=partial(_stay, socket) if socket else None)


def build_bolt(door: SlackDoor) -> AsyncApp:
    """Acknowledges after its listeners are done, and knows the teams by us."""
    _NOISY.addFilter(_keep_silent)
    try:
        return AsyncApp(
            name="footnote",
            client=build_client(None),
            signing_secret=door.settings.signing_secret or "",
            authorize=door.teams.authorize,  # type: ignore[arg-type]  # it may give None, which bolt knows
            process_before_response=True,
            ssl_check_enabled=False,  # would be answered unsigned
            user_facing_authorize_error_message=NOT_HERE,
        )
    finally:
        _NOISY.removeFilter(_keep_silent)


def _keep_silent(record: logging.LogRecord) -> bool:
    return False


async def _open_socket(stack: AsyncExitStack, bolt: AsyncApp, settings: SlackSettings) -> SteadySocket:
    """The first address is asked for at once: a wrong token is told at the start."""
    token = settings.app_token or ""
    client = build_client(None)
    address = await open_address(client, token)
    socket = SteadySocket(bolt, token, client)
    socket.wss_uri = address
    stack.push_async_callback(_close, socket)
    return socket


async def _stay(socket: SteadySocket) -> None:
    """Connected until cancelled: slack_sdk's own tasks renew the connection."""
    await socket.connect()
    await asyncio.Event().wait()


async def _close(socket: SteadySocket) -> None:
    try:
        async with asyncio.timeout(GOODBYE_SECONDS):
            await socket.close()
    except TimeoutError:
        logging.getLogger(__name__).warning("Slack took no goodbye within %g s: the connection is cut", GOODBYE_SECONDS)


def _pages(bolt: AsyncApp, door: SlackDoor, app: Parts) -> WebAddition | None:
    """Requests of Slack's, and the pages where teams install the app."""
    settings = door.settings
    added: list[SlackRequests | InstallPages] = []
    if not settings.by_socket and settings.signing_secret:
        added.append(SlackRequests(bolt, settings.signing_secret))
    if settings.client is not None:
        flow = build_flow(
            client_id=settings.client.id,
            client_secret=settings.client.secret,
            public_url=settings.client.public_url,
            client=build_client(None),
            codes=app.one_time_codes,
            installations=app.installations,
            clock=app.clock,
            installed=door.opened.welcome,
        )
        added.append(InstallPages(flow, app.clock))

    def add(served: web.Application, parts: WebParts) -> None:
        for one in added:
            one.add(served)

    return add if added else None


def _parts(door: SlackDoor, app: Parts, commands: Commands, worker: Worker) -> SlackParts:
    return SlackParts(**shared_parts(app, commands, worker, slack_gates(app.settings, app.clock)), teams=door.teams)
