"""Installing the app in a team, as a browser does it: the bot's page, Slack's question, and back with a code."""

import html
import re
from dataclasses import dataclass
from urllib.parse import urlencode

import aiohttp
from yarl import URL

from tests.slack_server.state import Team
from tests.slack_server.web_api import WebApi

_AUTHORIZE = re.compile(r"https?://[^\s\"'<>]+/oauth/v2/authorize\?[^\s\"'<>]+")


@dataclass(kw_only=True, slots=True)
class Visit:
    """The page that the browser ended on; `address` is where it was sent, so that it can be visited again."""

    status: int
    text: str
    address: str


async def install(api: WebApi, team: Team, user: str, address: str, *, consent: bool) -> Visit:
    """From the bot's install page, or from Slack's own address straight away."""
    origin = URL(address).origin()
    jar = aiohttp.CookieJar(unsafe=True, treat_as_secure_origin=origin)
    async with aiohttp.ClientSession(cookie_jar=jar) as browser:
        asked = address if "/oauth/v2/authorize" in address else await _asked(browser, address)
        query = dict(URL(asked).query)
        back = (
            api.consent(team, user, query)
            if consent
            else urlencode({"error": "access_denied", "state": query.get("state", "")})
        )
        redirect = query.get("redirect_uri") or f"{origin}/slack/oauth_redirect"
        target = f"{redirect}{'&' if '?' in redirect else '?'}{back}"
        async with browser.get(URL(target, encoded=True), allow_redirects=False) as reply:
            return Visit(status=reply.status, text=await reply.text(), address=target)


async def _asked(browser: aiohttp.ClientSession, address: str) -> str:
    """The link to Slack that the bot's page holds or leads to."""
    async with browser.get(address, allow_redirects=False) as reply:
        text = reply.headers.get("Location", "") + " " + html.unescape(await reply.text())
        found = _AUTHORIZE.search(text)
        assert found is not None, f"{address} does not lead to Slack: {reply.status} {text[:200]!r}"
        return found[0]
