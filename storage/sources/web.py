"""HTTP for fetchers: polite, bounded, and only to public addresses unless configured otherwise."""

import asyncio
import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from urllib.parse import urljoin, urlsplit

import httpx
from protego import Protego

from core.domain.sources import Reach, WebBounds
from core.errors import SourceUnavailable
from storage.sources.addresses import ALLOW, Allowed, Resolve, checked_addresses, is_public, resolve

AGENT = "Footnote"
MOST_REDIRECTS = 5
# Timeouts that a slow page may nearly use up: one that drips endlessly is abandoned.
MOST_TIMEOUTS = 4
MOST_TRIES = 3
LONGEST_WAIT_SECONDS = 60.0  # longest accepted wait; for longer ones, the next sync tries again
LONGEST_CRAWL_DELAY_SECONDS = 10.0
ROBOTS_BYTES = 512 * 1024  # read by common crawlers
_BUSY = frozenset({429, 502, 503, 504})


class GuardedTransport(httpx.AsyncBaseTransport):
    """A transport that connects only to checked addresses. TLS proves the name: each host has its own connections."""

    def __init__(self, *, allowed: Allowed, advice: str = ALLOW, resolve: Resolve = resolve) -> None:
        """`advice` ends the refusal of an address that isn't `allowed`."""
        self._allowed = allowed
        self._advice = advice
        self._resolve = resolve
        self._inner: dict[str, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host, port = request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80)
        addresses = await checked_addresses(
            host, port, allowed=self._allowed, advice=self._advice, resolve=self._resolve
        )
        named = {} if host in addresses else {"sni_hostname": host}
        guarded = httpx.Request(
            request.method,
            request.url.copy_with(host=addresses[0]),
            headers=request.headers,  # with the Host of the name
            stream=request.stream,
            extensions={**request.extensions, **named},
        )
        if host not in self._inner:  # each reads all certificates that the machine trusts: 20 ms
            self._inner[host] = httpx.AsyncHTTPTransport()
        return await self._inner[host].handle_async_request(guarded)

    async def aclose(self) -> None:
        for inner in self._inner.values():
            await inner.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A server's reply. `content` is decoded; empty for 304."""

    url: str  # after redirects
    status: int
    headers: Mapping[str, str]  # names in lower case
    content: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Web:
    """A client for one fetch: `async with Web(bounds) as web`. All its requests together take `max_seconds` at most."""

    def __init__(
        self,
        bounds: WebBounds,
        *,
        headers: Mapping[str, str] | None = None,
        secret_origin: str | None = None,
        allowed: Allowed = is_public,
        advice: str = ALLOW,
        resolve: Resolve = resolve,
    ) -> None:
        """Send `headers` only to `secret_origin` (an address of a host), also after redirects.

        `advice` is for the person who chose an address that isn't `allowed`.
        """
        self._bounds = bounds
        self._headers = dict(headers or {})
        self._secret_origin = _origin(secret_origin) if secret_origin else None
        self._client = httpx.AsyncClient(
            transport=GuardedTransport(
                allowed=(lambda address: True) if bounds.allow_private else allowed, advice=advice, resolve=resolve
            ),
            timeout=httpx.Timeout(bounds.timeout_seconds),
            headers={"User-Agent": AGENT, "Accept-Encoding": "gzip, deflate"},
        )
        self._deadline = time.monotonic() + bounds.max_seconds
        self._free_at: dict[str, float] = {}  # host -> when it may be asked again
        self._robots: dict[str, Protego] = {}

    async def __aenter__(self) -> "Web":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def get(
        self, url: str, *, etag: str = "", modified: str = "", accept: str = "", limit: int | None = None
    ) -> Reply:
        """Return the reply after redirects; 304 if the validators still match. Requests to busy servers are repeated.

        Raises SourceUnavailable without a reply: no connection, too slow, too large, a forbidden address, busy for long
        (with retry_after_seconds). The caller handles other statuses.
        """
        conditions = {"If-None-Match": etag, "If-Modified-Since": modified, "Accept": accept}
        wanted = {name: value for name, value in conditions.items() if value}
        for attempt in range(1, MOST_TRIES + 1):
            reply = await self._follow(url, wanted, limit or self._bounds.max_page_bytes)
            if reply.status not in _BUSY:
                return reply
            wait = _retry_after(reply.headers)
            wait = 2.0**attempt if wait is None else wait
            if attempt == MOST_TRIES or wait > min(LONGEST_WAIT_SECONDS, self._deadline - time.monotonic()):
                raise SourceUnavailable(
                    f"{url} answered {reply.status}: it is busy, and is asked again with the next sync",
                    retry_after_seconds=wait,
                )
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def may_read(self, url: str) -> bool:
        """Return whether the host's robots.txt allows reading. Raises SourceUnavailable if it can't be fetched."""
        origin = _origin(url)
        if origin not in self._robots:
            self._robots[origin] = await self._read_robots(origin)
        rules = self._robots[origin]
        delay = rules.crawl_delay(AGENT)
        if delay:
            host = urlsplit(url).netloc
            soon = time.monotonic() + min(float(delay), LONGEST_CRAWL_DELAY_SECONDS)
            self._free_at[host] = max(self._free_at.get(host, 0.0), soon)
        return bool(rules.can_fetch(url, AGENT))

    async def _read_robots(self, origin: str) -> Protego:
        reply = await self.get(f"{origin}/robots.txt", limit=ROBOTS_BYTES)
        if reply.status >= 500:  # its rules are unknown: forbid everything for now
            raise SourceUnavailable(f"{origin}/robots.txt answered {reply.status}: its host is not read until it does")
        text = reply.content.decode("utf-8", "replace") if reply.status == 200 else ""
        return Protego.parse(text)

    async def _follow(self, url: str, wanted: Mapping[str, str], limit: int) -> Reply:
        for _ in range(MOST_REDIRECTS + 1):
            reply = await self._once(url, wanted, limit)
            target = reply.headers.get("location")
            if reply.status not in (301, 302, 303, 307, 308) or target is None:
                return reply
            url = urljoin(url, target)
            if urlsplit(url).scheme not in ("http", "https"):
                raise SourceUnavailable(f"{reply.url} leads to {url!r}, which is no address of the web")
        raise SourceUnavailable(f"{url} leads on and on: {MOST_REDIRECTS} redirects are followed")

    async def _once(self, url: str, wanted: Mapping[str, str], limit: int) -> Reply:
        await self._wait_for_turn(urlsplit(url).netloc)
        secret = self._headers if _origin(url) == self._secret_origin else {}
        left = self._deadline - time.monotonic()
        longest = self._bounds.timeout_seconds * MOST_TIMEOUTS
        try:
            async with (
                asyncio.timeout(max(min(left, longest), 0)),
                self._client.stream("GET", url, headers={**wanted, **secret}) as response,
            ):
                content = await _read(response, url, limit)
                headers = {name.lower(): value for name, value in response.headers.items()}
                return Reply(url=url, status=response.status_code, headers=headers, content=content)
        except TimeoutError as error:
            if longest < left:
                raise SourceUnavailable(
                    f"{url} did not end in {longest:g} s: leave it out, or read it later"
                ) from error
            raise SourceUnavailable(
                f"The source took longer than {self._bounds.max_seconds:g} s in all: the next sync continues from "
                "here, or set max_seconds higher"
            ) from error
        except httpx.TimeoutException as error:
            raise SourceUnavailable(f"{url} sent nothing for {self._bounds.timeout_seconds:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SourceUnavailable(f"{url} can't be read: {str(error) or type(error).__name__}") from error

    async def _wait_for_turn(self, host: str) -> None:
        now = time.monotonic()
        begin = max(self._free_at.get(host, 0.0), now)
        self._free_at[host] = begin + self._bounds.pause_seconds
        if begin > now:
            await asyncio.sleep(begin - now)


def reach_of(reply: Reply) -> Reach:
    """Return the meaning of a reply's status for its address."""
    if reply.status in (401, 403):
        return Reach.FORBIDDEN
    if reply.status in (404, 410):
        return Reach.NOT_FOUND
    return Reach.READY if reply.status < 400 else Reach.UNREACHABLE


async def _read(response: httpx.Response, url: str, limit: int) -> bytes:
    """Return the decoded body; stop reading when it is too long."""
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > limit:
            raise SourceUnavailable(
                f"{url} is larger than {limit / 1024 / 1024:g} MB: leave it out, or set max_page_mb"
            )
        parts.append(part)
    return b"".join(parts)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in a busy server's retry-after header: a number, or a time."""
    text = headers.get("retry-after", "").strip()
    if text.isdigit():
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    return max((moment.astimezone(UTC) - datetime.now(UTC)).total_seconds(), 0.0)
