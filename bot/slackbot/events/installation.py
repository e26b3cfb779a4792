"""Installation of the app in a team, in its administrator's browser.

slack_bolt leads the flow (AsyncOAuthFlow). Footnote adds the storage of states (good once, for ten minutes, in one
browser), the storage of encrypted tokens, the refusals, and the pages.
"""

import html
import logging
from typing import Any

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_bolt_request
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.oauth import OAuthStateUtils
from slack_sdk.oauth.installation_store import Installation as SlackInstallation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore

from bot.config.slack import Client
from bot.slackbot.events.manifest import INSTALL_PATH, REDIRECT_PATH, SCOPES
from bot.slackbot.events.teams import PLATFORM, Teams
from bot.slackbot.web_api import CLOSED, build_client, translated_errors
from core.domain.service import Installation
from core.errors import FootnoteError, InvalidState
from core.ports import Clock
from core.ports.identity import OneTimeCodes
from core.work.rate_limit import Rate, RateLimiter

PURPOSE = "slack install"
STATE_SECONDS = 600
COOKIE = "footnote_slack_install"
INSTALL = "install the app"
VISITS = Rate(per_second=2, burst=60)  # for all visitors together
TOO_MANY = "Too many people are installing Footnote right now. Try again in a minute."
# Pages of failures, by slack_bolt's reason: title, sentence, status.
_FAILURES = {
    "access_denied": ("Not installed", "You chose not to install Footnote, and nothing was changed.", 200),
    "invalid_browser": (
        "Not installed",
        "Another browser opened this page. Cookies may be blocked, or the link is another person's.",
        400,
    ),
    "invalid_state": ("Not installed", "More than ten minutes have passed, or this page was already used.", 401),
    "missing_code": ("Not installed", "Slack sent no code.", 400),
    "invalid_code": ("Not installed", "Slack's code has expired.", 401),
}
_OTHERWISE = ("Not installed", "Slack reports that something went wrong.", 400)
_AGAIN = f'<p><a href="{INSTALL_PATH}">Begin again</a></p>'
_log = logging.getLogger(__name__)


class InstallationPages:
    """The two public pages. Visits are limited, as each one is stored for ten minutes."""

    def __init__(self, flow: AsyncOAuthFlow, clock: Clock) -> None:
        self._flow = flow
        self._gate = RateLimiter(VISITS, clock)

    def add(self, served: web.Application) -> None:
        served.router.add_get(INSTALL_PATH, self.install, allow_head=False)
        served.router.add_get(REDIRECT_PATH, self.finish, allow_head=False)

    async def install(self, request: web.Request) -> web.Response:
        if self._gate.admit(INSTALL_PATH) > 0:
            return _to_response(_page("Not now", f"<p>{TOO_MANY}</p>{_AGAIN}", 429))
        return _to_response(await self._flow.handle_installation(await to_bolt_request(request)))

    async def finish(self, request: web.Request) -> web.Response:
        try:
            return _to_response(await self._flow.handle_callback(await to_bolt_request(request)))
        except FootnoteError as error:
            _log.warning("An installation failed: %s", error)
            status = 400 if isinstance(error, CLOSED) else 503
            return _to_response(_page("Not installed", f"<p>{html.escape(str(error))}</p>{_AGAIN}", status))


class InstallFlow(AsyncOAuthFlow):
    """slack_bolt's flow with Footnote's pages. It reports each refusal, which slack_bolt's own only logs."""

    async def build_install_page_html(self, url: str, request: AsyncBoltRequest) -> str:
        return _document(
            "Add Footnote to Slack",
            "<p>Footnote answers questions from your team's own documents, with footnotes. Slack will show you what it "
            f'may do there, and ask you.</p><p><a href="{html.escape(url)}">Continue to Slack</a></p>',
        )

    async def run_installation(self, code: str) -> SlackInstallation | None:
        """Exchange the code for a token. Raises core errors, InvalidState for an unsupported kind of installation."""
        with translated_errors(INSTALL):
            asked = {
                "client_id": self.settings.client_id,
                "client_secret": self.settings.client_secret,
                "code": code,
                "redirect_uri": self.settings.redirect_uri or "",
            }
            reply = await self.client.api_call("oauth.v2.access", data=asked)
            team = reply.get("team") or {}
            if reply.get("is_enterprise_install") or not team.get("id"):
                raise InvalidState("Footnote can't be installed in a whole organisation. Choose a single workspace.")
            if reply.get("expires_in"):
                raise InvalidState(
                    "The app's tokens expire (token rotation). Create the app with `footnote manifest slack`."
                )
            identity = await self.client.auth_test(token=reply["access_token"])
        installation = SlackInstallation(
            team_id=team["id"],
            team_name=team.get("name") or team["id"],
            bot_token=reply["access_token"],
            bot_id=identity["bot_id"],
            bot_user_id=reply.get("bot_user_id") or identity["user_id"],
            bot_scopes=reply.get("scope") or "",
            user_id=(reply.get("authed_user") or {}).get("id") or "",
        )
        installation.set_custom_value("url", identity.get("url") or "")
        return installation


