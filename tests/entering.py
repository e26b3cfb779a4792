"""Entering a service's web app: by the link that it prints, or in a test's own application as anybody.

The session of a link is kept for its address, so that all requests of the tests to it are the owner's.
"""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
from aiohttp.test_utils import TestClient

from bot.web.parts import PARTS
from bot.web.security import session_cookie
from core.access.identity import OWNER_LASTS
from core.domain.identity import Role

SAME_SITE = {"Sec-Fetch-Site": "same-origin"}  # what browsers send from a page of the service
_SESSIONS: dict[str, dict[str, str]] = {}  # host and port of a service -> cookie


def enter(link: str) -> str:
    """Open a link; gives the address of the service."""
    parts = urlsplit(link)
    reply = httpx.get(link, timeout=60)
    assert reply.status_code == 303, (link, reply.status_code)
    _SESSIONS[parts.netloc] = dict(reply.cookies)
    return f"{parts.scheme}://{parts.netloc}/"


def cookies_of(url: str) -> dict[str, str]:
    """The cookies of the session at an address; none before `enter`."""
    return _SESSIONS.get(urlsplit(url).netloc, {})


def browser_cookies() -> Any:
    """Those of all services, as Playwright takes them."""
    return [
        {"name": name, "value": value, "url": f"http://{place}/"}
        for place, cookies in _SESSIONS.items()
        for name, value in cookies.items()
    ]


def headers_of(url: str) -> dict[str, str]:
    """The same as headers of a request."""
    found = "; ".join(f"{name}={value}" for name, value in cookies_of(url).items())
    return {"Cookie": found, **SAME_SITE} if found else {}


async def sign_in(
    client: TestClient, role: Role = Role.OWNER, person: str = "", name: str = "", *, lasts: timedelta = OWNER_LASTS
) -> None:
    """Make a client of a test's own application somebody."""
    parts = client.server.app[PARTS]
    secret = await parts.sessions.begin(person, name, role, lasts)
    url = client.make_url("/")
    _SESSIONS[url.authority] = {session_cookie(parts): secret}
    client.session.cookie_jar.update_cookies(cookies_of(str(url)), url)
