"""The configuration: one TOML file, secrets only from the environment; config.example.toml documents every key.

Precedence: command line, environment (`FOOTNOTE_<SECTION>__<KEY>`), file, defaults. One error reports unknown keys and
all other problems.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, ValidationError, model_validator

from bot.config.providers import (
    DEFAULT,
    EXTRACTIVE,
    PRICES,
    ModelConfig,
    NamedProviderConfig,
    PriceConfig,
    ProviderConfig,
    WorkspaceConfig,
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
    LimitsConfig,
    LiveChannelsConfig,
    ModelsConfig,
    ReferencesConfig,
    ReplayConfig,
    Section,
    ServiceConfig,
    SlackConfig,
    WebConfig,
)
from bot.config.sources import TOKEN_VARIABLES, SourceConfig, twice_named
from core.domain.limits import ParallelLimits
from core.domain.sources import SourceSpec
from core.domain.spending import Price
from core.errors import ConfigError

ENV_PREFIX = "FOOTNOTE_"
WEB_KEY_VARIABLE = "FOOTNOTE_WEB_KEY"  # a secret, so not in the file
# In the data directory. A backup omits parts that Footnote can rebuild: the index, models, mirrors of sources.
WEB_KEY_FILE = "web.key"  # signs links if no key is configured
DATABASE_FILE = "footnote.db"
KEPT_FOLDER = "kept"
CAPABILITIES_FILE = "capabilities.json"  # detected abilities of models
MODELS_FOLDER = "models"  # downloads of fastembed
MIRRORS_FOLDER = "mirrors"  # one folder for each fetched source
UPLOADS_FOLDER = "uploads"
BACKED_UP = (WEB_KEY_FILE, KEPT_FOLDER, UPLOADS_FOLDER)  # with the database
API_TOKEN_VARIABLE = "FOOTNOTE_API_TOKEN"  # noqa: S105 - its name; not in the file either
PROXY_SECRET_VARIABLE = "FOOTNOTE_PROXY_SECRET"  # noqa: S105 - its name; not in the file either
OIDC_SECRET_VARIABLE = "FOOTNOTE_OIDC_SECRET"  # noqa: S105 - its name; not in the file either
SLACK_KEY_VARIABLE = "FOOTNOTE_SLACK_KEY"  # encrypts the tokens of teams; not in the file either
SLACK_KEY_SETTING = f"{SLACK_KEY_VARIABLE} or [slack] key_file"  # for people
SECRETS = (
    WEB_KEY_VARIABLE,
    API_TOKEN_VARIABLE,
    DATABASE_VARIABLE,
    SLACK_KEY_VARIABLE,
    PROXY_SECRET_VARIABLE,
    OIDC_SECRET_VARIABLE,
)
NEVER_SHOWN = frozenset({"database.url", "slack.client_id"})  # keys whose values may hold a secret by mistake
DEFAULT_FILE = Path("config.toml")
_PASSWORD = re.compile(r"//[^/@\s']*@")


class Config(Section):
    data_dir: Path | None = None
    workspace: str = "local"
    provider: ProviderConfig = Field(default_factory=ProviderConfig)
    providers: dict[str, NamedProviderConfig] = Field(default_factory=dict)
    workspaces: dict[str, WorkspaceConfig] = Field(default_factory=dict)
    prices: dict[str, PriceConfig] = Field(default_factory=dict)
    agent: AgentConfig = Field(default_factory=AgentConfig)
    references: ReferencesConfig = Field(default_factory=ReferencesConfig)
    replay: ReplayConfig = Field(default_factory=ReplayConfig)
    live_channels: LiveChannelsConfig = Field(default_factory=LiveChannelsConfig)
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
    limits: LimitsConfig = Field(default_factory=LimitsConfig)
    sources: tuple[SourceConfig, ...] = ()

    @model_validator(mode="after")
    def _names_each_source_once(self) -> "Config":
        if twice := twice_named(self.sources, self.workspace):
            raise ValueError(f"two [[sources]] have the name {' and two '.join(map(repr, twice))}; give each its own")
        return self

    @model_validator(mode="after")
    def _names_providers_that_are_there(self) -> "Config":
        if taken := {DEFAULT, EXTRACTIVE} & set(self.providers):
            raise ValueError(f"[providers.{min(taken)}]: this name is reserved; choose another")
        if problems := unknown_names(self.all_providers(), self.workspaces):
            there = ", ".join(self.all_providers())
            raise ValueError(f"{' and '.join(problems)}, but the providers are {there}; add one with [providers.NAME]")
        return self

    @model_validator(mode="after")
    def _prices_each_model_that_has_a_budget(self) -> "Config":
        if not any(budget.micros for budget in self.limits.budgets):
            return self
        used = {DEFAULT, *(own.provider or DEFAULT for own in self.workspaces.values())}
        providers = self.all_providers()
        used |= {other for name in used for other in providers[name].fallback}
        models = {providers[name].model for name in used if providers[name].what != EXTRACTIVE}
        models |= {own.model for own in self.workspaces.values() if own.model}
        if self.extraction.with_model and self.extraction.model:
            models.add(self.extraction.model)
        if unknown := sorted(models - {*PRICES, *self.prices}):
            names = " and ".join(f'[prices."{name}"]' for name in unknown)
            raise ValueError(f"dollars_per_day needs the price of each model; add {names} with input and output")
        return self

    def all_providers(self) -> dict[str, ModelConfig]:
        """Return the providers by name: `default` is [provider], `extractive` always exists."""
        return {DEFAULT: self.provider, EXTRACTIVE: NamedProviderConfig(kind="extractive"), **self.providers}

    def quotes_only(self, workspace: str) -> bool:
        """Return whether a workspace's answers are quotes, because it has no language model."""
        own = self.workspaces.get(workspace)
        return self.all_providers()[(own.provider if own else None) or DEFAULT].what == EXTRACTIVE

    @property
    def limited_platforms(self) -> frozenset[str]:
        """The platforms whose people are limited: the chat platforms, and the web app if others can open it."""
        web = self.web
        is_shared = bool(web.open_to_network or web.proxy.person_header or web.oidc.issuer)
        return frozenset({"discord", "slack", *({"web", "api"} if is_shared else ())})

    @property
    def parallel_limits(self) -> ParallelLimits:
        """The limits on questions at the same time."""
        most = {scope.value: limit.parallel for scope, limit in self.limits.by_scope.items()}
        return ParallelLimits(platforms=self.limited_platforms, **most)

    @property
    def model_prices(self) -> dict[str, Price]:
        """The known prices, by model."""
        return {name: price.to_price() for name, price in {**PRICES, **self.prices}.items()}

    @property
    def team_workspaces(self) -> Mapping[str, Mapping[str, str]]:
        """The configured workspaces of servers and teams: platform -> id -> workspace."""
        return {"discord": self.discord.workspaces, "slack": self.slack.workspaces}

    def source_specs(self) -> tuple[SourceSpec, ...]:
        """Return the configured sources in order."""
        return tuple(source.to_spec(self.workspace) for source in self.sources)

    def source_token(self, workspace: str, name: str) -> SecretStr | None:
        """Return a source's token: from its `token_file`, else from its variable or that of its kind."""
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
        """The data directory, absolute; created when something is stored."""
        if self.data_dir is not None:
            return self.data_dir.expanduser().absolute()
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        return Path(base) / "footnote"

    @property
    def is_shared(self) -> bool:
        """Whether other processes may use the same database (PostgreSQL)."""
        return self.database_url() is not None

    @property
    def database_location(self) -> Path | str:
        """The SQLite file, or the URL of a PostgreSQL server."""
        url = self.database_url()
        return url.get_secret_value() if url else self.data_path / DATABASE_FILE

    def database_url(self) -> SecretStr | None:
        """Return the PostgreSQL URL: from `url_file`, else FOOTNOTE_DATABASE_URL, else `url`; None: SQLite."""
        given = read_secret(self.database.url_file, DATABASE_VARIABLE)
        return given or (SecretStr(self.database.url) if self.database.url else None)

    def provider_key(self, name: str = DEFAULT) -> SecretStr | None:
        """Return a provider's API key: from `api_key_file`, else its variable, else its vendor's usual one."""
        settings = self.all_providers()[name]
        return read_secret(settings.api_key_file, default_key_variable(settings, name) or "")

    def index_key(self) -> SecretStr | None:
        """Return the Qdrant server's API key: from `api_key_file`, else QDRANT_API_KEY."""
        return read_secret(self.index.api_key_file, "QDRANT_API_KEY")

    def web_key(self) -> SecretStr | None:
        """Return the key that signs links: from `secret_key_file`, else FOOTNOTE_WEB_KEY, else None."""
        return read_secret(self.web.secret_key_file, WEB_KEY_VARIABLE)

    def proxy_secret(self) -> SecretStr | None:
        """Return the secret that the proxy sends: from `secret_file`, else FOOTNOTE_PROXY_SECRET."""
        return read_secret(self.web.proxy.secret_file, PROXY_SECRET_VARIABLE)

    def oidc_secret(self) -> SecretStr | None:
        """Return the client's secret at the sign-in provider: from `secret_file`, else FOOTNOTE_OIDC_SECRET."""
        return read_secret(self.web.oidc.secret_file, OIDC_SECRET_VARIABLE)

    def discord_token(self) -> SecretStr | None:
        """Return the bot's token: from `token_file`, else DISCORD_TOKEN."""
        return read_secret(self.discord.token_file, "DISCORD_TOKEN")

    def slack_token(self) -> SecretStr | None:
        """Return the bot's token of one team (xoxb-): from `token_file`, else SLACK_BOT_TOKEN."""
        return read_secret(self.slack.token_file, "SLACK_BOT_TOKEN")

    def slack_app_token(self) -> SecretStr | None:
        """Return the app's token (xapp-) for Socket Mode: from `app_token_file`, else SLACK_APP_TOKEN."""
        return read_secret(self.slack.app_token_file, "SLACK_APP_TOKEN")

    def slack_signing_secret(self) -> SecretStr | None:
        """Return the secret that verifies Slack's requests: from `signing_secret_file`, else SLACK_SIGNING_SECRET."""
        return read_secret(self.slack.signing_secret_file, "SLACK_SIGNING_SECRET")

    def slack_client_secret(self) -> SecretStr | None:
        """Return the app's secret for installations: from `client_secret_file`, else SLACK_CLIENT_SECRET."""
        return read_secret(self.slack.client_secret_file, "SLACK_CLIENT_SECRET")

    def slack_keys(self) -> list[str]:
        """Return the keys that encrypt the tokens of teams, newest first: from `key_file`, else FOOTNOTE_SLACK_KEY.

        Lines or commas separate them.
        """
        given = read_secret(self.slack.key_file, SLACK_KEY_VARIABLE)
        words = given.get_secret_value().replace(",", "\n").split("\n") if given else []
        return [word.strip() for word in words if word.strip()]

    def api_token(self) -> SecretStr | None:
        """Return the API's bearer token: from `token_file`, else FOOTNOTE_API_TOKEN."""
        return read_secret(self.api.token_file, API_TOKEN_VARIABLE)


