"""The composition root: every part of a process, built by `build_parts` from the configuration.

A cached property builds its part at its first use, and imports it then: all imports would slow `footnote search` down.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bot.config import SLACK_KEY_SETTING, Config
from bot.config import configuration as folders
from bot.config.sections import TEAM_IDS
from bot.presentation.direct_threads import is_direct_thread
from bot.runtime.data_directory import open_data_directory
from bot.runtime.system import SystemClock
from bot.wiring.providers import Providers
from core.access.availability import Availability
from core.access.bindings import Bindings
from core.access.scopes import Access
from core.answering.support.check import SupportCheck
from core.domain.corpus import Document
from core.domain.extracts import ModelLimits
from core.domain.incoming import ThreadAddress
from core.domain.jobs import JobKind
from core.domain.sources import SourceSpec
from core.features.feedback import Feedbacks
from core.features.live_channels import LiveChannels
from core.features.maintenance import Maintenance
from core.features.staleness.stale_answers import Staleness
from core.features.statistics import UsageStatistics
from core.features.syncing import Syncs
from core.features.workspaces import Workspaces
from core.knowledge.facts import Facts
from core.knowledge.library import Library
from core.knowledge.search.coverage import Coverage
from core.knowledge.vocabulary import Vocabularies
from core.ports import Clock, SearchIndex
from core.ports.documents import PageImages, SourceFetcher
from core.service.auto_answers import AutoAnswers
from core.service.inbox import Gate, Inbox, QuestionLimits
from core.service.jobs import Jobs
from core.service.turns import Turns
from core.work.conversations import Conversations
from core.work.orphaned_jobs import AbandonedRuns, Runs
from core.work.spending import Spending
from storage.database import Database
from storage.database.backups import restore_backup
from storage.database.encryption import SecretCipher
from storage.database.process_lock import process_lock, try_process_lock
from storage.database.repositories.inbox import SqlInboxStore
from storage.database.repositories.ingest_progress import SqlIngestProgress
from storage.database.repositories.installations import SqlInstallationRepository, SqlOneTimeCodes
from storage.database.repositories.maintenance import SqlMaintenance
from storage.database.repositories.spending import SqlSpendingStore
from storage.database.repositories.statistics import SqlAskedRepository
from storage.database.stores import Stores
from storage.index.opening import INDEX_FOLDER, clear_folder, embedded_index, server_index
from storage.index.reranking import Reranker
from storage.models.capabilities import CapabilityFile
from storage.models.local.clustering import VectorMeaningGroups
from storage.models.local.encoders import CrossEncoderJudge, CrossEncoderSupport, LocalEmbedder
from storage.models.local.files import common_words, find_embedding_model, find_reranker, support_model
from storage.models.local.ranking import VectorSentenceRanker
from storage.models.local.turns import LocalTurnModel

if TYPE_CHECKING:
    from core.answering.answers.suggestions import SuggestedQuestions
    from core.answering.providers.extractive.provider import ExtractiveProvider
    from core.answering.strategies.choosing import Strategies
    from core.features.additions import Additions
    from core.features.kept_answers import KeptAnswers
    from core.features.recap import Recaps
    from core.features.replay.cassettes import Cassettes
    from core.features.review import Reviews
    from core.features.uploads import Uploads
    from core.knowledge.attachments import Attachments
    from storage.documents.extraction.ingests import Ingests
    from storage.documents.extraction.runs import Extractions
    from storage.documents.pipeline import Ingestor

# Locks over all processes on the database.
INDEX_LOCK, SYNC_LOCK, UPLOADS_LOCK, KEPT_LOCK, LIVE_LOCK = "index", "sync", "uploads", "kept", "live channels"
# Platforms whose threads get a note about stale answers. Terminal and API report them when a conversation opens.
NOTED_PLATFORMS = ("discord", "slack", "web")
_Model = TypeVar("_Model", CrossEncoderJudge, CrossEncoderSupport, LocalTurnModel)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Everything that a process opens, each part at its first use; all close with `stack`, the last opened first."""

    config: Config
    clock: Clock
    stack: AsyncExitStack
    stores: Stores
    default_workspace: str  # of terminal and web app; a command may use another one as `workspace`

    @property
    def workspace(self) -> str:
        return self.config.workspace

    @cached_property
    def installations(self) -> SqlInstallationRepository:
        """Raises ConfigError without a valid key."""
        cipher = SecretCipher(self.config.slack_keys(), SLACK_KEY_SETTING)
        return SqlInstallationRepository(self.stores.database, cipher)

    @cached_property
    def one_time_codes(self) -> SqlOneTimeCodes:
        return SqlOneTimeCodes(self.stores.database, self.clock)

    @cached_property
    def inbox_store(self) -> SqlInboxStore:
        lease_seconds = self.config.service.lease_seconds
        return SqlInboxStore(self.stores.database, self.clock, lease_seconds, self.config.parallel_limits)

    def build_inbox(
        self, gates: Sequence[Gate], wake: Callable[[], None], withdraw: Callable[[str, int], None]
    ) -> Inbox:
        """Build the inbox of a platform with these gates."""
        hourly = {name.value: limit.questions_per_hour for name, limit in self.config.limits.by_scope.items()}
        limits = QuestionLimits(settings=self.stores.settings, platforms=self.config.limited_platforms, **hourly)
        return Inbox(self.inbox_store, gates, self.clock, wake, withdraw, limits, self.build_turns(self.clock))

    def build_turns(self, clock: Clock) -> Turns:
        coverage = Coverage(self.index, self.stores.corpus, self.judge, self.access, self.vocabularies, self.facts)
        bar = self.auto_answers.bar
        return Turns(self.stores.settings, self.inbox_store, clock, self.turn_model, coverage.of_message, bar)

    @cached_property
    def auto_answers(self) -> AutoAnswers:
        return AutoAnswers(self.stores.auto_answers, self.stores.settings, self.clock)

    @cached_property
    def embedder(self) -> LocalEmbedder:
        """Loads its model at its first use. Raises ModelMissing."""
        embedder = LocalEmbedder(find_embedding_model(self.config.models.embedding), self._models)
        self.stack.callback(embedder.close)
        return embedder

    @cached_property
    def judge(self) -> CrossEncoderJudge:
        """Loads its model at its first use. Raises ModelMissing."""
        return self._closing(CrossEncoderJudge(find_reranker(self.config.models.reranker), self._models))

    @cached_property
    def turn_model(self) -> LocalTurnModel:
        return self._closing(LocalTurnModel())

    @cached_property
    def support(self) -> SupportCheck:
        return SupportCheck(self._closing(CrossEncoderSupport(support_model())))

    @property
    def _models(self) -> Path:
        return self.config.data_path / folders.MODELS_FOLDER

    def _closing(self, model: _Model) -> _Model:
        self.stack.push_async_callback(model.close)
        return model

    @cached_property
    def vocabularies(self) -> Vocabularies:
        return Vocabularies(self.stores.corpus, common_words)

    @cached_property
    def index(self) -> SearchIndex:
        """The embedded index, or a Qdrant server's if it has a URL; opens at its first use."""
        settings, key = self.config.index, self.config.index_key()
        reranker = Reranker(self.stores.corpus, self.judge) if settings.rerank else None
        if settings.url:
            secret = key.get_secret_value() if key else None
            index = server_index(settings.url, settings.collection, self.embedder, secret, reranker)
        else:
            index = embedded_index(self.config.data_path, self.embedder, reranker)
        self.stack.push_async_callback(index.close)
        return index

    def clear_index(self) -> None:
        """Delete the embedded index, before it is opened. Raises StorageError while another process has it open."""
        clear_folder(self.config.data_path / INDEX_FOLDER)

    @cached_property
    def providers(self) -> Providers:
        memory = CapabilityFile(self.config.data_path / folders.CAPABILITIES_FILE, self.clock)

        def extractive() -> ExtractiveProvider:
            from core.answering.providers.extractive.provider import ExtractiveProvider as Quoting

            return Quoting(ranker=VectorSentenceRanker(self.embedder), judge=self.judge)

        return Providers(self.config, memory, self.clock, self.stack, extractive, self.spending)

    @cached_property
    def spending(self) -> Spending:
        store = SqlSpendingStore(self.stores.database, self.clock)
        return Spending(store=store, prices=self.config.model_prices, budgets=self.config.limits.budgets)

    @property
    def has_ocr(self) -> bool:
        """Whether the text of scanned pages is recognised: that is on, and the extra `ocr` is installed."""
        from storage.documents.pdf import recognition

        return self.config.ingest.ocr and recognition.is_installed()

    async def missing_protections(self) -> list[str]:
        """Return which protections the readers of foreign files lack on this system; all hold on Linux."""
        from storage.documents.jail import PROTECTIONS
        from storage.documents.sandbox import find_protections

        held = await find_protections(self.config.data_path)
        return [name for name in PROTECTIONS if name not in held]

    @cached_property
    def ingests(self) -> Ingests:
        from storage.documents.extraction.ingests import Ingests

        return Ingests(
            corpus=self.stores.corpus,
            build=self._build_ingestor,
            alone=partial(process_lock, self.config.database_location, INDEX_LOCK),
            extracts=self.extractions,
            notice=self.staleness.check,
            work=self.availability.work,
        )

    def _build_ingestor(self) -> Ingestor:
        """One for each run: its child process isn't for concurrent use."""
        from storage.documents.pipeline import build_ingestor

        corpus, limits, has_ocr = self.stores.corpus, self.config.ingest.limits, self.has_ocr
        return build_ingestor(corpus=corpus, index=self.index, clock=self.clock, limits=limits, has_ocr=has_ocr)

    @cached_property
    def extractions(self) -> Extractions:
        from storage.documents.extraction.runs import ExtractionParts, ModelAccess

        settings, stores = self.config.extraction, self.stores
        model = ModelAccess(
            is_on=settings.with_model,
            workspaces=(self.workspace, *self.config.workspaces),
            provider_for=self.providers.of,
            model_for=self.config.extraction_model,
            extractors=settings.model_extractors,
            requests_per_minute=settings.requests_per_minute,
            limits=ModelLimits(tokens_per_run=settings.tokens_per_run, tokens_per_day=settings.tokens_per_day),
        )
        return ExtractionParts(
            corpus=stores.corpus,
            extracts=stores.extracts,
            readings=stores.readings,
            jobs=stores.jobs,
            clock=self.clock,
            limits=self.config.ingest.limits,
            lock=self._lock,
            model=model,
        ).build()

    @cached_property
    def syncs(self) -> Syncs:
        from storage.documents.pipeline import has_files
        from storage.sources.building import build_fetcher

        def fetcher(spec: SourceSpec) -> SourceFetcher:
            token = self.config.source_token(spec.workspace, spec.name)
            return build_fetcher(spec, token.get_secret_value() if token else None)

        return Syncs(
            specs=self.config.source_specs(),
            corpus=self.stores.corpus,
            states=self.stores.syncs,
            jobs=self.stores.jobs,
            clock=self.clock,
            ingest=self.ingests.bring_in,
            fetcher=fetcher,
            mirrors=self.config.data_path / folders.MIRRORS_FOLDER,
            alone=partial(self._lock, SYNC_LOCK),
            has_files=has_files,
        )

    @cached_property
    def attachments(self) -> Attachments:
        from core.knowledge.attachments import Attachments
        from storage.documents.base import has_reader
        from storage.documents.files import stamp_file

        return Attachments(
            corpus=self.stores.corpus,
            library=self.library,
            conversations=self.stores.conversations,
            ingest=self.ingests.bring_in,
            has_reader=has_reader,
            stamp=stamp_file,
            limits=self.config.ingest.limits,
        )

    @cached_property
    def kept(self) -> KeptAnswers:
        from core.features.kept_answers import KeptAnswers

        stores, alone = self.stores, partial(self._lock, KEPT_LOCK)
        library = Library(stores.corpus, self.index, stores.conversations, after_removal=self.staleness.check)
        known = (stores.kept, stores.corpus, stores.settings, self.access, library)
        return KeptAnswers(*known, self.ingests.bring_in, alone=alone, clock=self.clock)

    @cached_property
    def live(self) -> LiveChannels:
        known = (self.stores.channels, self.stores.corpus, self.inbox_store, self.access, self.library)
        alone, days = partial(self._lock, LIVE_LOCK), self.config.live_channels.keep_days
        return LiveChannels(*known, self.ingests.bring_in, alone=alone, clock=self.clock, keep_days=days)

    @cached_property
    def reviews(self) -> Reviews:
        from core.features.review import Reviews

        return Reviews(self.kept, self.statistics, self.staleness, self.access, self.stores.corpus)

    @cached_property
    def uploads(self) -> Uploads:
        from core.features.uploads import Uploads
        from storage.documents.base import check_readable
        from storage.documents.files import stamp_file

        return Uploads(
            corpus=self.stores.corpus,
            jobs=self.stores.jobs,
            clock=self.clock,
            ingest=self.ingests.bring_in,
            check=check_readable,
            stamp=stamp_file,
            limits=self.config.ingest.limits,
            folder=self.config.data_path.absolute() / folders.UPLOADS_FOLDER,
            alone=partial(self._lock, UPLOADS_LOCK),
            links=self.stores.additions.links,
        )

    @cached_property
    def additions(self) -> Additions:
        from core.features.additions import Additions
        from storage.sources.web_pages import fetch_link

        workspaces = Workspaces(self.stores.corpus, self.bindings, self.default_workspace, ())
        return Additions(self.stores.additions, self.uploads, self.library, self.access, workspaces, fetch_link)

    @cached_property
    def maintenance(self) -> Maintenance:
        database, found = SqlMaintenance(self.stores.database, folders.BACKED_UP), self.ingests
        compare, repair, corpus = found.compare, found.repair, self.stores.corpus
        return Maintenance(database=database, corpus=corpus, index=self.index, compare=compare, repair=repair)

    @cached_property
    def library(self) -> Library:
        return Library(
            corpus=self.stores.corpus,
            index=self.index,
            conversations=self.stores.conversations,
            delete_files=self._delete_files,
            delete_mirror=lambda source: self.syncs.delete_mirror(source),
            after_removal=self._after_removal,
        )

    async def _delete_files(self, documents: Sequence[Document]) -> None:
        for part in (self.uploads, self.additions, self.syncs):
            await part.delete_files(documents)

    async def _after_removal(self) -> None:
        await self.staleness.check()
        await self.kept.sweep()

    @cached_property
    def suggestions(self) -> SuggestedQuestions:
        from core.answering.answers.suggestions import SuggestedQuestions

        return SuggestedQuestions(self.stores.corpus, self.library, self.stores.extracts)

    @cached_property
    def access(self) -> Access:
        return Access(self.stores.corpus, self.stores.settings)

    @cached_property
    def availability(self) -> Availability:
        index = partial(attrgetter("index"), self)  # opens when it is needed
        ingests = SqlIngestProgress(self.stores.database, self.clock)
        return Availability(self.stores.corpus, self.access, index, self.default_workspace, TEAM_IDS, {"web"}, ingests)

    @cached_property
    def bindings(self) -> Bindings:
        return Bindings(self.stores.teams, self.config.team_workspaces, TEAM_IDS, self.clock)

    @cached_property
    def facts(self) -> Facts:
        return Facts(extracts=self.stores.extracts, corpus=self.stores.corpus, clock=self.clock)

    @cached_property
    def statistics(self) -> UsageStatistics:
        asked = SqlAskedRepository(self.stores.database, self.clock, is_direct_thread)
        groups, spending, corpus = VectorMeaningGroups(self.embedder), self.spending.store, self.stores.corpus
        return UsageStatistics(asked=asked, corpus=corpus, groups=groups, spending=spending, clock=self.clock)

    @cached_property
    def conversations(self) -> Conversations:
        async def forget(address: ThreadAddress) -> None:
            await self.attachments.forget(address)
            await self.kept.forget_thread(address)

        return Conversations(self.stores.conversations, self.clock, forget)

    @cached_property
    def feedbacks(self) -> Feedbacks:
        return Feedbacks(self.stores.feedback, self.conversations, self.clock)

    @cached_property
    def staleness(self) -> Staleness:
        stores, inbox, noted = self.stores, self.inbox_store, NOTED_PLATFORMS
        talks, settings = stores.conversations, stores.settings
        return Staleness(
            stores.stale, conversations=talks, inbox=inbox, settings=settings, clock=self.clock, noted=noted
        )

    @cached_property
    def page_images(self) -> PageImages:
        from storage.documents.page_images.pages import Pictures

        return Pictures(has_ocr=self.has_ocr)

    @cached_property
    def jobs(self) -> Jobs:
        from storage.documents.extraction.runs import LOCKS

        own = ((JobKind.SYNC, None, SYNC_LOCK), (JobKind.INGEST, None, UPLOADS_LOCK))
        locks = (*own, *((JobKind.EXTRACTION, name, lock) for name, lock in LOCKS.items()))
        free = partial(try_process_lock, self.config.database_location, with_file=True)
        runs = [Runs(kind=kind, name=name, place_if_free=partial(free, lock)) for kind, name, lock in locks]
        abandoned = AbandonedRuns(self.stores.jobs, self.clock, runs)
        return Jobs(self.stores.jobs, self.stores.conversations, self.clock, self.inbox_store, abandoned)

    @cached_property
    def recaps(self) -> Recaps:
        from core.features.recap import Recaps

        return Recaps(self.stores.corpus, self.stores.summaries, self.providers.of, self.support)

    @cached_property
    def strategies(self) -> Strategies:
        from core.answering.run import Budget
        from core.answering.strategies.choosing import Strategies

        agent, spends = self.config.agent, self.config.limits.when_spent
        return Strategies(
            provider=self.providers.ready,
            configured=agent.strategy,
            facts=agent.facts,
            budget=Budget(steps=agent.max_steps, tokens=agent.max_tokens, seconds=agent.max_seconds),
            clock=self.clock,
            without_model=(lambda: self.providers.extractive) if spends == "extractive" else None,
            check_model=self.providers.check_model,
        )

    @cached_property
    def cassettes(self) -> Cassettes:
        """Recorded runs, replayed over the recorded model, so that no provider is opened."""
        from core.features.replay.cassettes import Cassettes

        runs = Cassettes(self.stores.cassettes, self.strategies.recorded, self.clock, days=self.config.replay.keep_days)
        self.stack.push_async_callback(runs.settled)
        return runs

    def _lock(self, name: str) -> AbstractAsyncContextManager[None]:  # over all processes on the database
        return process_lock(self.config.database_location, name, with_file=True)


async def build_parts(config: Config, stack: AsyncExitStack, default_workspace: str | None = None) -> Parts:
    """Open the database and bind every part to it until `stack` closes. Raises StorageError."""
    # Parts open lazily: a stack of their own closes them after everything that the caller starts later.
    own = await stack.enter_async_context(AsyncExitStack())
    if not config.is_shared or config.data_path.exists():
        open_data_directory(config.data_path)
    database = await Database.open(config.database_location)
    own.push_async_callback(database.close)
    stores, default = Stores(database, is_direct_thread), default_workspace or config.workspace
    return Parts(config=config, clock=SystemClock(), stack=own, stores=stores, default_workspace=default)


@asynccontextmanager
async def open_parts(config: Config) -> AsyncIterator[Parts]:
    """Build the parts of a process and close them at the end. Raises StorageError."""
    async with AsyncExitStack() as stack:
        yield await build_parts(config, stack)


def restore(config: Config, file: Path) -> list[str]:
    """Unpack a backup into the data directory and return the restored names. Raises InvalidState and StorageError."""
    return restore_backup(file, config.data_path / folders.DATABASE_FILE, folders.BACKED_UP)
