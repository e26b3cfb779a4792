"""Socket Mode that stays connected: slack_sdk's client, which here asks for a new address with every try.

As it comes, slack_sdk tries one and the same address again and again, though each is good for one connection, and
tells of every try with a traceback.
"""

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import suppress

import aiohttp
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.slackbot.errors import to_error
from core.errors import ConfigError, FootnoteError, PlatformError

CONNECT = "connect"
PING_SECONDS = 5.0  # a connection that is silent for four of these is given up
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
UNREACHABLE = (SlackClientError, aiohttp.ClientError, OSError, TimeoutError)

BAD_APP_TOKEN = (
    "Slack refuses the app token: make a new one with the scope connections:write at https://api.slack.com/apps "  # noqa: S105
    "(your app, Basic Information, App-Level Tokens) and put it into SLACK_APP_TOKEN, or the file of [slack] "
    "app_token_file."
)
NO_SOCKET_MODE = "Socket Mode is off: switch it on at https://api.slack.com/apps (your app, Socket Mode)."
_FOR_GOOD = {
    "invalid_auth": BAD_APP_TOKEN,
    "not_authed": BAD_APP_TOKEN,
    "not_allowed_token_type": BAD_APP_TOKEN,
    "token_revoked": BAD_APP_TOKEN,
    "token_expired": BAD_APP_TOKEN,
    "account_inactive": BAD_APP_TOKEN,
    "missing_scope": BAD_APP_TOKEN,
    "no_permission": BAD_APP_TOKEN,
    "forbidden_team": BAD_APP_TOKEN,
    "socket_mode_not_enabled": NO_SOCKET_MODE,
    "not_enabled": NO_SOCKET_MODE,
}
_log = logging.getLogger(__name__)


async def open_address(client: AsyncWebClient, app_token: str) -> str:
    """An address for one connection. ConfigError for a token that Slack refuses, PlatformError for what may pass."""
    try:
        return str((await client.apps_connections_open(app_token=app_token))["url"])
    except UNREACHABLE as error:
        raise to_refusal(error) from error


def to_refusal(error: Exception) -> FootnoteError:
    """What it means that no address was given."""
    if isinstance(error, SlackApiError) and (sentence := _FOR_GOOD.get(str(error.response.get("error")))):
        return ConfigError(sentence)
    known = to_error(error, CONNECT)
    return known if isinstance(known, PlatformError) else PlatformError(str(known))


class SteadySocket(SocketModeClient):
    """One connection, renewed when it breaks or Slack wants it. Nothing but `close` ends it."""

    def __init__(
        self, app: AsyncApp, app_token: str, client: AsyncWebClient, ping_seconds: float = PING_SECONDS
    ) -> None:
        """`client` asks for addresses."""
        super().__init__(app_token, web_client=client, ping_interval=ping_seconds)
        self._app = app
        self.socket_mode_request_listeners.append(self._hear)

    async def issue_new_wss_url(self) -> str:
        """Asked for until there is one; empty once it is closed."""
        pauses = _pauses()
        while not self.closed:
            try:
                return await open_address(self.web_client, self.app_token)
            except FootnoteError as error:
                await self._rest(error, next(pauses))
        return ""

    async def connect(self) -> None:
        """Connected when it returns, at `wss_uri` if one is there, else at a new address; the old connection ends."""
        address, self.wss_uri = self.wss_uri, None
        pauses = _pauses()
        while not self.closed:
            address = address or await self.issue_new_wss_url()
            if not address:
                return
            try:
                session = await self.aiohttp_client_session.ws_connect(
                    address, autoping=False, heartbeat=self.ping_interval, proxy=self.proxy
                )
            except UNREACHABLE as error:
                await self._rest(to_refusal(error), next(pauses))
                address = None
                continue
            await self._use(session)
            return

    async def close(self) -> None:
        await super().close()  # type: ignore[no-untyped-call]

    async def _use(self, session: aiohttp.ClientWebSocketResponse) -> None:
        """Whoever called from the old connection's tasks is cancelled at its next wait: these are started before it."""
        old, self.current_session = self.current_session, session
        self.stale, self.last_ping_pong_time = False, None
        before = (self.current_session_monitor, self.message_receiver)
        self.current_session_monitor = asyncio.ensure_future(self.monitor_current_session())
        self.message_receiver = asyncio.ensure_future(self.receive_messages())
        _log.info("Connected to Slack")
        for task in before:
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        if old is not None:
            with suppress(*UNREACHABLE):
                await old.close()

    async def _hear(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        began = time.time()
        reply = await run_async_bolt_app(self._app, request)
        try:
            await send_async_response(client, request, reply, began)
        except (ConnectionError, aiohttp.ClientError):
            _log.warning("Slack was not told that %s came: it will send it again", request.type)

    async def _rest(self, error: FootnoteError, seconds: float) -> None:
        asked = getattr(error, "retry_after_seconds", None)
        seconds = max(seconds, asked or 0.0)
        _log.warning("Slack does not let us connect, next try in %g s: %s", seconds, error)
        await asyncio.sleep(seconds)


def _pauses() -> Iterator[float]:
    seconds = FIRST_PAUSE_SECONDS
    while True:
        yield seconds
        seconds = min(seconds * 2, LONGEST_PAUSE_SECONDS)