def load_config(file: Path | None = None, **overrides: object) -> Config:
    """Load the configuration. `file` None: `config.toml` in the current folder, if it exists.

    ConfigError names every problem: an unreadable file, unknown keys, wrong values.
    """
    path = file or DEFAULT_FILE
    if file is None and not path.exists():
        return read_config("", path, **overrides)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"Can't read the configuration {str(path)!r}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"The configuration {str(path)!r} isn't valid TOML: {error}.") from error
    return read_config(text, path, **overrides)


def read_config(toml: str, file: Path, **overrides: object) -> Config:
    """Return the configuration of a text; `file` names it in errors. Raises ConfigError as `load_config` does."""
    try:
        values = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"The configuration {str(file)!r} isn't valid TOML: {error}.") from error
    for path, text in _environment().items():
        _put(values, path, text)
    values.update({key: value for key, value in overrides.items() if value is not None})
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(_sentence(error, file, values)) from error


def read_secret(file: Path | None, variable: str) -> SecretStr | None:
    """Return a secret from a file, else from the environment, else None."""
    if file is not None:
        try:
            return SecretStr(file.expanduser().read_text(encoding="utf-8").strip())
        except OSError as error:
            raise ConfigError(f"Can't read the secret file {str(file)!r}: {error.strerror}.") from error
    value = os.environ.get(variable, "").strip()
    return SecretStr(value) if value else None


