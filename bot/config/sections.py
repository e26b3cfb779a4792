"""The sections of the configuration, one model each; every key is documented in config.example.toml.

Secrets never stand here: they come from the environment, or from files that a section may name.
"""

from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

DATABASE_VARIABLE = "FOOTNOTE_DATABASE_URL"  # with its password, so a secret, unlike `url` in the file

ModelExtractorName = Literal[
    "model_meetings", "model_api", "model_financial", "model_entities", "model_relations", "model_pages"
]
MODEL_EXTRACTORS: tuple[ModelExtractorName, ...] = get_args(ModelExtractorName)

Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


def web_address(text: str) -> str:
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


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentConfig(Section):
    """Bounds of one answer."""

    strategy: Literal["tool_use", "always_retrieve", "plan_and_synthesise", "auto"] = "tool_use"
    facts: bool = True
    max_steps: Annotated[int, Field(ge=1, le=50)] = 6
    max_tokens: Count = 200_000
    max_seconds: Seconds = 120
    context: Literal["full", "window", "summary"] = "full"
    history_tokens: Count = 12_000
    history_messages: Count = 20


class ReferencesConfig(Section):
    """Links to documents in questions, and what answers looked at."""

    enabled: bool = True
    offered_tokens: Annotated[int, Field(ge=0, le=50_000)] = 3_000
    written_lines: bool = False


class ReplayConfig(Section):
    """Whether what answers are made from is recorded, to make them again: see docs/evaluation.md."""

    record: bool = True
    keep_days: Annotated[float, Field(gt=0)] = 7


class DatabaseConfig(Section):
    """Where all but the index is kept. Without a URL: a SQLite file in the data directory, for one process."""

    url: Annotated[str, AfterValidator(_database_url)] | None = None
    url_file: Path | None = None


class IndexConfig(Section):
    """Where passages are searched. Without a URL: Qdrant's own engine, embedded, in the data directory."""

    url: str | None = None
    api_key_file: Path | None = None
    collection: str = "footnote"
    rerank: bool = False


class ModelsConfig(Section):
    """Local models: a folder with model.onnx and tokenizer.json, or a name fastembed knows. None: the packaged ones."""

    embedding: str | None = None
    reranker: str | None = None


class IngestConfig(Section):
    """Limits on reading one file, so that a hostile one can't stop a batch; and whether scans are read."""

    parse_seconds: Seconds = 60
    parse_memory_mb: Count = 1024
    max_file_mb: Count = 100
    max_pages: Count = 5000
    ocr: bool = True
    max_ocr_pages: Annotated[int, Field(ge=1, le=20_000)] = 500


class ExtractionConfig(Section):
    """Extractors that ask a model about prose: which, how fast, for how much. Rules extract without any of it."""

    with_model: bool = False
    model: str | None = None
    model_extractors: tuple[ModelExtractorName, ...] = MODEL_EXTRACTORS
    requests_per_minute: Annotated[float, Field(gt=0, le=10_000)] = 10
    tokens_per_run: Count = 200_000
    tokens_per_day: Count = 1_000_000


class WebConfig(Section):
    """The pages and the API. The key that signs links comes from the environment or a secret file, never from here."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8420
    public_url: Annotated[str, AfterValidator(web_address)] | None = None
    link_days: Count = 180
    open_to_network: bool = False
    secret_key_file: Path | None = None


class DiscordConfig(Section):
    """The bot on Discord. Its token comes from the environment or a secret file, never from here; without it: off."""

    token_file: Path | None = None
    workspaces: dict[Annotated[str, Field(pattern=r"^\d{15,21}$")], Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict
    )
    shards: Annotated[int, Field(ge=0, le=1000)] = 1
    catch_up_hours: Annotated[float, Field(ge=0)] = 24


class SlackConfig(Section):
    """The bot on Slack. Tokens, secrets and keys come from the environment or from files, never from here.

    Without a bot token, an app token and a client id Slack is off. `client_id` lets several teams install the app.
    """

    transport: Literal["socket", "http"] = "socket"
    token_file: Path | None = None
    app_token_file: Path | None = None
    signing_secret_file: Path | None = None
    client_id: Annotated[str, Field(pattern=r"^\d+\.\d+$")] | None = None
    client_secret_file: Path | None = None
    key_file: Path | None = None
    workspaces: dict[Annotated[str, Field(pattern=r"^T[A-Z0-9]{2,}$")], Annotated[str, Field(min_length=1)]] = Field(
        default_factory=dict
    )


class ServiceConfig(Section):
    """The worker of `footnote serve` and `footnote worker`."""

    parallel: Annotated[int, Field(ge=0, le=1000)] = 64
    lease_seconds: Annotated[float, Field(ge=2, le=600)] = 30


class ApiConfig(Section):
    """The JSON API. Its token comes from the environment or a file; without one it answers on its own machine alone."""

    token_file: Path | None = None
    wait_seconds: Seconds = 60
    requests_per_second: Annotated[float, Field(gt=0)] = 5
    burst: Count = 20
    local_exempt: bool = True
    token_exempt: bool = True
