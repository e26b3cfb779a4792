"""Slack's settings with their secrets; one error names everything that is missing."""

from dataclasses import dataclass, field

from pydantic import SecretStr

from bot.config.configuration import SLACK_KEY_SETTING, Config
from bot.config.sections import web_address
from core.errors import BadInput, ConfigError

APP_PAGE = "https://api.slack.com/apps"

NO_BOT_TOKEN = (
    "no bot token: put the one of “OAuth & Permissions” (xoxb-...) into SLACK_BOT_TOKEN or the file of "  # noqa: S105
    "[slack] token_file, or set [slack] client_id so that teams can install the app"
)
WRONG_BOT_TOKEN = (
    "SLACK_BOT_TOKEN (or the file of [slack] token_file) holds no bot token, "  # noqa: S105
    "which begins with xoxb-: copy it from “OAuth & Permissions”"
)
NO_APP_TOKEN = (
    'no app token for transport "socket": make one under “Basic Information”, “App-Level Tokens”, with the scope '  # noqa: S105
    "connections:write, and put it (xapp-...) into SLACK_APP_TOKEN or the file of [slack] app_token_file"
)
WRONG_APP_TOKEN = (
    "SLACK_APP_TOKEN (or the file of [slack] app_token_file) holds no app token, "  # noqa: S105
    "which begins with xapp-: make one under “Basic Information”, “App-Level Tokens”"
)
NO_SIGNING_SECRET = (
    'no signing secret for transport "http": copy it from “Basic Information” into SLACK_SIGNING_SECRET or the file '  # noqa: S105
    "of [slack] signing_secret_file"
)
NO_CLIENT_SECRET = (
    "no client secret for client_id: copy it from “Basic Information” into SLACK_CLIENT_SECRET or the file of "  # noqa: S105
    "[slack] client_secret_file"
)
NO_KEY = (
    "no key that encrypts the tokens of teams: make one with "
    "`python3 -c 'import secrets; print(secrets.token_urlsafe(32))'`, and put it into " + SLACK_KEY_SETTING
)
NO_PUBLIC_URL = "no web.public_url: teams install the app on a page there"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """The app that teams install."""

    id: str
    secret: str = field(repr=False)
    public_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackSettings:
    """Checked settings. `client` None: teams can't install the app."""

    by_socket: bool
    token: str | None = field(repr=False)  # of one team
    app_token: str | None = field(repr=False)
    signing_secret: str | None = field(repr=False)
    client: Client | None
    has_keys: bool  # for the tokens of stored teams


def is_on(config: Config) -> bool:
    """Return whether any Slack setting is configured."""
    return bool(config.slack_token() or config.slack_app_token() or config.slack.client_id)


def read_settings(config: Config, *, hears: bool = True) -> SlackSettings | None:
    """Read the settings; None if Slack is off. `hears` False: a worker that only posts needs fewer.

    ConfigError names all problems.
    """
    if not is_on(config):
        return None
    problems = [*_token_problems(config), *(_hearing_problems(config) if hears else ()), *_team_problems(config, hears)]
    if problems:
        raise ConfigError(f"Slack can't be used: {'; '.join(problems)}. See docs/slack.md for each step.")
    return SlackSettings(
        by_socket=config.slack.transport == "socket",
        token=_revealed(config.slack_token()),
        app_token=_revealed(config.slack_app_token()),
        signing_secret=_revealed(config.slack_signing_secret()),
        client=_client(config),
        has_keys=bool(config.slack_keys()),
    )


def public_address(url: str | None, by_socket: bool) -> str | None:
    """Return the address for a manifest; in Socket Mode None if Slack wouldn't accept it.

    Raises BadInput if Slack must send requests there.
    """
    if by_socket:
        return url if url is not None and url.startswith("https://") else None
    if url is None:
        raise BadInput("Over HTTP Slack needs the service's public address: give --url, or set web.public_url.")
    try:
        address = web_address(url)
    except ValueError as error:
        raise BadInput(f"Can't use {url!r}: {error}.") from error
    if not address.startswith("https://"):
        raise BadInput(f"Slack can't use {address!r}. It must begin with https://.")
    return address


def _token_problems(config: Config) -> list[str]:
    token = _revealed(config.slack_token())
    if token is None:
        return [] if config.slack.client_id else [NO_BOT_TOKEN]
    return [] if token.startswith("xoxb-") else [WRONG_BOT_TOKEN]


def _hearing_problems(config: Config) -> list[str]:
    if config.slack.transport == "http":
        return [] if config.slack_signing_secret() else [NO_SIGNING_SECRET]
    token = _revealed(config.slack_app_token())
    if token is None:
        return [NO_APP_TOKEN]
    return [] if token.startswith("xapp-") else [WRONG_APP_TOKEN]


def _team_problems(config: Config, hears: bool) -> list[str]:
    """Check the settings for several teams. A worker that only posts needs just the key."""
    if config.slack.client_id is None:
        return []
    missing = [
        (not hears or config.slack_client_secret() is not None, NO_CLIENT_SECRET),
        (bool(config.slack_keys()), NO_KEY),
        (not hears or config.web.public_url is not None, NO_PUBLIC_URL),
    ]
    return [sentence for is_there, sentence in missing if not is_there]


def _client(config: Config) -> Client | None:
    secret = _revealed(config.slack_client_secret())
    if config.slack.client_id is None or secret is None or config.web.public_url is None:
        return None
    return Client(id=config.slack.client_id, secret=secret, public_url=config.web.public_url)


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None
