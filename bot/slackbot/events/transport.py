"""Connections to Slack: requests over HTTP, and Socket Mode."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.response import BoltResponse
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
SIGNED_SECONDS = 300  # validity of a signature, before and after our clock (slack_sdk's limit)
MOST_REMEMBERED = 20_000  # signatures: fifty requests a second for more than five minutes
TIMESTAMP, SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"
MESSAGES = ("app_mention", "message")
_log = logging.getLogger(__name__)
CONNECT = "connect"
PING_SECONDS = 5.0  # four silent intervals end a connection
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
BAD_APP_TOKEN = (
    "Slack refuses the app token. Create a new one with the scope connections:write at https://api.slack.com/apps "  # noqa: S105
    "(your app, Basic Information, App-Level Tokens) and put it into SLACK_APP_TOKEN, or the file of [slack] "
    "app_token_file."
)
NO_SOCKET_MODE = "Socket Mode is off. Turn it on at https://api.slack.com/apps (your app, Socket Mode)."
_FOR_GOOD = {
    **dict.fromkeys(
        """
        invalid_auth not_authed not_allowed_token_type token_revoked token_expired account_inactive missing_scope
        no_permission forbidden_team
        """.split(),
        BAD_APP_TOKEN,
    ),
    **dict.fromkeys(("socket_mode_not_enabled", "not_enabled"), NO_SOCKET_MODE),
}


Hear = Callable[[Mapping[str, Any], AsyncBoltRequest], Awaitable[None]]


class SlackApp(AsyncApp):
    """slack_bolt's app with a short way for messages: most are talk, and bolt's own way costs more than they do."""

    hear: Hear | None = None  # receives the event of a message with its request, whose signature was checked

    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        event = req.body.get("event")
        if self.hear is None or not isinstance(event, Mapping) or event.get("type") not in MESSAGES:
            return await super().async_dispatch(req)
        try:
            await self.hear(event, req)
        except Exception:  # as bolt does; Slack sends it again
            _log.exception("A message could not be handled")
            return BoltResponse(status=500)
        return BoltResponse(status=200)


class SlackRequestHandler:
    """The route of Slack's requests, which are parsed after their signature is verified.

    slack_bolt verifies after parsing, so slack_sdk's verifier is called here first. A request is answered within
    Slack's three seconds. Slower work continues; an event is refused in time, so that Slack sends it again.
    """

    def __init__(
        self,
        app: AsyncApp,
        signing_secret: str,
        is_ready: Callable[[], bool] = lambda: True,
        *,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        """Until `is_ready`, requests are refused, and Slack sends events again."""
        self._app = app
        self._is_ready = is_ready
        self._verifier = SignatureVerifier(signing_secret)
        self._deadline_seconds = deadline_seconds
        self._handled = Signatures(time.monotonic)
        self._late: set[asyncio.Task[BoltResponse]] = set()

    def add(self, served: web.Application) -> None:
        served.router.add_post(EVENTS_PATH, self.serve)
        served.on_cleanup.append(self._close)

    async def serve(self, request: web.Request) -> web.Response:
        body = await request.read()  # the server limits its size
        signature = request.headers.get(SIGNATURE, "")
        if not self._is_signed(body, request.headers.get(TIMESTAMP, ""), signature):
            _log.warning("Refused a request to %s: its signature is missing, wrong or too old", EVENTS_PATH)
            raise web.HTTPUnauthorized(text="This request's Slack signature is missing, wrong or too old.")
        if self._handled.has(signature):
            return web.Response()  # a repeated request
        if not self._is_ready():
            raise web.HTTPServiceUnavailable(text="Not connected to Slack yet. Send it again.")
        asked = AsyncBoltRequest(body=body.decode(), query=request.query_string, headers=dict(request.headers))
        task = asyncio.create_task(self._app.async_dispatch(asked))
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        try:
            response = await to_aiohttp_response(await asyncio.wait_for(asyncio.shield(task), self._deadline_seconds))
        except TimeoutError:
            _log.warning(
                "A request was not handled within %g s. It continues in the background", self._deadline_seconds
            )
            raise web.HTTPServiceUnavailable(text="Not ready in time. Send it again.") from None
        if response.status < 300:
            self._handled.add(signature)
        return response

    def _is_signed(self, body: bytes, timestamp: str, signature: str) -> bool:
        """slack_sdk's verifier raises for other values than decimal times and UTF-8."""
        if not (timestamp.isascii() and timestamp.isdigit() and signature.isascii()):
            return False
        try:
            return self._verifier.is_valid(body, timestamp, signature)
        except UnicodeDecodeError:
            return False

    async def _close(self, served: web.Application) -> None:
        late = set(self._late)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)


