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
    ask_channels: tuple[str, ...] = ()
    ask_full_members: bool = False
    direct_is_one: bool = False  # direct messages outside threads are one conversation
    library_groups: tuple[str, ...] = ()  # ids of user groups that may add documents
    review_groups: tuple[str, ...] = ()  # that may review proposals


def is_on(config: Config) -> bool:
    """Return whether any Slack setting is configured."""
    return bool(config.slack_token() or config.slack_app_token() or config.slack.client_id)


def read_settings(config: Config, *, hears: bool = True) -> SlackSettings | None:
    """Read the settings; None if Slack is off. `hears` False: a worker that only posts needs fewer.

    ConfigError names all problems.
    """
    if not is_on(config):
        return None
    if problems := _problems(config, hears=hears):
        raise ConfigError(f"Slack can't be used: {'; '.join(problems)}. See docs/slack.md for each step.")
    return SlackSettings(
        by_socket=config.slack.transport == "socket",
        token=_revealed(config.slack_token()),
        app_token=_revealed(config.slack_app_token()),
        signing_secret=_revealed(config.slack_signing_secret()),
        client=_client(config),
        has_keys=bool(config.slack_keys()),
        ask_channels=config.slack.ask_channels,
        ask_full_members=config.slack.ask_full_members,
        direct_is_one=config.slack.direct == "one",
        library_groups=config.slack.library_groups,
        review_groups=config.slack.review_groups,
    )


def public_address(url: str | None, by_socket: bool) -> str | None:
    """Return the address for a manifest; in Socket Mode None if Slack wouldn't accept it.

    Raises BadInput if Slack must send requests there.
    """
    if by_socket:
        return url if url is not None and url.startswith("https://") else None
    if url is None:
        raise BadInput("Over HTTP Slack needs the service's public address. Set web.public_url, or use --url.")
    try:
        address = web_address(url)
    except ValueError as error:
        raise BadInput(f"Can't use {url!r}: {error}.") from error
    if not address.startswith("https://"):
        raise BadInput(f"Slack can't use {address!r}. It must begin with https://.")
    return address


def _problems(config: Config, *, hears: bool) -> list[str]:
    token, app_token = _revealed(config.slack_token()), _revealed(config.slack_app_token())
    has_client, by_socket = config.slack.client_id is not None, config.slack.transport == "socket"
    found = {
        NO_BOT_TOKEN: token is None and not has_client,
        WRONG_BOT_TOKEN: token is not None and not token.startswith("xoxb-"),
        NO_APP_TOKEN: hears and by_socket and app_token is None,
        WRONG_APP_TOKEN: hears and by_socket and app_token is not None and not app_token.startswith("xapp-"),
        NO_SIGNING_SECRET: hears and not by_socket and not config.slack_signing_secret(),
        NO_CLIENT_SECRET: hears and has_client and config.slack_client_secret() is None,
        NO_KEY: has_client and not config.slack_keys(),
        NO_PUBLIC_URL: hears and has_client and config.web.public_url is None,
    }
    return [sentence for sentence, is_there in found.items() if is_there]


def _client(config: Config) -> Client | None:
    secret = _revealed(config.slack_client_secret())
    if config.slack.client_id is None or secret is None or config.web.public_url is None:
        return None
    return Client(id=config.slack.client_id, secret=secret, public_url=config.web.public_url)


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None
