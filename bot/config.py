"""The configuration: one TOML file, every key documented in config.example.toml, secrets only from the environment.

Order, first wins: command line, environment (`FOOTNOTE_<SECTION>__<KEY>`), the file, defaults. Unknown keys are
refused by name and all problems are reported together.
"""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from core.errors import ConfigError

ENV_PREFIX = "FOOTNOTE_"
WEB_KEY_VARIABLE = "FOOTNOTE_WEB_KEY"  # a secret, no key of the file
API_TOKEN_VARIABLE = "FOOTNOTE_API_TOKEN"  # noqa: S105 - the name of one, not one; no key of the file either
DATABASE_VARIABLE = "FOOTNOTE_DATABASE_URL"  # with its password, so a secret, unlike `url` in the file
SECRETS = (WEB_KEY_VARIABLE, API_TOKEN_VARIABLE, DATABASE_VARIABLE)
NEVER_SHOWN = frozenset({"database.url"})  # keys whose values may hold a password by mistake
DEFAULT_FILE = Path("config.toml")

Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


def _web_address(text: str) -> str:
    """An http(s) address of a host, without a slash at its end."""
    parts = urlsplit(text)
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.query
        or parts.fragment
        or parts.path.strip("/")
    ):
        raise ValueError("it must be an address like https://footnote.example.org, without a path")
    return f"{parts.scheme}://{parts.netloc}"


def _database_url(text: str) -> str:
    """A postgresql:// URL that can be shown to everybody."""
    parts = urlsplit(text)
    if parts.scheme != "postgresql":
        raise ValueError("it must be an address like postgresql://footnote@db.internal:5432/footnote")
    if parts.password is not None or "password=" in parts.query:
        raise ValueError(
            f"it must hold no password: put the whole URL into {DATABASE_VARIABLE} or the file of database.url_file"
        )
    return text


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ProviderConfig(_Section):
    """Which model answers. The API key comes from the environment or a secret file, never from here."""

    name: Literal["extractive", "anthropic"] = "extractive"
    model: str = "claude-opus-5-5"
    max_output_tokens: Count = 4096
    timeout_seconds: Seconds = 120
    stall_seconds: Seconds = 30
    max_retries: Annotated[int, Field(ge=0, le=10)] = 4
    base_url: str | None = None
    api_key_file: Path | None = None


class AgentConfig(_Section):
    """Bounds of one answer."""

    strategy: Literal["tool_use"] = "tool_use"
    max_steps: Annotated[int, Field(ge=1, le=50)] = 6
    max_tokens: Count = 200_000
    max_seconds: Seconds = 120
    history_tokens: Count = 12_000
    history_messages: Count = 20


class DatabaseConfig(_Section):
    """Where all but the index is kept. Without a URL: a SQLite file in the data directory, for one process."""

    url: Annotated[str, AfterValidator(_database_url)] | None = None
    url_file: Path | None = None


class IndexConfig(_Section):
    """Where passages are searched. Without a URL: Qdrant's own engine, embedded, in the data directory."""

    url: str | None = None
    api_key_file: Path | None = None
    collection: str = "footnote"
    rerank: bool = False


class ModelsConfig(_Section):
    """Local models: a folder with model.onnx and tokenizer.json, or a name fastembed knows. None: the packaged ones."""

    embedding: str | None = None
    reranker: str | None = None


class IngestConfig(_Section):
    """Limits on reading one file, so that a hostile one can't stop a batch."""

    parse_seconds: Seconds = 60
    parse_memory_mb: Count = 2048
    max_file_mb: Count = 100
    max_pages: Count = 5000