class Signatures:
    """Signatures of handled requests, kept as long as they are valid."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now` returns monotonic seconds."""
        self._now = now
        self._times: OrderedDict[str, float] = OrderedDict()

    def has(self, signature: str) -> bool:
        self._forget_old()
        return signature in self._times

    def add(self, signature: str) -> None:
        self._forget_old()
        self._times[signature] = self._now()

    def _forget_old(self) -> None:
        """Timestamps may be ahead of our clock by as much as behind it."""
        oldest = self._now() - 2 * SIGNED_SECONDS
        while self._times and (len(self._times) >= MOST_REMEMBERED or next(iter(self._times.values())) < oldest):
            self._times.popitem(last=False)


async def open_address(client: AsyncWebClient, app_token: str) -> str:
    """Return an address for one connection. Raises ConfigError for a refused token, else PlatformError."""
    try:
        return str((await client.apps_connections_open(app_token=app_token))["url"])
    except UNREACHABLE as error:
        raise to_refusal(error) from error


def to_refusal(error: Exception) -> FootnoteError:
    """Return the error behind a missing address."""
    if isinstance(error, SlackApiError) and (sentence := _FOR_GOOD.get(str(error.response.get("error")))):
        return ConfigError(sentence)
    known = to_error(error, CONNECT)
    return known if isinstance(known, PlatformError) else PlatformError(str(known))


class ReconnectingSocket(SocketModeClient):
    """A connection in Socket Mode, renewed until `close`, with a new address for every attempt.

    slack_sdk's client retries the same address, though each is valid for one connection, and logs tracebacks.
    """

    def __init__(
        self,
        app: AsyncApp,
        app_token: str,
        client: AsyncWebClient,
        ping_seconds: float = PING_SECONDS,
        note: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """`note` is told that the connection ended, and that there is one."""
        super().__init__(app_token, web_client=client, ping_interval=ping_seconds)
        self._app = app
        self._note = note
        self.socket_mode_request_listeners.append(self._handle_request)

    async def issue_new_wss_url(self) -> str:
        """Request an address until Slack returns one; "" after `close`."""
        pauses = _pauses()
        while not self.closed:
            try:
                return await open_address(self.web_client, self.app_token)
            except FootnoteError as error:
                await self._wait(error, next(pauses))
        return ""

    async def connect(self) -> None:
        """Connect to `wss_uri` if set, else to a new address, and end the old connection."""
        address, self.wss_uri = self.wss_uri, None
        pauses = _pauses()
        self._note(False)
        while not self.closed:
            address = address or await self.issue_new_wss_url()
            if not address:
                return
            try:
                session = await self.aiohttp_client_session.ws_connect(
                    address, autoping=False, heartbeat=self.ping_interval, proxy=self.proxy
                )
            except UNREACHABLE as error:
                await self._wait(to_refusal(error), next(pauses))
                address = None
                continue
            await self._use(session)
            return

    async def close(self) -> None:
        await super().close()  # type: ignore[no-untyped-call]

    async def _use(self, session: aiohttp.ClientWebSocketResponse) -> None:
        """Start the new tasks before cancelling the old ones, as one of those may be the caller."""
        old, self.current_session = self.current_session, session
        self.stale, self.last_ping_pong_time = False, None
        before = (self.current_session_monitor, self.message_receiver)
        self.current_session_monitor = asyncio.ensure_future(self.monitor_current_session())
        self.message_receiver = asyncio.ensure_future(self.receive_messages())
        _log.info("Connected to Slack")
        self._note(True)
        for task in before:
            if task is not None and task is not asyncio.current_task():
                task.cancel()
        if old is not None:
            with suppress(*UNREACHABLE):
                await old.close()

    async def _handle_request(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        began = time.time()
        reply = await run_async_bolt_app(self._app, request)
        try:
            await send_async_response(client, request, reply, began)
        except (ConnectionError, aiohttp.ClientError):
            _log.warning("%s was not acknowledged: Slack will send it again", request.type)

    async def _wait(self, error: FootnoteError, seconds: float) -> None:
        asked = getattr(error, "retry_after_seconds", None)
        seconds = max(seconds, asked or 0.0)
        _log.warning("Slack refused a connection, next try in %g s: %s", seconds, error)
        await asyncio.sleep(seconds)


def _pauses() -> Iterator[float]:
    seconds = FIRST_PAUSE_SECONDS
    while True:
        yield seconds
        seconds = min(seconds * 2, LONGEST_PAUSE_SECONDS)
