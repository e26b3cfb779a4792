"""Live checks of tokens, told in sentences with their fix."""

import asyncio
import re
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from bot.config.slack import APP_PAGE
from bot.discordbot.connection import BotAccount, look_up
from bot.presentation.setup_screens import Finding
from bot.setup.step import ok, problem, warning
from bot.slackbot.events.manifest import missing_scopes
from bot.slackbot.events.teams import check_token, list_teams
from bot.slackbot.events.transport import NO_SOCKET_MODE, open_address
from bot.slackbot.web_api import build_client
from core.errors import ConfigError, FootnoteError, PlatformError

DISCORD_PORTAL = "https://discord.com/developers/applications"
# Forms of other ids and secrets that people paste.
_APPLICATION_ID = re.compile(r"\d{15,21}")
_PUBLIC_KEY = re.compile(r"[0-9a-f]{64}")
_CLIENT_SECRET = re.compile(r"[\w-]{32}")
_SLACK_SECRET = re.compile(r"[0-9a-f]{32}")
NO_TEAMS_LISTED = "Slack did not list the teams of {}. Try again, or install the app in a single team."
NO_TEAMS = "{} has approved the app for none of its teams. Ask an administrator there to add it to one."
UNREACHABLE = "{} did not answer. Check this machine's network, and try again."
ANSWER_SECONDS = 10.0  # for a platform to answer; the person waits
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result of a check. `refused`: the platform doesn't know the token, so that it isn't stored."""

    findings: Sequence[Finding]
    refused: bool = False
    bot: BotAccount | None = None  # on Discord
    teams: Mapping[str, str] = field(default_factory=dict)  # on Slack: id -> name
    name: str = ""  # of the bot on Slack


def refused(sentence: str, link: str = "") -> Checked:
    return Checked(findings=[problem(sentence=sentence, link=link)], refused=True)


async def check_discord(token: str) -> Checked:
    """Check a bot's token: the bot, its intent and its servers."""
    if mistaken := _mistaken_for_discord_token(token):
        return refused(mistaken, DISCORD_PORTAL)
    try:
        bot = await _in_time(look_up(token))
    except ConfigError:
        return refused(
            "Discord does not know this token. On the page “Bot”, press “Reset Token” once more, and copy all of it.",
            DISCORD_PORTAL,
        )
    except PlatformError:
        return Checked(findings=[problem(sentence=UNREACHABLE.format("Discord"))])
    found = [ok(sentence=f"The token works. Your bot is called {bot.name}.")]
    if bot.has_message_content:
        found.append(ok(sentence="Message Content Intent is on."))
    else:
        page = f"{DISCORD_PORTAL}/{bot.id}/bot"
        found.append(
            problem(
                sentence="Message Content Intent is off, so the bot can't connect. Turn it on at Developer portal › "
                "Bot › Privileged Gateway Intents.",
                link=page,
            )
        )
    if not bot.servers:
        found.append(warning(sentence="Not in a server yet. That is the next step."))
    return Checked(findings=found, bot=bot)


async def check_slack(token: str) -> Checked:
    """Check a bot's token: the team, the bot and its scopes."""
    if mistaken := _mistaken_for_slack_token(token):
        return refused(mistaken, APP_PAGE)
    try:
        reply = await _in_time(check_token(token))
    except ConfigError:
        return refused(
            "Slack does not know this bot token. Install the app once more on its page “Install App”, and copy the "
            "token from there.",
            APP_PAGE,
        )
    except PlatformError:
        return Checked(findings=[problem(sentence=UNREACHABLE.format("Slack"))])
    place, name = str(reply.get("team") or reply["team_id"]), str(reply.get("user") or reply["user_id"])
    try:
        teams = await _in_time(list_teams(token, reply))
    except FootnoteError:  # only an organisation's teams are asked for
        return Checked(findings=[problem(sentence=NO_TEAMS_LISTED.format(place), link=APP_PAGE)], name=name)
    if not teams:
        return Checked(findings=[problem(sentence=NO_TEAMS.format(place), link=APP_PAGE)], name=name)
    where = f"{len(teams)} teams of {place}" if len(teams) > 1 else next(iter(teams.values()))
    found = [ok(sentence=f"The bot token works. Your bot is called {name}, in {where}.")]
    if missing := missing_scopes(str(reply["scopes"])):
        scopes = f"scope{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
        found.append(
            problem(
                sentence=f"The bot lacks the {scopes}. Paste the manifest on your app's page “App Manifest”, save it, "
                "and install the app again.",
                link=APP_PAGE,
            )
        )
    return Checked(findings=found, teams=teams, name=name)


