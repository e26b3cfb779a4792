"""Opened resources of a process: the database with its repositories, the models, the search index, the providers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bot.config import SLACK_KEY_SETTING, Config
from bot.config.providers import DEFAULT, ModelConfig, WorkspaceConfig, default_key_variable
from core.answering.providers.fallback import Choice, FallbackProvider, learned
from core.domain.answer import Capabilities
from core.errors import InvalidState, UnsupportedFeature
from core.ports import (
    AnswerJudge,
    CapabilityMemory,
    ChatProvider,
    CheckedProvider,
    Clock,
    SearchIndex,
    SentenceRanker,
)
from storage.database import Database
from storage.database.encryption import SecretCipher
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.extracts import SqlExtractRepository, SqlReadingRepository
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.installations import SqlInstallationRepository, SqlOneTimeCodes
from storage.database.repositories.jobs import SqlJobRepository
from storage.database.repositories.replay import SqlCassetteRepository
from storage.database.repositories.settings import SqlSettingsRepository
from storage.database.repositories.summaries import SqlSummaryRepository
from storage.index.index import Reranker
from storage.index.opening import INDEX_FOLDER, clear_folder, embedded_index, server_index
from storage.models.capabilities import CapabilityFile
from storage.models.local.cross_encoder import CrossEncoderJudge
from storage.models.local.embeddings import LocalEmbedder
from storage.models.local.files import find_embedding_model, find_reranker
from storage.models.local.ranking import VectorSentenceRanker

if TYPE_CHECKING:
    from storage.models.vendor import Limits

# In the data directory. A backup omits what Footnote can rebuild: the index, models, mirrors of sources.
DATABASE_FILE = "footnote.db"
KEY_FILE = "web.key"  # signs links if no key is configured
KEPT_FOLDER = "kept"
CAPABILITIES_FILE = "capabilities.json"  # detected abilities of models
MODELS_FOLDER = "models"  # downloads of fastembed
BACKED_UP = (KEY_FILE, KEPT_FOLDER)  # beside the database
MOST_BUILT = 32  # cached providers: people name models, too
RETRIES_BEFORE_ANOTHER = 1  # of a provider that has a fallback


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Everything that a process opens, each at its first use; all close with `stack`, the last opened first."""

    config: Config
    clock: Clock
    stack: AsyncExitStack
    database: Database
    own_index: SearchIndex | None = None  # a test's own; None: the configured one
    own_provider: ChatProvider | None = None  # likewise, for every workspace

    @property
    def workspace(self) -> str:
        return self.config.workspace

    @property
    def is_shared(self) -> bool:
        """Whether other processes may use the same database (PostgreSQL)."""
        return self.config.database_url() is not None

    @cached_property
    def corpus(self) -> SqlCorpusRepository:
        return SqlCorpusRepository(self.database)

    @cached_property
    def extracts(self) -> SqlExtractRepository:
        return SqlExtractRepository(self.database)

    @cached_property
    def readings(self) -> SqlReadingRepository:
        return SqlReadingRepository(self.database)

    @cached_property
    def settings(self) -> SqlSettingsRepository:
        return SqlSettingsRepository(self.database)

    @cached_property
    def summaries(self) -> SqlSummaryRepository:
        return SqlSummaryRepository(self.database)

    @cached_property
    def installations(self) -> SqlInstallationRepository:
        """Raises ConfigError without a valid key."""
        return SqlInstallationRepository(self.database, SecretCipher(self.config.slack_keys(), SLACK_KEY_SETTING))

    @cached_property
    def one_time_codes(self) -> SqlOneTimeCodes:
        return SqlOneTimeCodes(self.database, self.clock)

    @cached_property
    def conversation_store(self) -> SqlConversationRepository:
        return SqlConversationRepository(self.database)

    @cached_property
    def job_store(self) -> SqlJobRepository:
        return SqlJobRepository(self.database)

    @cached_property
    def inbox_store(self) -> SqlInboxStore:
        return SqlInboxStore(self.database, self.clock, self.config.service.lease_seconds)

    @cached_property
    def cassette_store(self) -> SqlCassetteRepository:
        return SqlCassetteRepository(self.database)

    @cached_property
    def embedder(self) -> LocalEmbedder:
        """Loads its model at its first use. Raises ModelMissing."""
        embedder = LocalEmbedder(find_embedding_model(self.config.models.embedding), self.folder(MODELS_FOLDER))
        self.stack.callback(embedder.close)
        return embedder

    @cached_property
    def judge(self) -> CrossEncoderJudge:
        """Loads its model at its first use. Raises ModelMissing."""
        judge = CrossEncoderJudge(find_reranker(self.config.models.reranker), self.folder(MODELS_FOLDER))
        self.stack.push_async_callback(judge.close)
        return judge

    @cached_property
    def index(self) -> SearchIndex:
        """The embedded index, or a Qdrant server's if it has a URL; opens at its first use."""
        if self.own_index is not None:
            return self.own_index
        settings, key = self.config.index, self.config.index_key()
        reranker = Reranker(self.corpus, self.judge) if settings.rerank else None
        if settings.url:
            secret = key.get_secret_value() if key else None
            index = server_index(settings.url, settings.collection, self.embedder, secret, reranker)
        else:
            index = embedded_index(self.config.data_path, self.embedder, reranker)
        self.stack.push_async_callback(index.close)
        return index

    async def clear_index(self) -> None:
        """Delete the embedded index of any model, before it is opened.

        Raises InvalidState for a Qdrant server's index, StorageError while another process has it open.
        """
        if self.config.index.url:
            raise InvalidState(
                "The search index is on a Qdrant server, where others may use it: name a new [index] collection, and "
                "build that one with `footnote db reindex`."
            )
        await asyncio.to_thread(clear_folder, self.folder(INDEX_FOLDER))

    async def describe_embedder(self) -> str:
        """Embed a word and return the model's name. Raises ModelMissing."""
        await asyncio.to_thread(self.embedder.embed_query, "footnote")
        return f"{self.embedder.name} ({self.embedder.dimensions} dimensions)"

    @cached_property
    def ranker(self) -> VectorSentenceRanker:
        return VectorSentenceRanker(self.embedder)

    @cached_property
    def providers(self) -> Providers:
        memory = CapabilityFile(self.folder(CAPABILITIES_FILE), self.clock)
        return Providers(self.config, memory, self.clock, self.stack, lambda: self.ranker, lambda: self.judge)

    @property
    def provider(self) -> ChatProvider:
        """The provider of the configured workspace."""
        return self.provider_for(self.workspace)

    def provider_for(self, workspace: str, model: str | None = None) -> ChatProvider:
        """Return a workspace's provider, or one for another model. Raises UnsupportedFeature."""
        return self.own_provider or self.providers.of(workspace, model)

    async def ready_provider(self, workspace: str, model: str | None) -> ChatProvider:
        """Return a provider for one question after learning its capabilities. Raises ProviderError."""
        provider = self.provider_for(workspace, model)
        await learned(provider)
        return provider.begin() if isinstance(provider, FallbackProvider) else provider

    def folder(self, name: str) -> Path:
        """Return a folder or file of the data directory."""
        return self.config.data_path / name


