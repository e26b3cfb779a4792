"""Files that people share on Slack: where one lies is asked of Slack, its bytes are then read with the token."""

from urllib.parse import urljoin, urlsplit

import aiohttp

from bot.presentation.platform_parts import Pause
from bot.slackbot.calls import call
from bot.slackbot.errors import READ_FILE, to_refusal, understood
from bot.slackbot.teams import Team
from core.errors import AccessDenied, InvalidState, NotFound, PlatformError

DOWNLOAD_SECONDS = 60.0
MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
# Who may have the token, besides the API's own address.
SLACK_HOSTS = ("slack.com", "slack-files.com", "slack-gov.com")


async def read_file(team: Team, file_id: str, pause: Pause) -> bytes:
    """The bytes of a file. Raises core errors: it is gone, lies outside Slack, or can't be read now."""
    file = (await call(READ_FILE, lambda: team.client.files_info(file=file_id), pause=pause))["file"]
    name, url = str(file.get("name") or file_id), str(file.get("url_private_download") or file.get("url_private") or "")
    if not url:
        raise NotFound(f"The file {name!r} is gone: it was deleted, or hidden by the limits of the workspace's plan.")
    if file.get("is_external") or not _is_slacks(url, team):
        raise InvalidState(f"The file {name!r} is only linked on Slack, where I can't read it: upload it.")
    size = int(file.get("size") or 0)
    data, content_type = await _download(team, url, size)
    if len(data) == size:
        return data
    if content_type == "text/html":  # a page to log in, with status 200
        raise AccessDenied(f"Slack does not give me the file {name!r}: give the app the scope files:read.")
    raise PlatformError(f"Slack gave {len(data):,} bytes of the file {name!r}, which has {size:,}: trying again.")


async def _download(team: Team, url: str, size: int) -> tuple[bytes, str]:
    """The bytes and their type. Redirects are followed by hand, as the token is for Slack's hosts alone."""
    timeout = aiohttp.ClientTimeout(total=DOWNLOAD_SECONDS)
    with understood(READ_FILE):
        async with aiohttp.ClientSession(timeout=timeout) as session:
            for _ in range(MOST_REDIRECTS):
                headers = {"Authorization": f"Bearer {team.token}"} if _is_slacks(url, team) else {}
                async with session.get(url, headers=headers, allow_redirects=False, proxy=team.client.proxy) as reply:
                    if reply.status in REDIRECTS:
                        url = urljoin(url, reply.headers.get("Location", ""))
                        continue
                    if reply.status != 200:
                        raise to_refusal(reply.status, "", reply.headers, READ_FILE)
                    return await _read(reply, size), reply.content_type
    raise PlatformError("Slack leads from one address of the file to the next: trying again.")


async def _read(reply: aiohttp.ClientResponse, size: int) -> bytes:
    """Little more than was told: what comes besides is not this file."""
    data = bytearray()
    async for piece in reply.content.iter_chunked(1 << 16):
        data += piece
        if len(data) > size:
            break
    return bytes(data)


def _is_slacks(url: str, team: Team) -> bool:
    """Whether an address may be sent the token: the API's own, or one of Slack's over HTTPS."""
    asked, own = urlsplit(url), urlsplit(team.client.base_url)
    if (asked.scheme, asked.netloc) == (own.scheme, own.netloc):
        return True
    host = asked.hostname or ""
    return asked.scheme == "https" and any(host == name or host.endswith(f".{name}") for name in SLACK_HOSTS)