async def check_slack_app(token: str) -> Checked:
    """Check an app's token by opening, but not using, a connection in Socket Mode."""
    if mistaken := _mistaken_for_slack_app_token(token):
        return refused(mistaken, APP_PAGE)
    try:
        await _in_time(open_address(build_client(None), token))
    except ConfigError as error:
        if str(error) == NO_SOCKET_MODE:
            return Checked(findings=[problem(sentence=NO_SOCKET_MODE, link=APP_PAGE)])
        return refused(
            "Slack does not accept this app token. Make a new one with the scope connections:write on the page “Basic "
            "Information”, under “App-Level Tokens”.",
            APP_PAGE,
        )
    except PlatformError:
        return Checked(findings=[problem(sentence=UNREACHABLE.format("Slack"))])
    return Checked(findings=[ok(sentence="The app token works: Slack opens a connection.")])


async def check_slack_secret(secret: str) -> Checked:
    """Check the form of a signing secret; Slack has no call that tries it."""
    if secret.startswith(("xoxb-", "xapp-", "xoxp-")):
        return refused("This is a token. The signing secret is on your app's page “Basic Information”.", APP_PAGE)
    if not _SLACK_SECRET.fullmatch(secret):
        sentence = (
            "This doesn't look like a signing secret, which has 32 digits and letters from a to f. Copy it from your "
            "app's page “Basic Information”."
        )
        return Checked(findings=[warning(sentence=sentence, link=APP_PAGE)])
    return Checked(
        findings=[ok(sentence="The signing secret has the right form. Slack's first request will prove it.")]
    )


async def _in_time(answer: Awaitable[T]) -> T:
    """Raises PlatformError for a platform that takes too long."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await answer
    except TimeoutError as error:
        raise PlatformError("The platform did not answer in time.") from error


def _mistaken_for_discord_token(text: str) -> str | None:
    if text.startswith(("xoxb-", "xapp-")):
        return "This is a token of Slack. Copy the one of Discord from the developer portal, page “Bot”."
    if text.startswith("mfa."):
        return "This is a person's token. Footnote needs the bot's, from the developer portal, page “Bot”."
    kinds = ((_APPLICATION_ID, "application ID"), (_PUBLIC_KEY, "public key"), (_CLIENT_SECRET, "client secret"))
    found = next((name for pattern, name in kinds if pattern.fullmatch(text)), None)
    return f"This is the {found}. The token is on the page “Bot”." if found else None


def _mistaken_for_slack_token(text: str) -> str | None:
    if text.startswith("xoxb-"):
        return None
    if text.startswith("xapp-"):
        return "This is the app-level token; it belongs in the second field."
    return _mistaken_for_any_slack_token(text) or (
        "This is no bot token: those begin with xoxb-. Copy it from your app's page “Install App”."
    )


def _mistaken_for_slack_app_token(text: str) -> str | None:
    if text.startswith("xapp-"):
        return None
    if text.startswith("xoxb-"):
        return "This is the bot token; it belongs in the first field."
    return _mistaken_for_any_slack_token(text) or (
        "This is no app-level token: those begin with xapp-. Make one on your app's page “Basic Information”, under "
        "“App-Level Tokens”."
    )


def _mistaken_for_any_slack_token(text: str) -> str | None:
    if text.startswith("xoxp-"):
        return "This is a person's token. Footnote needs the bot's, from your app's page “Install App”."
    if _SLACK_SECRET.fullmatch(text):
        return "This is the client secret or the signing secret. The tokens begin with xoxb- and xapp-."
    return None
