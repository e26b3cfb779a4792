"""The configuration: one TOML file, every key documented in config.example.toml, secrets only from the environment.

Order, first wins: command line, environment (`FOOTNOTE_<SECTION>__<KEY>`), the file, defaults. Unknown keys are
refused by name and all problems are reported together.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, ValidationError, model_validator

from bot.config.providers import (
    DEFAULT,
    EXTRACTIVE,
    ModelConfig,
    NamedProviderConfig,
    ProviderConfig,
    WorkspaceConfig,
    all_providers,
    default_key_variable,
    unknown_names,
)
from bot.config.sections import (
    DATABASE_VARIABLE,
    AgentConfig,
    ApiConfig,
    DatabaseConfig,
    DiscordConfig,
    ExtractionConfig,
    IndexConfig,
    IngestConfig,
    ModelsConfig,
    ReferencesConfig,
    ReplayConfig,
    Section,
    ServiceConfig,
    SlackConfig,
    WebConfig,
)
from bot.config.sources import TOKEN_VARIABLES, SourceConfig, twice_named
from core.domain.sources import SourceSpec
from core.errors import ConfigError

ENV_PREFIX = "FOOTNOTE_"
WEB_KEY_VARIABLE = "FOOTNOTE_WEB_KEY"  # a secret, no key of the file
API_TOKEN_VARIABLE = "FOOTNOTE_API_TOKEN"  # noqa: S105 - the name of one, not one; no key of the file either
SLACK_KEY_VARIABLE = "FOOTNOTE_SLACK_KEY"  # encrypts the tokens of teams; no key of the file either
SLACK_KEY_SETTING = f"{SLACK_KEY_VARIABLE} or [slack] key_file"  # for people
SECRETS = (WEB_KEY_VARIABLE, API_TOKEN_VARIABLE, DATABASE_VARIABLE, SLACK_KEY_VARIABLE)
NEVER_SHOWN = frozenset({"database.url", "slack.client_id"})  # keys whose values may hold a secret by mistake
DEFAULT_FILE = Path("config.toml")
_PASSWORD = re.compile(r"//[^/@\s']*@")


class Config(Section):
    data_dir: Path | None = None
    workspace: str = "local"
    provider: ProviderConfig = Field(default_factory=ProviderConfig)
    providers: dict[str, NamedProviderConfig] = Field(default_factory=dict)
    workspaces: dict[str, WorkspaceConfig] = Field(default_factory=dict)
    agent: AgentConfig = Field(default_factory=AgentConfig)
    references: ReferencesConfig = Field(default_factory=ReferencesConfig)
    replay: ReplayConfig = Field(default_factory=ReplayConfig)
    database: DatabaseConfig = Field(default_factory=DatabaseConfig)
    index: IndexConfig = Field(default_factory=IndexConfig)
    models: ModelsConfig = Field(default_factory=ModelsConfig)
    ingest: IngestConfig = Field(default_factory=IngestConfig)
    extraction: ExtractionConfig = Field(default_factory=ExtractionConfig)
    web: WebConfig = Field(default_factory=WebConfig)
    api: ApiConfig = Field(default_factory=ApiConfig)
    discord: DiscordConfig = Field(default_factory=DiscordConfig)
    slack: SlackConfig = Field(default_factory=SlackConfig)
    service: ServiceConfig = Field(default_factory=ServiceConfig)
    sources: tuple[SourceConfig, ...] = ()

    @model_validator(mode="after")
    def _names_each_source_once(self) -> "Config":
        if twice := twice_named(self.sources, self.workspace):
            raise ValueError(f"two [[sources]] are called {' and two '.join(map(repr, twice))}: give each its own name")
        return self

    @model_validator(mode="after")
    def _names_providers_that_are_there(self) -> "Config":
        if taken := {DEFAULT, EXTRACTIVE} & set(self.providers):
            raise ValueError(f"[providers.{min(taken)}] can't be called so: the name stands for what is there anyway")
        if problems := unknown_names(self.all_providers(), self.workspaces):
            there = ", ".join(self.all_providers())
            raise ValueError(f"{' and '.join(problems)}: there are {there}; more are made by a [providers.NAME]")
        return self

    def all_providers(self) -> dict[str, ModelConfig]:
        """By name: `default` is [provider], `extractive` is always there."""
        return all_providers(self.provider, self.providers)

    def source_specs(self) -> tuple[SourceSpec, ...]:
        """The configured sources, in their order."""
        return tuple(source.to_spec(self.workspace) for source in self.sources)

    def source_token(self, workspace: str, name: str) -> SecretStr | None:
        """The token of a source: from its `token_file`, else from the variable that it (or its kind) names."""
        for source in self.sources:
            if (source.workspace or self.workspace, source.name) == (workspace, name):
                variable = getattr(source, "token_variable", None) or TOKEN_VARIABLES.get(source.kind, "")
                return read_secret(getattr(source, "token_file", None), variable)
        return None

    def extraction_model(self, workspace: str) -> str | None:
        """Return the model of [extraction] if the workspace uses the default workspace's provider."""
        ours, theirs = (self.workspaces.get(name) for name in (self.workspace, workspace))
        is_same = (ours.provider if ours else None) == (theirs.provider if theirs else None)
        return self.extraction.model if is_same else None

    @property
    def data_path(self) -> Path:
        """The data directory, absolute; made when something is stored."""
        if self.data_dir is not None:
            return self.data_dir.expanduser().absolute()
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        return Path(base) / "footnote"

    def database_url(self) -> SecretStr | None:
        """The PostgreSQL database's URL: from `url_file`, else FOOTNOTE_DATABASE_URL, else `url`; None: SQLite."""
        given = read_secret(self.database.url_file, DATABASE_VARIABLE)
        return given or (SecretStr(self.database.url) if self.database.url else None)

    def provider_key(self, name: str = DEFAULT) -> SecretStr | None:
        """A provider's API key: from `api_key_file`, else the variable it names, else its vendor's usual one."""
        settings = self.all_providers()[name]
        return read_secret(settings.api_key_file, default_key_variable(settings, name) or "")

    def index_key(self) -> SecretStr | None:
        """The Qdrant server's API key: from `api_key_file`, else QDRANT_API_KEY."""
        return read_secret(self.index.api_key_file, "QDRANT_API_KEY")

    def web_key(self) -> SecretStr | None:
        """The key that signs links: from `secret_key_file`, else FOOTNOTE_WEB_KEY; None: one of the data directory."""
        return read_secret(self.web.secret_key_file, WEB_KEY_VARIABLE)

    def discord_token(self) -> SecretStr | None:
        """The bot's token: from `token_file`, else DISCORD_TOKEN."""
        return read_secret(self.discord.token_file, "DISCORD_TOKEN")

    def slack_token(self) -> SecretStr | None:
        """The bot's token in one team (xoxb-): from `token_file`, else SLACK_BOT_TOKEN."""
        return read_secret(self.slack.token_file, "SLACK_BOT_TOKEN")

    def slack_app_token(self) -> SecretStr | None:
        """The app's own token (xapp-), for Socket Mode: from `app_token_file`, else SLACK_APP_TOKEN."""
        return read_secret(self.slack.app_token_file, "SLACK_APP_TOKEN")

    def slack_signing_secret(self) -> SecretStr | None:
        """What proves that a request is Slack's: from `signing_secret_file`, else SLACK_SIGNING_SECRET."""
        return read_secret(self.slack.signing_secret_file, "SLACK_SIGNING_SECRET")

    def slack_client_secret(self) -> SecretStr | None:
        """The app's secret when teams install it: from `client_secret_file`, else SLACK_CLIENT_SECRET."""
        return read_secret(self.slack.client_secret_file, "SLACK_CLIENT_SECRET")

    def slack_keys(self) -> list[str]:
        """Keys that encrypt the tokens of teams, newest first: from `key_file`, else FOOTNOTE_SLACK_KEY.

        They stand on lines of their own, or between commas.
        """
        given = read_secret(self.slack.key_file, SLACK_KEY_VARIABLE)
        words = given.get_secret_value().replace(",", "\n").split("\n") if given else []
        return [word.strip() for word in words if word.strip()]

    def api_token(self) -> SecretStr | None:
        """The API's bearer token: from `token_file`, else FOOTNOTE_API_TOKEN."""
        return read_secret(self.api.token_file, API_TOKEN_VARIABLE)


