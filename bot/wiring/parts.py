"""The composition root: every part of a process, built by `build_parts` from the configuration.

A cached property imports and builds its part at its first use, so that `footnote search` starts in under two seconds.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from bot.config import Config
from bot.config.sections import MODEL_EXTRACTORS, IngestConfig
from bot.presentation.direct_threads import is_direct_thread
from bot.runtime.system import SystemClock, author_name
from bot.wiring.resources import BACKED_UP, KEPT_FOLDER, Resources, database_location
from core.access.scopes import Access
from core.domain.corpus import Document, SearchScope
from core.domain.ingest_report import IngestReport, ProgressCallback
from core.domain.read_limits import MEBIBYTE, WALL_TIMES, ReadLimits
from core.features.staleness.stale_answers import Staleness
from core.knowledge.library import Library
from core.ports import ChatProvider, Clock, SearchIndex
from core.work.conversations import Conversations
from storage.database import Database
from storage.database.process_lock import process_lock, try_process_lock
from storage.database.repositories.connections import SqlCitedRepository
from storage.database.repositories.feedback import SqlFeedbackRepository
from storage.database.repositories.maintenance import SqlMaintenance
from storage.database.repositories.staleness import SqlStaleRepository
from storage.database.repositories.statistics import SqlAskedRepository
from storage.database.repositories.syncing import SqlSyncRepository

if TYPE_CHECKING:
    from core.answering.redaction import Histories
    from core.answering.strategies.choosing import Strategies
    from core.domain.sources import SourceSpec
    from core.features.access_explanation import Explanations
    from core.features.connections import Connections
    from core.features.feedback import Feedbacks
    from core.features.kept_answers import KeptAnswers
    from core.features.maintenance import Maintenance
    from core.features.recap import Recaps
    from core.features.replay.cassettes import Cassettes
    from core.features.statistics import UsageStatistics
    from core.features.syncing import Syncs
    from core.knowledge.attachments import Attachments
    from core.knowledge.facts import Facts
    from core.ports.documents import PageImages, SourceFetcher
    from core.service.commands import Commands, RunningQuestions
    from core.service.jobs import Jobs
    from storage.documents.extraction.by_model import ModelExtractionRunner
    from storage.documents.extraction.ingests import Ingests
    from storage.documents.extraction.runs import Extractions, ModelExtractions
    from storage.documents.pipeline import Ingestor

MIRRORS_FOLDER = "mirrors"  # one folder for each fetched source
# Locks over all processes on the database.
INDEX_LOCK = "index"
SYNC_LOCK = "sync"
EXTRACTION_LOCK = "extraction"
MODEL_EXTRACTION_LOCK = "extraction-by-model"
# Platforms whose threads get a note about stale answers. Terminal and API report them when a conversation opens.
NOTED_PLATFORMS = ("discord", "slack", "web")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Parts(Resources):
    """The use cases of a process over its resources."""

    @cached_property
    def library(self) -> Library:
        return Library(
            corpus=self.corpus,
            index=self.index,
            conversations=self.conversation_store,
            after_removal=lambda: self.staleness.check(),
        )

    @cached_property
    def access(self) -> Access:
        return Access(self.corpus, self.settings)

    async def scope(self) -> SearchScope:
        """Return the scope of the command line: the whole workspace except attachments, within the local user's
        reading positions.
        """
        return await self.access.scope(self.workspace, reader=author_name())

    async def find_document(self, name: str) -> Document:
        """Return a document by path, title or alias. Raises as Library.find_document."""
        return await self.library.find_document(name, await self.scope())

    @cached_property
    def explanations(self) -> Explanations:
        from core.features.access_explanation import Explanations

        return Explanations(self.access, self.library, self.corpus)

    @cached_property
    def facts(self) -> Facts:
        from core.knowledge.facts import Facts

        return Facts(extracts=self.extracts, corpus=self.corpus, clock=self.clock)

    @cached_property
    def connections(self) -> Connections:
        from core.features.connections import Connections

        return Connections(
            extracts=self.extracts,
            corpus=self.corpus,
            names=self.library.names,
            cited=SqlCitedRepository(self.database, is_direct_thread),
            conversations=self.conversation_store,
        )

    @cached_property
    def statistics(self) -> UsageStatistics:
        from core.features.statistics import UsageStatistics
        from storage.models.local.clustering import VectorMeaningGroups

        return UsageStatistics(
            asked=SqlAskedRepository(self.database, self.clock, is_direct_thread),
            corpus=self.corpus,
            groups=VectorMeaningGroups(self.embedder),
            clock=self.clock,
        )

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self.conversation_store, self.clock, lambda address: self.attachments.forget(address))

    @cached_property
    def histories(self) -> Histories:
        from core.answering.redaction import Histories

        return Histories(self.conversations, self.corpus)

    @cached_property
    def feedbacks(self) -> Feedbacks:
        from core.features.feedback import Feedbacks

        return Feedbacks(SqlFeedbackRepository(self.database), self.conversations, self.clock)

    @cached_property
    def staleness(self) -> Staleness:
        return Staleness(
            SqlStaleRepository(self.database),
            conversations=self.conversation_store,
            inbox=self.inbox_store,
            settings=self.settings,
            clock=self.clock,
            noted=NOTED_PLATFORMS,
        )

    @cached_property
    def attachments(self) -> Attachments:
        from core.knowledge.attachments import Attachments
        from storage.documents.base import has_reader
        from storage.documents.files import stamp_file

        return Attachments(
            corpus=self.corpus,
            library=self.library,
            conversations=self.conversation_store,
            ingest=self.ingests.read_in,
            has_reader=has_reader,
            stamp=stamp_file,
            limits=to_read_limits(self.config.ingest),
        )

    @cached_property
    def page_images(self) -> PageImages:
        from storage.documents.page_images.pages import Pictures

        return Pictures()

    @cached_property
    def kept(self) -> KeptAnswers:
        from core.features.kept_answers import KeptAnswers

        return KeptAnswers(
            corpus=self.corpus,
            settings=self.settings,
            ingest=self.ingests.read_in,
            folder=self.folder(KEPT_FOLDER),
            clock=self.clock,
        )

    @cached_property
    def jobs(self) -> Jobs:
        from core.domain.jobs import JobKind
        from core.service.jobs import Jobs
        from core.work.orphaned_jobs import AbandonedRuns, Runs
        from storage.documents.extraction.by_model import JOB_NAME as MODEL_JOB_NAME
        from storage.documents.extraction.by_rules import JOB_NAME

        def runs(kind: JobKind, lock: str, name: str | None = None) -> Runs:
            free = partial(try_process_lock, database_location(self.config), lock, with_file=True)
            return Runs(kind=kind, name=name, place_if_free=free)

        abandoned = AbandonedRuns(
            self.job_store,
            self.clock,
            (
                runs(JobKind.SYNC, SYNC_LOCK),
                runs(JobKind.EXTRACTION, EXTRACTION_LOCK, JOB_NAME),
                runs(JobKind.EXTRACTION, MODEL_EXTRACTION_LOCK, MODEL_JOB_NAME),
            ),
        )
        return Jobs(self.job_store, self.conversation_store, self.clock, self.inbox_store, abandoned)

    @cached_property
    def recaps(self) -> Recaps:
        from core.features.recap import LineWriter, ModelWriter, Recaps

        def writer(workspace: str) -> LineWriter | ModelWriter:
            provider = self.provider_for(workspace)
            return LineWriter() if provider.capabilities.quotes_only else ModelWriter(provider)

        return Recaps(self.corpus, self.summaries, writer)

    @cached_property
    def strategies(self) -> Strategies:
        from core.answering.limits import Budget
        from core.answering.strategies.choosing import Strategies

        agent = self.config.agent
        return Strategies(
            provider=self.ready_provider,
            configured=agent.strategy,
            facts=agent.facts,
            budget=Budget(steps=agent.max_steps, tokens=agent.max_tokens, seconds=agent.max_seconds),
            clock=self.clock,
        )

    @cached_property
    def cassettes(self) -> Cassettes:
        """Recorded runs, replayed over the recorded model, so that no provider is opened."""
        from core.features.replay.cassettes import Cassettes

        days = self.config.replay.keep_days
        cassettes = Cassettes(self.cassette_store, self.strategies.recorded, self.clock, days=days)
        self.stack.push_async_callback(cassettes.settled)
        return cassettes

    @cached_property
    def commands(self) -> Commands:
        """The chat commands of a process without a worker."""
        return self.build_commands()

    def build_commands(self, questions: RunningQuestions | None = None) -> Commands:
        """Bind the chat commands; `questions` are those that a worker is answering."""
        from core.service.commands import Commands

        return Commands(
            library=self.library,
            corpus=self.corpus,
            conversations=self.conversations,
            jobs=self.jobs,
            access=self.access,
            settings=self.settings,
            questions=questions,
            kept=self.kept,
            facts=self.facts,
            staleness=self.staleness,
            recaps=self.recaps,
            cassettes=self.cassettes if self.config.replay.record else None,
        )

    @cached_property
    def ingests(self) -> Ingests:
        from storage.documents.extraction.ingests import Ingests

        return Ingests(
            corpus=self.corpus,
            build=self._build_ingestor,
            alone=lambda: process_lock(database_location(self.config), INDEX_LOCK),
            extracts=self.extractions,
            notice=lambda: self.staleness.check(),
        )

    def _build_ingestor(self) -> Ingestor:
        """One for each run: its child process isn't for concurrent use."""
        from storage.documents.pdf import recognition
        from storage.documents.pipeline import Ingestor
        from storage.documents.sandbox import READERS, RECOGNISING_READERS, Sandbox

        limits = to_read_limits(self.config.ingest)
        has_ocr = self.config.ingest.ocr and can_recognise()
        return Ingestor(
            corpus=self.corpus,
            index=self.index,
            conversations=self.conversation_store,
            clock=self.clock,
            sandbox=Sandbox(limits, RECOGNISING_READERS if has_ocr else READERS),
            limits=limits,
            retried={recognition.UNRECOGNISED} if has_ocr else (),
        )

    @cached_property
    def extractions(self) -> Extractions:
        from core.work.steps import Steps
        from storage.documents.extraction.by_rules import JOB_NAME, ExtractionRunner
        from storage.documents.extraction.runs import Extractions, Turns
        from storage.documents.extractors.base import build_extractors
        from storage.documents.sandbox import Sandbox

        def build() -> ExtractionRunner:
            return ExtractionRunner(
                corpus=self.corpus,
                extracts=self.extracts,
                extractors=build_extractors(),
                sandbox=Sandbox(to_read_limits(self.config.ingest)),
                clock=self.clock,
            )

        return Extractions(
            corpus=self.corpus,
            build=build,
            steps=lambda workspace: Steps(self.job_store, self.clock, workspace),
            turns=Turns(JOB_NAME, self.job_store, self.clock, partial(self._locked, EXTRACTION_LOCK)),
            by_model=self._build_model_extractions,
            model_extractors=MODEL_EXTRACTORS,
        )

    def _build_model_extractions(self) -> ModelExtractions | None:
        """None if they are off or no workspace has a model. Each workspace's documents go to its own provider only."""
        from core.domain.extracts import ModelLimits
        from core.work.rate_limit import Rate, RateLimiter
        from core.work.steps import Steps
        from storage.documents.extraction.by_model import JOB_NAME, ModelExtractionRunner, ModelParts
        from storage.documents.extraction.runs import ModelExtractions, Turns, can_extract
        from storage.documents.extractors.base import build_model_extractors

        settings = self.config.extraction
        workspaces = (self.workspace, *self.config.workspaces)
        if not settings.with_model:
            return None
        if not can_extract(self.provider_for(name) for name in workspaces):
            _log.warning(
                "[extraction] with_model is set, but %r is no model that can be asked: it is off", self.provider.name
            )
            return None
        gate = RateLimiter(Rate(per_second=settings.requests_per_minute / 60, burst=1), self.clock)

        def build(workspace: str) -> ModelExtractionRunner | None:
            provider = self.provider_for(workspace)
            if not can_extract([provider]):
                return None
            parts = ModelParts(
                corpus=self.corpus,
                extracts=self.extracts,
                readings=self.readings,
                extractors=[item for item in build_model_extractors() if item.name in settings.model_extractors],
                provider=provider,
                limits=ModelLimits(tokens_per_run=settings.tokens_per_run, tokens_per_day=settings.tokens_per_day),
                model=self.config.extraction_model(workspace),
                gate=gate,
                clock=self.clock,
            )
            return ModelExtractionRunner(parts)

        return ModelExtractions(
            build=build,
            steps=lambda workspace: Steps(self.job_store, self.clock, workspace),
            turns=Turns(JOB_NAME, self.job_store, self.clock, partial(self._locked, MODEL_EXTRACTION_LOCK)),
            clock=self.clock,
        )

    @cached_property
    def syncs(self) -> Syncs:
        from core.features.syncing import Syncs
        from storage.documents.pipeline import has_files
        from storage.sources.building import build_fetcher

        def fetcher(spec: SourceSpec) -> SourceFetcher:
            token = self.config.source_token(spec.workspace, spec.name)
            return build_fetcher(spec, token.get_secret_value() if token else None)

        return Syncs(
            specs=self.config.source_specs(),
            corpus=self.corpus,
            states=SqlSyncRepository(self.database),
            jobs=self.job_store,
            clock=self.clock,
            ingest=self.ingests.bring_in,
            fetcher=fetcher,
            mirrors=self.folder(MIRRORS_FOLDER),
            alone=partial(self._locked, SYNC_LOCK),
            has_files=has_files,
        )

    @cached_property
    def maintenance(self) -> Maintenance:
        from core.features.maintenance import Maintenance

        return Maintenance(
            database=SqlMaintenance(self.database, BACKED_UP),
            corpus=self.corpus,
            index=self.index,
            compare=self.ingests.compare,
            repair=self.ingests.repair,
        )

    async def ingest(
        self,
        paths: Sequence[Path],
        *,
        source: str | None,
        kind: str,
        force: bool,
        progress: ProgressCallback,
        workspace: str | None = None,
    ) -> IngestReport:
        """Call `Ingests.add` for a workspace; None: the configured one."""
        return await self.ingests.add(
            paths, workspace or self.workspace, source=source, kind=kind, force=force, progress=progress
        )

    def _locked(self, lock: str) -> AbstractAsyncContextManager[None]:
        return process_lock(database_location(self.config), lock, with_file=True)


