"""Events, interactions and commands by signed HTTP requests, as to a bot with a public address."""

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp

from tests.slack_server.delivery import Parcel, Reply
from tests.slack_server.world import World

JSON = dict[str, Any]


@dataclass(kw_only=True, slots=True)
class Sent:
    """One request to the bot."""

    headers: dict[str, str]
    body: str
    status: int | None = None  # None: no reply in time


class HttpEvents:
    """`url` takes everything, unless interactions or commands have their own."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._session: aiohttp.ClientSession | None = None
        self.url = ""
        self.interactivity_url: str | None = None
        self.command_url: str | None = None
        self.requests: list[Sent] = []

    async def verify(self, url: str) -> None:
        """Slack takes an address only if the challenge comes back."""
        challenge = secrets.token_hex(8)
        body = json.dumps({"type": "url_verification", "token": "verification-token", "challenge": challenge})
        status, headers, text = await self._send(url, body, self.signed(body), 10)
        read = _read(text, headers.get("Content-Type", "")) or {}
        said = read.get("challenge") or read.get("text")
        assert (status, said) == (200, challenge), f"{url} did not answer the challenge: {status} {text!r}"
        self.url = url

    def signed(
        self, body: str, *, at: float | None = None, secret: str | None = None, kind: str = "application/json"
    ) -> dict[str, str]:
        """The headers of a request: `at` is its time (Unix), for one that comes too late."""
        stamp = str(int(time.time() if at is None else at))
        key = (secret or self._world.app.signing_secret).encode()
        digest = hmac.new(key, f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}", "Content-Type": kind}

    async def carry(self, parcel: Parcel, ack_seconds: float) -> Reply:
        """One attempt: 2xx in time is an acknowledgement."""
        url, body, kind = self._written(parcel)
        headers = self.signed(body, kind=kind)
        if parcel.failures:
            headers["X-Slack-Retry-Num"] = str(len(parcel.failures))
            headers["X-Slack-Retry-Reason"] = parcel.failures[-1]
        try:
            status, told, text = await self._send(url, body, headers, ack_seconds)
        except TimeoutError:
            return Reply(failure="http_timeout")
        except aiohttp.ClientError:
            return Reply(failure="connection_failed")
        if not 200 <= status < 300:
            return Reply(failure="http_error", retry=told.get("X-Slack-No-Retry") != "1")
        return Reply(payload=_read(text, told.get("Content-Type", "")))

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _written(self, parcel: Parcel) -> tuple[str, str, str]:
        form = "application/x-www-form-urlencoded"
        if parcel.kind == "slash_commands":
            return self.command_url or self.url, urlencode(parcel.payload), form
        if parcel.kind == "interactive":
            return self.interactivity_url or self.url, urlencode({"payload": json.dumps(parcel.payload)}), form
        return self.url, json.dumps(parcel.payload), "application/json"

    async def _send(
        self, url: str, body: str, headers: dict[str, str], seconds: float
    ) -> tuple[int, Mapping[str, str], str]:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        sent = Sent(headers=headers, body=body)
        self.requests.append(sent)
        limit = aiohttp.ClientTimeout(total=seconds)
        async with self._session.post(url, data=body, headers=headers, timeout=limit, allow_redirects=False) as reply:
            text = await reply.text()
            sent.status = reply.status
            return reply.status, reply.headers, text


def _read(text: str, kind: str) -> Any:
    if not text:
        return None
    return json.loads(text) if kind.startswith("application/json") else {"text": text}