def build_flow(client: Client, codes: OneTimeCodes, teams: Teams, clock: Clock) -> InstallFlow:
    settings = AsyncOAuthSettings(
        client_id=client.id,
        client_secret=client.secret,
        scopes=sorted(SCOPES),
        user_scopes=[],
        redirect_uri=f"{client.public_url}{REDIRECT_PATH}",
        install_path=INSTALL_PATH,
        redirect_uri_path=REDIRECT_PATH,
        callback_options=AsyncCallbackOptions(success=_show_success, failure=_show_failure),
        installation_store=_Store(teams, clock),
        state_store=_States(codes),
        state_cookie_name=COOKIE,
        state_expiration_seconds=STATE_SECONDS,
    )
    settings.state_utils = _Cookies(cookie_name=COOKIE, expiration_seconds=STATE_SECONDS)
    return InstallFlow(client=build_client(None), settings=settings)


class _Cookies(OAuthStateUtils):
    def build_set_cookie_for_new_state(self, state: str) -> str:
        """Send the cookie when Slack redirects back, but not for other sites."""
        return f"{super().build_set_cookie_for_new_state(state)}; SameSite=Lax"


class _States(AsyncOAuthStateStore):
    """States in the database, so that one process can consume a state that another one issued."""

    def __init__(self, codes: OneTimeCodes) -> None:
        self._codes = codes

    @property
    def logger(self) -> logging.Logger:
        return _log

    async def async_issue(self, *args: Any, **kwargs: Any) -> str:
        return await self._codes.issue(PURPOSE, STATE_SECONDS)

    async def async_consume(self, state: str) -> bool:
        return await self._codes.consume(PURPOSE, state)


class _Store(AsyncInstallationStore):
    """Saves installations; `Teams` reads them."""

    def __init__(self, teams: Teams, clock: Clock) -> None:
        self._teams = teams
        self._clock = clock

    @property
    def logger(self) -> logging.Logger:
        return _log

    async def async_save(self, installation: SlackInstallation) -> None:
        stored = Installation(
            platform=PLATFORM,
            team_id=installation.team_id or "",
            team_name=installation.team_name or "",
            team_url=str(installation.get_custom_value("url") or ""),
            bot_user_id=installation.bot_user_id or "",
            bot_id=installation.bot_id or "",
            token=installation.bot_token or "",
            scopes=frozenset(installation.bot_scopes or ()),
            installed_at=self._clock.now(),
            installed_by=installation.user_id or "",
        )
        await self._teams.save(stored)
        _log.info("The app was installed in Slack team %s (%s)", stored.team_id, stored.team_name)


# ---------------------------------------------------------------------- pages


async def _show_success(args: AsyncSuccessArgs) -> BoltResponse:
    team = html.escape(args.installation.team_name or "")
    return _page(
        "Footnote is installed",
        f"<p>Footnote is in {team} now. Invite it into a channel with /invite, mention it, and ask.</p>"
        '<p><a href="https://slack.com/app_redirect?team='
        f'{html.escape(args.installation.team_id or "")}">Back to Slack</a></p>',
        200,
        args.settings.state_utils.build_set_cookie_for_deletion(),
    )


async def _show_failure(args: AsyncFailureArgs) -> BoltResponse:
    title, sentence, status = _FAILURES.get(args.reason, _OTHERWISE)
    _log.info("An installation was not finished: %s", args.reason if args.reason in _FAILURES else "another reason")
    return _page(title, f"<p>{html.escape(sentence)}</p>{_AGAIN}", status)


def _page(title: str, body: str, status: int, cookie: str | None = None) -> BoltResponse:
    headers = {"Content-Type": "text/html; charset=utf-8", **({"Set-Cookie": [cookie]} if cookie else {})}
    return BoltResponse(status=status, body=_document(title, body), headers=headers)


def _document(title: str, body: str) -> str:
    """Return a page in the style of the web pages, without scripts; `body` is HTML."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)} · Footnote</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<link rel="stylesheet" href="/static/base.css"></head>'
        f'<body><main id="main"><section class="notice"><h1>{html.escape(title)}</h1>{body}</section></main></body>'
        "</html>"
    )


def _to_response(reply: BoltResponse) -> web.Response:
    """Keep the cookies unchanged: slack_bolt's adapter drops their SameSite attribute."""
    response = web.Response(status=reply.status, text=reply.body, content_type="text/html")
    response.headers["Cache-Control"] = "no-store"
    for name, values in reply.headers.items():
        for value in values if name == "set-cookie" else ():
            response.headers.add("Set-Cookie", value)
    return response