def load_config(file: Path | None = None, **overrides: object) -> Config:
    """The configuration of this run. `file` None: `config.toml` in this folder, if it is there.

    Raises ConfigError naming every problem: an unreadable file, unknown keys, values that don't fit.
    """
    values = _read_toml(file)
    for path, text in _environment().items():
        _put(values, path, text)
    values.update({key: value for key, value in overrides.items() if value is not None})
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(_sentence(error, file, values)) from error


def read_secret(file: Path | None, variable: str) -> SecretStr | None:
    """A secret from a file, else from the environment; None when neither has one."""
    if file is not None:
        try:
            return SecretStr(file.expanduser().read_text(encoding="utf-8").strip())
        except OSError as error:
            raise ConfigError(f"The secret file {str(file)!r} can't be read: {error.strerror}.") from error
    value = os.environ.get(variable, "").strip()
    return SecretStr(value) if value else None


def _read_toml(file: Path | None) -> dict[str, Any]:
    path = file or DEFAULT_FILE
    if file is None and not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"The configuration {str(path)!r} can't be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The configuration {str(path)!r} is not valid TOML: {error}.") from error


def _environment() -> dict[tuple[str, ...], str]:
    """FOOTNOTE_AGENT__MAX_STEPS=3 -> {("agent", "max_steps"): "3"}.

    The names of secrets and of tests (FOOTNOTE_TEST_*) are left alone; an empty variable is as good as none.
    """
    found = {}
    for name, value in os.environ.items():
        if value and name.startswith(ENV_PREFIX) and not name.startswith((f"{ENV_PREFIX}TEST_", *SECRETS)):
            found[tuple(name.removeprefix(ENV_PREFIX).lower().split("__"))] = value
    return found