def database_location(config: Config) -> Path | str:
    """The SQLite file, or the URL of a PostgreSQL server."""
    url = config.database_url()
    return url.get_secret_value() if url else config.data_path / DATABASE_FILE


def restore(config: Config, file: Path) -> list[str]:
    """Unpack a backup into the data directory and return the restored names. Raises InvalidState and StorageError."""
    from storage.database.backups import restore_backup

    if config.database_url() is not None:
        raise InvalidState(
            "The configuration names a PostgreSQL database: restore that one with pg_restore, then build the search "
            "index with `footnote db reindex`."
        )
    return restore_backup(file, config.data_path / DATABASE_FILE, BACKED_UP)


class Providers:
    """The configured providers; they close with `stack`. `ranker` and `judge` build local models on demand."""

    def __init__(
        self,
        config: Config,
        memory: CapabilityMemory,
        clock: Clock,
        stack: AsyncExitStack,
        ranker: Callable[[], SentenceRanker],
        judge: Callable[[], AnswerJudge],
    ) -> None:
        self._config = config
        self._settings = config.all_providers()
        self._memory = memory
        self._clock = clock
        self._stack = stack
        self._ranker = ranker
        self._judge = judge
        self._built: dict[tuple[str, str | None, bool], ChatProvider] = {}
        self._orders: dict[tuple[str, str | None], ChatProvider] = {}

    def of(self, workspace: str, model: str | None = None) -> ChatProvider:
        """Return a workspace's provider with its fallbacks; `model` asks for another model.

        A model of an OpenAI-compatible server gets its own provider, which detects its abilities; other vendors take
        the model from the request. Raises UnsupportedFeature if the provider has no models.
        """
        own = self._config.workspaces.get(workspace) or WorkspaceConfig()
        name = own.provider or DEFAULT
        what = self._settings[name].what
        if model and what == "extractive":
            raise UnsupportedFeature("--model needs a provider with models: set provider.name in the configuration.")
        key = (name, own.model)
        if model and what == "openai_compatible" and (len(self._orders) < MOST_BUILT or (name, model) in self._orders):
            key = (name, model)
        if key not in self._orders:
            self._orders[key] = self._in_order(*key)
        return self._orders[key]

    def each(self) -> list[tuple[str, ChatProvider]]:
        """Return all providers in use by name: the default, its fallbacks, then those of workspaces."""
        used: dict[str, None] = {}
        for name in (DEFAULT, *(own.provider or DEFAULT for own in self._config.workspaces.values())):
            used.update(dict.fromkeys((name, *self._settings[name].fallback)))
        return [(name, self._one(name, None)) for name in used]

    def describe(self, name: str) -> str:
        """Return `anthropic (claude-opus-5-5)`, with the provider's own name in front if it has one."""
        settings = self._settings[name]
        what = settings.what if settings.what == "extractive" else f"{settings.what} ({settings.model})"
        return what if name in (DEFAULT, settings.what) else f"{name}: {what}"

    def _in_order(self, name: str, model: str | None) -> ChatProvider:
        names = self._settings[name].fallback
        first = self._one(name, model, hurried=bool(names))
        if not names:
            return first
        others = [self._one(other, None, hurried=other != names[-1]) for other in names]
        pairs = zip((name, *names), (first, *others), strict=True)
        choices = [Choice(label=self.describe(each), provider=built) for each, built in pairs]
        return FallbackProvider(choices, self._clock)

    def _one(self, name: str, model: str | None, *, hurried: bool = False) -> ChatProvider:
        key = (name, model, hurried)
        if key not in self._built:
            built = self._build(name, model, hurried=hurried)
            self._stack.push_async_callback(built.close)
            self._built[key] = built
        return self._built[key]

    def _build(self, name: str, model: str | None, *, hurried: bool) -> ChatProvider:
        settings = self._settings[name]
        retries = min(settings.max_retries, RETRIES_BEFORE_ANOTHER) if hurried else settings.max_retries
        if settings.what == "extractive":
            from core.answering.providers.extractive.provider import ExtractiveProvider

            return ExtractiveProvider(ranker=self._ranker(), judge=self._judge())
        from storage.models.vendor import Limits

        limits = Limits(
            max_output_tokens=settings.max_output_tokens,
            timeout_seconds=settings.timeout_seconds,
            stall_seconds=settings.stall_seconds,
            max_retries=retries,
        )
        if settings.what == "anthropic":
            from storage.models.anthropic.provider import AnthropicProvider

            key = self._config.provider_key(name)
            return AnthropicProvider(
                api_key=key, model=model or settings.model, limits=limits, base_url=settings.base_url
            )
        return self._openai_compatible(name, settings, model or settings.model, limits)

    def _openai_compatible(self, name: str, settings: ModelConfig, model: str, limits: Limits) -> ChatProvider:
        from storage.models.openai_compatible.probing import Abilities
        from storage.models.openai_compatible.provider import Endpoint, OpenAICompatibleProvider

        variable = default_key_variable(settings, name)
        where = f"Set {variable} to a valid key" if variable else "Name its variable by api_key_variable"
        section = "[provider]" if name == DEFAULT else f"[providers.{name}]"
        return OpenAICompatibleProvider(
            endpoint=Endpoint(
                model=model,
                base_url=settings.base_url,
                api_key=self._config.provider_key(name),
                key_advice=f"{where}, or put one into the file that api_key_file under {section} names.",
            ),
            memory=self._memory,
            abilities=Abilities(
                tools=settings.tools,
                structured=settings.structured,
                images=settings.images,
                context_tokens=settings.context_tokens,
            ),
            limits=limits,
        )


async def check_provider(provider: ChatProvider) -> Capabilities:
    """Return its capabilities; check a remote one by a few small requests. Raises ProviderError with the next step."""
    if isinstance(provider, CheckedProvider):
        await provider.check()
    return provider.capabilities