class WebConfig(_Section):
    """The pages and the API. The key that signs links comes from the environment or a secret file, never from here."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8420
    public_url: Annotated[str, AfterValidator(_web_address)] | None = None
    link_days: Count = 180
    open_to_network: bool = False
    secret_key_file: Path | None = None


class DiscordConfig(_Section):
    """The bot on Discord. Its token comes from the environment or a secret file, never from here; without it: off."""

    token_file: Path | None = None
    workspaces: dict[Annotated[str, Field(pattern=r"^\d{15,21}$")], Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict
    )
    shards: Annotated[int, Field(ge=0, le=1000)] = 1
    catch_up_hours: Annotated[float, Field(ge=0)] = 24


class ServiceConfig(_Section):
    """The worker of `footnote serve` and `footnote worker`."""

    parallel: Annotated[int, Field(ge=0, le=1000)] = 64
    lease_seconds: Annotated[float, Field(ge=2, le=600)] = 30


class ApiConfig(_Section):
    """The JSON API. Its token comes from the environment or a file; without one it answers on its own machine alone."""

    token_file: Path | None = None
    wait_seconds: Seconds = 60
    requests_per_second: Annotated[float, Field(gt=0)] = 5
    burst: Count = 20
    local_exempt: bool = True
    token_exempt: bool = True


class Config(_Section):
    data_dir: Path | None = None
    workspace: str = "local"
    provider: ProviderConfig = Field(default_factory=ProviderConfig)
    agent: AgentConfig = Field(default_factory=AgentConfig)
    database: DatabaseConfig = Field(default_factory=DatabaseConfig)
    index: IndexConfig = Field(default_factory=IndexConfig)
    models: ModelsConfig = Field(default_factory=ModelsConfig)
    ingest: IngestConfig = Field(default_factory=IngestConfig)
    web: WebConfig = Field(default_factory=WebConfig)
    api: ApiConfig = Field(default_factory=ApiConfig)
    discord: DiscordConfig = Field(default_factory=DiscordConfig)
    service: ServiceConfig = Field(default_factory=ServiceConfig)

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

    def provider_key(self) -> SecretStr | None:
        """The provider's API key: from `api_key_file`, else ANTHROPIC_API_KEY."""
        return read_secret(self.provider.api_key_file, "ANTHROPIC_API_KEY")

    def index_key(self) -> SecretStr | None:
        """The Qdrant server's API key: from `api_key_file`, else QDRANT_API_KEY."""
        return read_secret(self.index.api_key_file, "QDRANT_API_KEY")

    def web_key(self) -> SecretStr | None:
        """The key that signs links: from `secret_key_file`, else FOOTNOTE_WEB_KEY; None: one of the data directory."""
        return read_secret(self.web.secret_key_file, WEB_KEY_VARIABLE)

    def discord_token(self) -> SecretStr | None:
        """The bot's token: from `token_file`, else DISCORD_TOKEN."""
        return read_secret(self.discord.token_file, "DISCORD_TOKEN")

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
        raise ConfigError(_sentence(error, file)) from error


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

    The names of secrets and of tests (FOOTNOTE_TEST_*) are left alone.
    """
    found = {}
    for name, value in os.environ.items():
        if name.startswith(ENV_PREFIX) and not name.startswith((f"{ENV_PREFIX}TEST_", *SECRETS)):
            found[tuple(name.removeprefix(ENV_PREFIX).lower().split("__"))] = value
    return found


def _put(values: dict[str, Any], path: tuple[str, ...], value: str) -> None:
    *parents, last = path
    for parent in parents:
        values = values.setdefault(parent, {})
    values[last] = value


def _sentence(error: ValidationError, file: Path | None) -> str:
    problems = []
    for item in error.errors():
        key = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            problems.append(f"{key}: there is no such key")
        else:
            shown = "" if key in NEVER_SHOWN else f" (it is {item['input']!r})"
            problems.append(f"{key}: {item['msg'][:1].lower()}{item['msg'][1:]}{shown}")
    where = f"The configuration {str(file or DEFAULT_FILE)!r} (with the environment's FOOTNOTE_ variables)"
    return f"{where} can't be used: {'; '.join(problems)}. See config.example.toml for every key."
