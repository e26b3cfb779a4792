"""The sections of the configuration, one model each; every key is documented in config.example.toml.

Secrets come from the environment, or from files that a section may name.
"""

import ipaddress
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from core.domain.read_limits import MEBIBYTE, WALL_TIMES, ReadLimits
from core.domain.spending import MICRO, BudgetScope, DayBudget

DATABASE_VARIABLE = "FOOTNOTE_DATABASE_URL"  # has a password, unlike `url` in the file

ModelExtractorName = Literal[
    "model_meetings", "model_api", "model_financial", "model_entities", "model_relations", "model_pages"
]
MODEL_EXTRACTORS: tuple[ModelExtractorName, ...] = get_args(ModelExtractorName)

USUAL_PORTS = {"http": 80, "https": 443}  # browsers leave them out of an address

Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


def web_address(text: str) -> str:
    """Return an http(s) address of a host as browsers name it: no trailing slash, small letters, no usual port."""
    parts = urlsplit(text)
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or "@" in parts.netloc
        or parts.query
        or parts.fragment
        or parts.path.strip("/")
    ):
        raise ValueError("it must be an address like https://footnote.example.org, without a path")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    is_usual = parts.port in (None, USUAL_PORTS[parts.scheme])
    return f"{parts.scheme}://{host}" if is_usual else f"{parts.scheme}://{host}:{parts.port}"


def is_loopback(host: str | None) -> bool:
    """Return whether a host is this machine, to which plain http is safe."""
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def _issuer(text: str) -> str:
    """Return the address of a sign-in provider as it is: providers compare it letter for letter."""
    parts = urlsplit(text)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
    if text and not (is_safe and parts.hostname and not parts.query and not parts.fragment):
        raise ValueError("it must be an https address like https://sso.example.org/realms/team")
    return text


def _database_url(text: str) -> str:
    """Return a postgresql:// URL without a password."""
    parts = urlsplit(text)
    if parts.scheme != "postgresql":
        raise ValueError("it must be an address like postgresql://footnote@db.internal:5432/footnote")
    if parts.password is not None or "password=" in parts.query:
        raise ValueError(
            f"it must not have a password; put the whole URL into {DATABASE_VARIABLE} or the file of database.url_file"
        )
    return text


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentConfig(Section):
    """Limits of one answer."""

    strategy: Literal["tool_use", "always_retrieve", "plan_and_synthesise", "auto"] = "tool_use"
    facts: bool = True
    max_steps: Annotated[int, Field(ge=1, le=50)] = 6
    max_tokens: Count = 200_000
    max_seconds: Seconds = 120
    context: Literal["full", "window", "summary"] = "summary"
    history_tokens: Count = 12_000
    history_messages: Count = 20
    check_support: Literal["off", "doubtful", "all"] = "off"


class ReferencesConfig(Section):
    """References in questions and answers."""

    enabled: bool = True
    offered_tokens: Annotated[int, Field(ge=0, le=50_000)] = 3_000
    written_lines: bool = False


class ReplayConfig(Section):
    """Recording of answers for replays: see docs/evaluation.md."""

    record: bool = True
    keep_days: Annotated[float, Field(gt=0)] = 7


class LiveChannelsConfig(Section):
    """Channels that admins make sources: see docs/sources.md."""

    keep_days: Annotated[float, Field(gt=0, le=366)] = 30


class DatabaseConfig(Section):
    """The database. Without a URL: a SQLite file in the data directory, for one process."""

    url: Annotated[str, AfterValidator(_database_url)] | None = None
    url_file: Path | None = None


class IndexConfig(Section):
    """The search index. Without a URL: Qdrant's embedded engine in the data directory."""

    url: str | None = None
    api_key_file: Path | None = None
    collection: str = "footnote"
    rerank: bool = False


class ModelsConfig(Section):
    """Local models: a folder with model.onnx and tokenizer.json, or a name fastembed knows. None: the packaged ones."""

    embedding: str | None = None
    reranker: str | None = None


class IngestConfig(Section):
    """Limits on reading one file, so that a hostile one can't stop a batch; and OCR."""

    parse_seconds: Seconds = 60
    parse_memory_mb: Count = 1024
    max_file_mb: Count = 100
    max_pages: Count = 5000
    ocr: bool = True
    max_ocr_pages: Annotated[int, Field(ge=1, le=20_000)] = 500

    @property
    def limits(self) -> ReadLimits:
        return ReadLimits(
            seconds=self.parse_seconds,
            wall_seconds=self.parse_seconds * WALL_TIMES,
            memory_bytes=self.parse_memory_mb * MEBIBYTE,
            file_bytes=self.max_file_mb * MEBIBYTE,
            pages=self.max_pages,
            recognised_pages=self.max_ocr_pages,
        )


class ExtractionConfig(Section):
    """Extractors that use a model: their provider, rate and budget. Rules need none of these."""

    with_model: bool = False
    model: str | None = None
    model_extractors: tuple[ModelExtractorName, ...] = MODEL_EXTRACTORS
    requests_per_minute: Annotated[float, Field(gt=0, le=10_000)] = 10
    tokens_per_run: Count = 200_000
    tokens_per_day: Count = 1_000_000


class ProxySignInConfig(Section):
    """Sign-in by a proxy in front of the pages, which sends a shared secret; off without `person_header`."""

    person_header: str = ""
    name_header: str = ""
    groups_header: str = ""
    admins: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    secret_file: Path | None = None


EVERYONE = "*"  # in `members`
RETURN_PATH = "/sign-in/done"  # a provider sends browsers back there, below `public_url`; registered with it
SIGN_IN_LASTS = timedelta(minutes=10)  # at a provider