def _environment() -> dict[tuple[str, ...], str]:
    """FOOTNOTE_AGENT__MAX_STEPS=3 -> {("agent", "max_steps"): "3"}.

    Ignores the names of secrets and tests (FOOTNOTE_TEST_*), and empty variables.
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


def _sentence(error: ValidationError, file: Path, values: dict[str, Any]) -> str:
    problems = []
    for item in error.errors():
        key = _key(item["loc"], values)
        if item["type"] == "extra_forbidden":
            problems.append(f"{key}: unknown key")
        else:
            said = item["msg"].removeprefix("Value error, ")
            shown = "" if key in NEVER_SHOWN or isinstance(item["input"], dict) else f" (it is {item['input']!r})"
            problems.append(f"{key}: {said[:1].lower()}{said[1:]}{_PASSWORD.sub('//…@', shown)}".removeprefix(": "))
    where = f"The configuration {str(file)!r} (with the environment's FOOTNOTE_ variables)"
    return f"{where} can't be used: {'; '.join(problems)}. `footnote config example` lists every key."


def _key(place: tuple[int | str, ...], values: dict[str, Any]) -> str:
    """Return a key's name, such as agent.max_steps or sources[wiki].urls.0."""
    if len(place) < 2 or place[0] != "sources" or not isinstance(place[1], int):
        return ".".join(map(str, place))
    given = values["sources"][place[1]]
    name = given.get("name", place[1]) if isinstance(given, dict) else place[1]
    rest = place[3:]  # after the kind, which selects pydantic's model
    return ".".join([f"sources[{name}]", *map(str, rest)])
