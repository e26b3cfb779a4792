"""The composition root: the only place that names concrete classes.

Parts are built when first asked for, so that each command pays only for what it uses; what was opened is closed in
reverse order. Imports of heavy parts stand inside the functions that need them, for the same reason.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from bot.config import Config
from bot.runtime.clock import SystemClock
from bot.runtime.local_user import author_name
from bot.wiring.abandoned import SYNC_PLACE, build_abandoned
from bot.wiring.direct_threads import is_one_persons
from bot.wiring.extraction import Extractions, build_extractions
from bot.wiring.ingestion import Ingests, build_ingests, build_library, build_staleness, to_read_limits
from bot.wiring.models import ModelParts
from bot.wiring.stores import DATABASE_FILE, KEPT_FOLDER
from core.access.scopes import Access
from core.domain.corpus import Document, SearchScope, Source
from core.domain.ingest_report import IngestReport, ProgressCallback
from core.work.conversations import Conversations
from storage.database import Database
from storage.database.process_lock import alone, alone_if_free
from storage.database.repositories.cited import SqlCitedRepository
from storage.database.repositories.feedback import SqlFeedbackRepository
from storage.database.repositories.stale import SqlStaleRepository

if TYPE_CHECKING:
    from core.answering.redaction import Histories
    from core.answering.steps.stated_positions import StatedPositions
    from core.features.access_explanation import Explanations
    from core.features.connections import Connections
    from core.features.feedback import Feedbacks
    from core.features.kept_answers import KeptAnswers
    from core.features.maintenance import Upkeep
    from core.features.recap import Recaps
    from core.features.replay.cassettes import Cassettes
    from core.features.staleness.detection import Staleness
    from core.features.statistics import UsageStatistics
    from core.features.syncing import Syncs
    from core.knowledge.attachments import Attachments
    from core.knowledge.facts import Facts
    from core.knowledge.library import Library
    from core.ports.documents import PageImages
    from core.service.commands import Commands, RunningQuestions
    from core.service.jobs import Jobs


class App(ModelParts):
    """All parts of one process. `async with App(config) as app`, or `open` and `close`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.workspace = config.workspace
        self.clock = SystemClock()
        self.questions: RunningQuestions | None = None  # those that a service has in hand; set before commands are used
        self._stack = AsyncExitStack()
        self._database: Database | None = None

    async def open(self) -> "App":
        """Open the database; all else opens when it is used. Safe to repeat. Raises StorageError."""
        if self._database is not None:
            return self
        self._database = await Database.open(self._database_place)
        self._stack.push_async_callback(self._database.close)
        return self

    async def close(self) -> None:
        """Close what was opened, last first; safe to repeat."""
        await self._stack.aclose()

    async def __aenter__(self) -> "App":
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def is_shared(self) -> bool:
        """Whether other processes may work on the same database: PostgreSQL."""
        return self.config.database_url() is not None

    @property
    def _database_place(self) -> Path | str:
        url = self.config.database_url()
        return url.get_secret_value() if url else self.config.data_path / DATABASE_FILE

    @cached_property
    def extractions(self) -> Extractions:
        return build_extractions(self, lambda place: alone(self._database_place, place, with_file=True))

    @cached_property
    def facts(self) -> "Facts":
        from core.knowledge.facts import Facts

        return Facts(extracts=self.extracts, corpus=self.corpus, clock=self.clock)

    @cached_property
    def connections(self) -> "Connections":
        from core.features.connections import Connections

        return Connections(
            extracts=self.extracts,
            corpus=self.corpus,
            names=self.library.names,
            cited=SqlCitedRepository(self.database, is_one_persons),
            conversations=self.conversation_store,
        )

    @cached_property
    def statistics(self) -> "UsageStatistics":
        from core.features.statistics import UsageStatistics
        from storage.database.repositories.asked import SqlAskedRepository
        from storage.models.local.clustering import VectorMeaningGroups

        return UsageStatistics(
            asked=SqlAskedRepository(self.database, self.clock, is_one_persons),
            corpus=self.corpus,
            groups=VectorMeaningGroups(self.embedder),
            clock=self.clock,
        )

    @cached_property
    def access(self) -> Access:
        return Access(self.corpus, self.settings)

    @cached_property
    def explanations(self) -> "Explanations":
        from core.features.access_explanation import Explanations

        return Explanations(self.access, self.library, self.corpus)

    @cached_property
    def feedbacks(self) -> "Feedbacks":
        from core.features.feedback import Feedbacks

        return Feedbacks(SqlFeedbackRepository(self.database), self.conversations, self.clock)

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self.conversation_store, self.clock, lambda address: self.attachments.forget(address))

    @cached_property
    def histories(self) -> "Histories":
        from core.answering.redaction import Histories

        return Histories(self.conversations, self.corpus)

    @cached_property
    def attachments(self) -> "Attachments":
        from core.knowledge.attachments import Attachments
        from storage.documents.base import has_reader
        from storage.documents.files import stamp_file

        return Attachments(
            corpus=self.corpus,
            library=self.library,
            conversations=self.conversation_store,
            ingest=self.read_in,
            has_reader=has_reader,
            stamp=stamp_file,
            limits=to_read_limits(self.config.ingest),
        )

    @cached_property
    def page_images(self) -> "PageImages":
        from storage.documents.page_images.pages import Pictures

        return Pictures()

    @cached_property
    def library(self) -> "Library":
        return build_library(self)

    @cached_property
    def staleness(self) -> "Staleness":
        return build_staleness(self, SqlStaleRepository(self.database))

    @cached_property
    def jobs(self) -> "Jobs":
        from core.service.jobs import Jobs

        free = partial(alone_if_free, self._database_place, with_file=True)
        abandoned = build_abandoned(self.job_store, self.clock, free)
        return Jobs(
            self.job_store, self.conversation_store, lambda: self.answers, self.clock, self.inbox_store, abandoned
        )

    @cached_property
    def kept(self) -> "KeptAnswers":
        from core.features.kept_answers import KeptAnswers

        folder = self.config.data_path / KEPT_FOLDER
        return KeptAnswers(
            corpus=self.corpus, settings=self.settings, ingest=self.read_in, folder=folder, clock=self.clock
        )

    @cached_property
    def cassettes(self) -> "Cassettes":
        from bot.wiring.replays import build_cassettes

        made = build_cassettes(self)
        self._stack.push_async_callback(made.settled)
        return made

    @cached_property
    def recaps(self) -> "Recaps":
        from bot.wiring.answers import build_recaps

        return build_recaps(self)

    @cached_property
    def commands(self) -> "Commands":
        from core.service.commands import Commands

        return Commands(
            library=self.library,
            corpus=self.corpus,
            conversations=self.conversations,
            jobs=self.jobs,
            access=self.access,
            settings=self.settings,
            questions=self.questions,
            kept=self.kept,
            facts=self.facts,
            staleness=self.staleness,
            recaps=self.recaps,
            cassettes=self.cassettes if self.config.replay.record else None,
        )

    @cached_property
    def answers(self) -> "StatedPositions":
        from bot.wiring.answers import build_answers, with_stated_positions

        return with_stated_positions(self, build_answers(self))

    async def scope(self) -> SearchScope:
        """What the command line may read: all in its workspace but what was attached to questions, up to the reading
        positions of the person at this machine.
        """
        return await self.access.scope(self.workspace, reader=author_name())

    async def find_document(self, name: str) -> Document:
        """By path, title or alias. Raises NotFound and BadInput as Library.find_document does."""
        return await self.library.find_document(name, await self.scope())

    async def describe_embedder(self) -> str:
        """The embedding model, after it embedded a word. Raises ModelMissing."""
        await asyncio.to_thread(self.embedder.embed_query, "footnote")
        return f"{self.embedder.name} ({self.embedder.dimensions} dimensions)"

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
        """Ingest files and folders, one after the other; the reports are added up.

        `workspace` None: the configured one. `kind` forces a reader. A kind or a path that can't be used raises before
        anything is read.
        """
        return await self.ingests.add(
            paths, workspace or self.workspace, source=source, kind=kind, force=force, progress=progress
        )

    async def read_in(
        self, source: Source, root: Path, only: str | None = None, *, kind: str | None = None
    ) -> IngestReport:
        """Bring a stored source up to date (implements core.knowledge.attachments.Ingest)."""
        return await self.ingests.read_in(source, root, only, kind=kind)

    @cached_property
    def upkeep(self) -> "Upkeep":
        from core.features.maintenance import Upkeep

        return Upkeep(
            database=self.upkeep_store,
            corpus=self.corpus,
            index=self.index,
            compare=self.ingests.compare,
            repair=self.ingests.repair,
        )

    @cached_property
    def syncs(self) -> "Syncs":
        from bot.wiring.syncs import build_syncs
        from storage.database.repositories.syncs import SqlSyncRepository
        from storage.sources.building import build_fetcher

        waiting = partial(alone, self._database_place, SYNC_PLACE, with_file=True)
        return build_syncs(self, SqlSyncRepository(self.database), build_fetcher, waiting)

    @cached_property
    def ingests(self) -> Ingests:
        return build_ingests(self, lambda: alone(self._database_place, "index"))