class OidcConfig(Section):
    """Sign-in by an OpenID Connect provider; off without `issuer`."""

    issuer: Annotated[str, AfterValidator(_issuer)] = ""
    client_id: str = ""
    secret_file: Path | None = None
    scopes: tuple[Annotated[str, Field(pattern=r"^\S+$")], ...] = ("openid", "profile", "email")
    groups_claim: Annotated[str, Field(min_length=1)] = "groups"
    members: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    admins: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    session_hours: Annotated[float, Field(gt=0, le=720)] = 12


class WebConfig(Section):
    """The pages. The key that signs links comes from the environment or a secret file."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8420
    public_url: Annotated[str, AfterValidator(web_address)] | None = None
    link_days: Count = 180
    open_to_network: bool = False
    secret_key_file: Path | None = None
    proxy: ProxySignInConfig = Field(default_factory=ProxySignInConfig)
    oidc: OidcConfig = Field(default_factory=OidcConfig)

    @property
    def has_others(self) -> bool:
        """Whether others than the owner may open the web app."""
        return self.open_to_network or bool(self.oidc.issuer) or bool(self.proxy.person_header)


# Patterns of the platforms' ids for a server or a team.
DISCORD_ID, SLACK_ID = r"^\d{15,21}$", r"^T[A-Z0-9]{2,}$"
SLACK_GROUP_ID = r"^S[A-Z0-9]{2,}$"
SLACK_CHANNEL_ID = r"^[CG][A-Z0-9]{2,}$"
TEAM_IDS = {"discord": DISCORD_ID, "slack": SLACK_ID}


class DiscordConfig(Section):
    """The bot on Discord; off without a token, which comes from the environment or a secret file."""

    token_file: Path | None = None
    workspaces: dict[Annotated[str, Field(pattern=DISCORD_ID)], Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict
    )
    shards: Annotated[int, Field(ge=0, le=1000)] = 1
    catch_up_hours: Annotated[float, Field(ge=0)] = 24
    ask_channels: tuple[Annotated[str, Field(pattern=DISCORD_ID)], ...] = ()
    ask_roles: tuple[Annotated[str, Field(pattern=DISCORD_ID)], ...] = ()
    library_roles: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    review_roles: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    library_channels: tuple[Annotated[str, Field(min_length=1)], ...] = ()


class SlackConfig(Section):
    """The bot on Slack. Tokens, secrets and keys come from the environment or from files.

    Off unless a bot token, an app token or `client_id` is set. `client_id` lets several teams install the app.
    """

    transport: Literal["socket", "http"] = "socket"
    token_file: Path | None = None
    app_token_file: Path | None = None
    signing_secret_file: Path | None = None
    client_id: Annotated[str, Field(pattern=r"^\d+\.\d+$")] | None = None
    client_secret_file: Path | None = None
    key_file: Path | None = None
    workspaces: dict[Annotated[str, Field(pattern=SLACK_ID)], Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict
    )
    ask_channels: tuple[Annotated[str, Field(pattern=SLACK_CHANNEL_ID)], ...] = ()
    ask_full_members: bool = False
    direct: Literal["threads", "one"] = "threads"
    library_groups: tuple[Annotated[str, Field(pattern=SLACK_GROUP_ID)], ...] = ()
    review_groups: tuple[Annotated[str, Field(pattern=SLACK_GROUP_ID)], ...] = ()


class ServiceConfig(Section):
    """The worker of `footnote serve` and `footnote worker`."""

    parallel: Annotated[int, Field(ge=0, le=1000)] = 64
    lease_seconds: Annotated[float, Field(ge=2, le=600)] = 30
    forget_removed_days: Annotated[int, Field(ge=1, le=3650)] | None = None


class ApiConfig(Section):
    """The JSON API. Its token comes from the environment or a file; without one, only its own machine may use it."""

    token_file: Path | None = None
    wait_seconds: Seconds = 60
    requests_per_second: Annotated[float, Field(gt=0)] = 5
    burst: Count = 20
    local_exempt: bool = True
    token_exempt: bool = True


class LimitConfig(Section):
    """Limits of each channel or workspace. 0: none."""

    questions_per_hour: Annotated[int, Field(ge=0)] = 0
    parallel: Annotated[int, Field(ge=0)] = 0
    tokens_per_day: Annotated[int, Field(ge=0)] = 0
    dollars_per_day: Annotated[float, Field(ge=0)] = 0


class PersonLimitConfig(LimitConfig):
    """Limits of each person. 0: none."""

    questions_per_hour: Annotated[int, Field(ge=0)] = 20
    parallel: Annotated[int, Field(ge=0)] = 4


class LimitsConfig(Section):
    """Limits on questions and on the use of models: see docs/limits.md."""

    person: PersonLimitConfig = Field(default_factory=PersonLimitConfig)
    channel: LimitConfig = Field(default_factory=LimitConfig)
    workspace: LimitConfig = Field(default_factory=LimitConfig)
    when_spent: Literal["refuse", "extractive"] = "refuse"

    @property
    def by_scope(self) -> dict[BudgetScope, LimitConfig]:
        """The limits of a person, a channel and a workspace."""
        return dict(zip(BudgetScope, (self.person, self.channel, self.workspace), strict=True))

    @property
    def budgets(self) -> tuple[DayBudget, ...]:
        """The budgets of a day, most of them without a limit."""
        return tuple(
            DayBudget(scope=scope, tokens=limit.tokens_per_day, micros=round(limit.dollars_per_day * MICRO))
            for scope, limit in self.by_scope.items()
        )