def _put(values: dict[str, Any], path: tuple[str, ...], value: str) -> None:
    *parents, last = path
    for parent in parents:
        values = values.setdefault(parent, {})
    values[last] = value


def _sentence(error: ValidationError, file: Path | None, values: dict[str, Any]) -> str:
    problems = []
    for item in error.errors():
        key = _key(item["loc"], values)
        if item["type"] == "extra_forbidden":
            problems.append(f"{key}: there is no such key")
        else:
            said = item["msg"].removeprefix("Value error, ")
            shown = "" if key in NEVER_SHOWN or isinstance(item["input"], dict) else f" (it is {item['input']!r})"
            problems.append(f"{key}: {said[:1].lower()}{said[1:]}{_PASSWORD.sub('//…@', shown)}".removeprefix(": "))
    where = f"The configuration {str(file or DEFAULT_FILE)!r} (with the environment's FOOTNOTE_ variables)"
    return f"{where} can't be used: {'; '.join(problems)}. See config.example.toml for every key."


def _key(place: tuple[int | str, ...], values: dict[str, Any]) -> str:
    """agent.max_steps; of a source, by its name where it has one: sources[wiki].urls.0."""
    if len(place) < 2 or place[0] != "sources" or not isinstance(place[1], int):
        return ".".join(map(str, place))
    given = values["sources"][place[1]]
    name = given.get("name", place[1]) if isinstance(given, dict) else place[1]
    rest = place[3:]  # behind the kind, by which pydantic tells the models apart
    return ".".join([f"sources[{name}]", *map(str, rest)])
