"""Connections to Slack: requests over HTTP, and Socket Mode."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import aiohttp
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.slackbot.events.manifest import EVENTS_PATH
from bot.slackbot.web_api import UNREACHABLE, to_error
from core.errors import ConfigError, FootnoteError, PlatformError

DEADLINE_SECONDS = 2.8  # Slack gives up after 3
SIGNED_SECONDS = 300  # how old a signature may be (slack_sdk's limit, either way of our clock)
MOST_REMEMBERED = 20_000  # signatures; at fifty requests a second more than their five minutes
TIMESTAMP, SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"
_log = logging.getLogger(__name__)
CONNECT = "connect"
PING_SECONDS = 5.0  # a connection that is silent for four of these is given up
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
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


class SlackRequestHandler:
    """Serves what Slack sends: events, commands, buttons, forms."""

    def __init__(self, app: AsyncApp, signing_secret: str, *, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self._app = app
        self._verifier = SignatureVerifier(signing_secret)
        self._deadline_seconds = deadline_seconds
        self._handled = Signatures(time.monotonic)
        self._late: set[asyncio.Task[web.Response]] = set()

    def add(self, served: web.Application) -> None:
        """The routes, and their end with the server's."""
        served.router.add_post(EVENTS_PATH, self.serve)
        served.on_cleanup.append(self._close)

    async def serve(self, request: web.Request) -> web.Response:
        body = await request.read()  # at most the server's limit
        signature = request.headers.get(SIGNATURE, "")
        if not self._is_slacks(body, request.headers.get(TIMESTAMP, ""), signature):
            _log.warning("A request to %s is refused: Slack did not sign it, or did so long ago", EVENTS_PATH)
            raise web.HTTPUnauthorized(text="This request was not signed by Slack, or too long ago.")
        if self._handled.has(signature):
            return web.Response()  # the same request once more: nothing is done twice
        return await self._in_time(self._handle(body, request), signature)

    def _is_slacks(self, body: bytes, timestamp: str, signature: str) -> bool:
        """slack_sdk's verifier takes nothing but decimal times and UTF-8."""
        if not (timestamp.isascii() and timestamp.isdigit() and signature.isascii()):
            return False
        try:
            return self._verifier.is_valid(body, timestamp, signature)
        except UnicodeDecodeError:
            return False

    async def _in_time(self, handling: Any, signature: str) -> web.Response:
        task = asyncio.create_task(handling)
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        try:
            response: web.Response = await asyncio.wait_for(asyncio.shield(task), self._deadline_seconds)
        except TimeoutError:
            _log.warning("A request of Slack's was not handled within %g s: it goes on", self._deadline_seconds)
            raise web.HTTPServiceUnavailable(text="Not ready in time: send it again.") from None
        if response.status < 300:
            self._handled.add(signature)
        return response

    async def _handle(self, body: bytes, request: web.Request) -> web.Response:
        told = AsyncBoltRequest(body=body.decode(), query=request.query_string, headers=dict(request.headers))
        return await to_aiohttp_response(await self._app.async_dispatch(told))

    async def _close(self, served: web.Application) -> None:
        late = set(self._late)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)


class Signatures:
    """Of requests that were handled, as long as they would be taken again."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now` gives seconds of a clock that never goes back."""
        self._now = now
        self._times: OrderedDict[str, float] = OrderedDict()

    def has(self, signature: str) -> bool:
        self._forget_old()
        return signature in self._times

    def add(self, signature: str) -> None:
        self._forget_old()
        self._times[signature] = self._now()

    def _forget_old(self) -> None:
        """A time stamp may lie ahead of our clock as far as behind it."""
        oldest = self._now() - 2 * SIGNED_SECONDS
        while self._times and (len(self._times) >= MOST_REMEMBERED or next(iter(self._times.values())) < oldest):
            self._times.popitem(last=False)


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


class ReconnectingSocket(SocketModeClient):
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
