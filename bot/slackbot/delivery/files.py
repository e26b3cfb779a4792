"""Files of people, downloaded with the bot's token, and canvases, which Slack hands out as HTML; the bot's own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import aiohttp

from bot.presentation.platform_parts import Pause
from bot.slackbot.events.teams import Team
from bot.slackbot.events.translate import file_name, is_canvas
from bot.slackbot.web_api import DELETE_FILE, READ_FILE, call, to_refusal, translated_errors
from core.errors import AccessDenied, InvalidState, NotFound, PlatformError

FILES = "files"  # in place of the channel in the reference of a file that the bot sent
DOWNLOAD_SECONDS = 600.0  # questions wait less for their files
SILENCE_SECONDS = 60.0
MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
# Hosts that may get the token, besides the API's own.
SLACK_HOSTS = ("slack.com", "slack-files.com", "slack-gov.com")
CHUNK_BYTES = 1 << 16
LARGEST_CANVAS = 50 << 20
# The element that holds a canvas; Slack's page to sign in, which comes with status 200 too, has none.
_CANVAS_MARK = b"quip-canvas-content"
_HTML = "text/html"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackFile:
    """A file that can be downloaded."""

    id: str
    name: str
    url: str
    size_bytes: int | None  # None for a canvas, whose HTML has a size of its own
    permalink: str = ""  # "" if Slack names none


async def find_file(team: Team, file_id: str, pause: Pause) -> SlackFile:
    """Look a file up; an event of a shared channel may hold no more than its id.

    Raises core errors if it was deleted, is outside Slack, or isn't shared with the bot.
    """
    file = (await call(READ_FILE, lambda: team.client.files_info(file=file_id), pause=pause))["file"]
    name, url = file_name(file), str(file.get("url_private_download") or file.get("url_private") or "")
    if not url:
        raise NotFound(f"The file {name!r} was deleted, or is hidden by the workspace's plan.")
    if file.get("is_external") or not _is_trusted(url, team):
        raise InvalidState(f"The file {name!r} is only linked on Slack, so I can't read it. Upload it.")
    size = None if is_canvas(file) else int(file.get("size") or 0)
    return SlackFile(id=file_id, name=name, url=url, size_bytes=size, permalink=str(file.get("permalink") or ""))


async def delete_file(team: Team, file_id: str, pause: Pause) -> None:
    """Delete a file of the bot. A missing one is ignored."""
    with suppress(NotFound):
        await call(DELETE_FILE, lambda: team.client.files_delete(file=file_id), pause=pause)


async def read_file(team: Team, file: SlackFile) -> bytes:
    """Return a file's bytes. Raises core errors if it can't be read now."""
    return b"".join([piece async for piece in stream_file(team, file)])


async def stream_file(team: Team, file: SlackFile) -> AsyncIterator[bytes]:
    """Yield a file's bytes in pieces; a canvas is HTML. Raises core errors, also after an incomplete download."""
    if file.size_bytes is None:
        yield await _read_canvas(team, file)
        return
    received = 0
    async with _opened(team, file.url) as reply:
        kind = reply.content_type
        async for piece in reply.content.iter_chunked(CHUNK_BYTES):
            received += len(piece)
            if received > file.size_bytes:
                break  # it isn't this file
            yield piece
    if received == file.size_bytes:
        return
    if kind == _HTML:  # a login page, with status 200
        raise _not_allowed(file)
    raise PlatformError(
        f"Slack sent {received:,} of {file.size_bytes:,} bytes of the file {file.name!r}. Trying again."
    )


async def _read_canvas(team: Team, file: SlackFile) -> bytes:
    data = bytearray()
    async with _opened(team, file.url) as reply:
        async for piece in reply.content.iter_chunked(CHUNK_BYTES):
            data += piece
            if len(data) > LARGEST_CANVAS:
                raise InvalidState(f"The canvas {file.name!r} is too large. Split it.")
    if _CANVAS_MARK not in data:
        raise _not_allowed(file)
    return bytes(data)


def _not_allowed(file: SlackFile) -> AccessDenied:
    return AccessDenied(f"I'm not allowed to read the file {file.name!r}. Give the app the scope files:read.")


@asynccontextmanager
async def _opened(team: Team, url: str) -> AsyncIterator[aiohttp.ClientResponse]:
    """Open a download. It follows redirects itself, as only Slack's hosts may get the token."""
    timeout = aiohttp.ClientTimeout(total=DOWNLOAD_SECONDS, sock_read=SILENCE_SECONDS)
    with translated_errors(READ_FILE):
        async with aiohttp.ClientSession(timeout=timeout) as session:
            for _ in range(MOST_REDIRECTS):
                headers = {"Authorization": f"Bearer {team.token}"} if _is_trusted(url, team) else {}
                async with session.get(url, headers=headers, allow_redirects=False, proxy=team.client.proxy) as reply:
                    if reply.status in REDIRECTS:
                        url = urljoin(url, reply.headers.get("Location", ""))
                        continue
                    if reply.status != 200:
                        raise to_refusal(reply.status, "", reply.headers, READ_FILE)
                    yield reply
                    return
    raise PlatformError("Slack redirected the download too often. Trying again.")


def _is_trusted(url: str, team: Team) -> bool:
    """Return whether an address may get the token: the API's own, or one of Slack's over HTTPS."""
    asked, own = urlsplit(url), urlsplit(team.client.base_url)
    if (asked.scheme, asked.netloc) == (own.scheme, own.netloc):
        return True
    host = asked.hostname or ""
    return asked.scheme == "https" and any(host == name or host.endswith(f".{name}") for name in SLACK_HOSTS)
