"""Slack's requests on our own web server: nothing of one is read before its signature proves that Slack sent it.

A request is answered within Slack's three seconds. What is not ready by then goes on by itself; an event is refused
in time, so that Slack sends it again, and the inbox knows it then.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from bot.slackbot.manifest import EVENTS_PATH

DEADLINE_SECONDS = 2.8  # Slack gives up after 3
SIGNED_SECONDS = 300  # how old a signature may be (slack_sdk's limit, either way of our clock)
MOST_REMEMBERED = 20_000  # signatures; at fifty requests a second more than their five minutes
TIMESTAMP, SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"

_log = logging.getLogger(__name__)


class SlackRequests:
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