async def build_parts(
    config: Config,
    stack: AsyncExitStack,
    *,
    clock: Clock | None = None,
    database: Database | None = None,
    index: SearchIndex | None = None,
    provider: ChatProvider | None = None,
) -> Parts:
    """Open the database and bind every part to it until `stack` closes. A test passes its own parts.

    Raises StorageError.
    """
    # Parts open lazily: a stack of their own closes them after everything that the caller starts later.
    own = await stack.enter_async_context(AsyncExitStack())
    if database is None:
        database = await Database.open(database_location(config))
        own.push_async_callback(database.close)
    return Parts(
        config=config,
        clock=clock or SystemClock(),
        stack=own,
        database=database,
        own_index=index,
        own_provider=provider,
    )


@asynccontextmanager
async def open_parts(config: Config) -> AsyncIterator[Parts]:
    """Build the parts of a process and close them at the end. Raises StorageError."""
    async with AsyncExitStack() as stack:
        yield await build_parts(config, stack)


def can_recognise() -> bool:
    """Return whether the text recognition of scanned pages (the extra `ocr`) is installed."""
    from storage.documents.pdf import recognition

    return recognition.is_installed()


def to_read_limits(settings: IngestConfig) -> ReadLimits:
    """Return the configured limits on reading one file."""
    return ReadLimits(
        seconds=settings.parse_seconds,
        wall_seconds=settings.parse_seconds * WALL_TIMES,
        memory_bytes=settings.parse_memory_mb * MEBIBYTE,
        file_bytes=settings.max_file_mb * MEBIBYTE,
        pages=settings.max_pages,
        recognised_pages=settings.max_ocr_pages,
    )
