"""Runs of extractors: their queues, their backoff, and one run at a time over all processes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import Any

from core.domain.corpus import Source
from core.domain.extracts import ModelLimits
from core.domain.ingest_report import ExtractionReport, IngestReport, ProgressCallback
from core.domain.jobs import JobKind
from core.domain.read_limits import ReadLimits
from core.errors import BadInput, FootnoteError
from core.ports import ChatProvider, Clock, CorpusRepository
from core.ports.documents import ExtractRepository, ReadingRepository
from core.ports.service import JobRepository
from core.work.orphaned_jobs import end_abandoned
from core.work.rate_limit import Rate, RateLimiter
from core.work.steps import Steps
from storage.documents.extraction import by_model, by_rules
from storage.documents.extraction.by_model import ModelExtractionRunner
from storage.documents.extraction.by_rules import ExtractionRunner
from storage.documents.extractors.base import build_extractors, build_model_extractors
from storage.documents.sandbox import Sandbox

# Pause after a run that stopped early; doubled after each further run that achieved nothing.
AGAIN = timedelta(minutes=10)
AGAIN_AT_MOST = timedelta(hours=6)
_NO_MODEL = (
    "The extractor {!r} asks a model, and those are off: set [extraction] with_model = true, and a [provider] that has "
    "a model"
)

_log = logging.getLogger(__name__)


def can_extract(providers: Iterable[ChatProvider]) -> bool:
    """Return whether any of them has a model that calls tools."""
    return any(item.capabilities.tools and not item.capabilities.quotes_only for item in providers)


@dataclass
class Turns:
    """The lock on runs of one name, over all processes. Jobs that a killed process left running fail first."""

    name: str
    jobs: JobRepository
    clock: Clock
    alone: Callable[[], AbstractAsyncContextManager[None]]

    def __post_init__(self) -> None:
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        async with self._lock, self.alone():
            await end_abandoned(self.jobs, self.clock, JobKind.EXTRACTION, self.name)
            yield


@dataclass(kw_only=True)
class ModelExtractions:
    """Runs of the extractors that ask a model, one at a time, in the background unless a caller asks for one."""

    build: Callable[[str], ModelExtractionRunner | None]  # for each run; None: the workspace's provider has no model
    steps: Callable[[str], Steps]  # starts a job tree in a workspace
    turns: Turns
    clock: Clock

    def __post_init__(self) -> None:
        self._due: dict[str, None] = {}  # workspaces where something may be due, in order
        self._wake = asyncio.Event()

    async def run(
        self,
        workspace: str,
        *,
        document_ids: Iterable[str] | None = None,
        extractor: str | None = None,
        force: bool = False,
        progress: ProgressCallback = lambda done: None,
    ) -> ExtractionReport:
        """Run `ModelExtractionRunner.run` and record it in its own job tree.

        Raises BadInput for a named extractor if the workspace's provider has no model.
        """
        extracting = self.build(workspace)
        if extracting is None:
            if extractor is not None:
                raise BadInput(f"The extractor {extractor!r} asks a model, and the provider of {workspace!r} has none.")
            return ExtractionReport()
        async with self.turns.turn():
            return await extracting.run(
                workspace,
                document_ids=document_ids,
                extractor=extractor,
                force=force,
                steps=self.steps(workspace),
                progress=progress,
            )

    def remember(self, workspace: str) -> None:
        """Have `work` look at a workspace."""
        self._due[workspace] = None
        self._wake.set()

    async def work(self) -> None:
        """Run due workspaces forever; retry the ones that a budget or an error stopped."""
        pause = AGAIN
        while True:
            self._wake.clear()
            stopped: list[datetime] = []
            for workspace in list(self._due):
                del self._due[workspace]
                again_at = await self._run_behind(workspace, pause)
                if again_at is not None:
                    self._due[workspace] = None
                    stopped.append(again_at)
            pause = min(pause * 2, AGAIN_AT_MOST) if stopped else AGAIN
            try:
                async with asyncio.timeout(
                    max((min(stopped) - self.clock.now()).total_seconds(), 0) if stopped else None
                ):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _run_behind(self, workspace: str, pause: timedelta) -> datetime | None:
        """Run once; return the time to resume if the run stopped early."""
        try:
            report = await self.run(workspace)
        except FootnoteError as error:
            _log.error("A model could not be asked about the documents of %s: %s", workspace, error)
            return self.clock.now() + pause
        if report.job_id is not None:
            _log.info(
                "A model was asked %d times about %d documents of %s, for %d tokens: %d things",
                report.spent.requests, report.documents, workspace, report.spent.tokens, report.extracts,
            )  # fmt: skip
        if report.stopped is None:
            return None
        _log.warning("Asking a model about the documents of %s stopped: %s", workspace, report.stopped)
        return report.resume_at or self.clock.now() + (AGAIN if report.spent.requests else pause)


@dataclass(kw_only=True)
class Extractions:
    """Runs of extractors, one at a time.

    A command extracts right after its ingest. A service extracts in the background (`work`), so that questions don't
    wait. The next process resumes the rest.
    """

    corpus: CorpusRepository
    build: Callable[[], ExtractionRunner]  # for each run
    steps: Callable[[str], Steps]  # starts a job tree in a workspace
    turns: Turns
    by_model: Callable[[], ModelExtractions | None] = lambda: None  # the runs of `model_extractors`; None: off
    model_extractors: Collection[str] = ()

    def __post_init__(self) -> None:
        self._due: dict[str, None] = {}  # workspaces where something may be due, in order
        self._wake = asyncio.Event()
        self._works = False

    async def run(
        self,
        workspace: str,
        *,
        document_ids: Iterable[str] | None = None,
        extractor: str | None = None,
        force: bool = False,
        progress: ProgressCallback = lambda done: None,
    ) -> ExtractionReport:
        """Run `ExtractionRunner.run`, then the model extractors if they are on; each has its own job tree.

        Raises BadInput for a model extractor by name if they are off.
        """
        report = None
        wanted: dict[str, Any] = {"document_ids": document_ids, "extractor": extractor, "force": force}
        if document_ids is not None:
            wanted["document_ids"] = list(document_ids)
        if extractor not in self.model_extractors:
            report = await self._run_rules(workspace, progress=progress, **wanted)
            if extractor is not None:
                return report
        if self._by_model is None:
            if report is None:
                raise BadInput(_NO_MODEL.format(extractor))
            return report
        asked = await self._by_model.run(workspace, progress=progress, **wanted)
        if report is None:
            return asked
        report.add(asked)
        return report

    @cached_property
    def _by_model(self) -> ModelExtractions | None:
        return self.by_model()

    async def _run_rules(self, workspace: str, **wanted: Any) -> ExtractionReport:
        async with self.turns.turn():
            report = await self.build().run(workspace, steps=self.steps(workspace), **wanted)
        if self._works and self._by_model is not None:
            self._by_model.remember(workspace)
        return report

    async def follow(self, source: Source, report: IngestReport, progress: ProgressCallback) -> None:
        """Extract data of a source's new documents and add the counts to the ingest's report.

        Failures become warnings of the report, because the documents are stored and searchable anyway.
        """
        try:
            documents = await self.corpus.list_documents(source.workspace, frozenset({source.id}))
            done = await self._run_rules(
                source.workspace, document_ids=[document.id for document in documents], progress=progress
            )
        except asyncio.CancelledError:  # the caller left
            self._remember(source.workspace)
            raise
        except FootnoteError as error:
            report.warnings.append((source.name, f"its data could not be extracted, run `footnote extract`: {error}"))
            return
        report.extracts += done.extracts
        report.seconds += done.seconds
        troubles = (*done.failures, *done.warnings)
        report.warnings += [(path, f"{extractor}: {reason}") for path, extractor, reason in troubles]

    async def follow_later(self, source: Source, report: IngestReport) -> None:
        """Call `follow`, or leave it to `work` in a service."""
        if self._works:
            self._remember(source.workspace)
        else:
            await self.follow(source, report, lambda done: None)

    async def work(self, workspaces: Iterable[str]) -> None:
        """Extract all that is due in these workspaces, then from later ingests; forever."""
        self._works = True
        self._due.update(dict.fromkeys(workspaces))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._work())
            if self._by_model is not None:
                tasks.create_task(self._by_model.work())

    async def _work(self) -> None:
        while True:
            while self._due:
                workspace = next(iter(self._due))
                del self._due[workspace]
                await self._run_behind(workspace)
            self._wake.clear()
            await self._wake.wait()

    async def _run_behind(self, workspace: str) -> None:
        try:
            report = await self._run_rules(workspace)
        except FootnoteError as error:
            _log.error("The data of %s could not be extracted: %s", workspace, error)
            return
        if report.documents:
            _log.info("Extracted %d things from %d documents of %s", report.extracts, report.documents, workspace)
        for path, extractor, reason in (*report.failures, *report.warnings):
            _log.warning("Extracting %s from %s: %s", extractor, path, reason)

    def _remember(self, workspace: str) -> None:
        self._due[workspace] = None
        self._wake.set()


# Locks over all processes on the database, by the name of the jobs.
LOCKS = {by_rules.JOB_NAME: "extraction", by_model.JOB_NAME: "extraction-by-model"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAccess:
    """The models that may be asked. Each workspace's documents go to its own provider only."""

    is_on: bool
    workspaces: Sequence[str]
    provider_for: Callable[[str], ChatProvider]  # by workspace
    model_for: Callable[[str], str | None]  # by workspace; None: the provider's default
    extractors: Sequence[str]  # names
    requests_per_minute: float
    limits: ModelLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionParts:
    """The parts of all extraction runs; `lock` waits for a lock over all processes."""

    corpus: CorpusRepository
    extracts: ExtractRepository
    readings: ReadingRepository
    jobs: JobRepository
    clock: Clock
    limits: ReadLimits
    lock: Callable[[str], AbstractAsyncContextManager[None]]
    model: ModelAccess

    def build(self) -> Extractions:
        return Extractions(
            corpus=self.corpus,
            build=self._build_runner,
            steps=partial(Steps, self.jobs, self.clock),
            turns=self._turns(by_rules.JOB_NAME),
            by_model=self._build_model_extractions,
            model_extractors=[item.name for item in build_model_extractors()],
        )

    def _build_runner(self) -> ExtractionRunner:
        return ExtractionRunner(
            corpus=self.corpus,
            extracts=self.extracts,
            extractors=build_extractors(),
            sandbox=Sandbox(self.limits),
            clock=self.clock,
        )

    def _build_model_extractions(self) -> ModelExtractions | None:
        """None if they are off or no workspace has a model."""
        if not self.model.is_on:
            return None
        providers = [self.model.provider_for(name) for name in self.model.workspaces]
        if not can_extract(providers):
            _log.warning(
                "[extraction] with_model is set, but %r is no model that can be asked: it is off", providers[0].name
            )
            return None
        gate = RateLimiter(Rate(per_second=self.model.requests_per_minute / 60, burst=1), self.clock)
        return ModelExtractions(
            build=partial(self._build_model_runner, gate),
            steps=partial(Steps, self.jobs, self.clock),
            turns=self._turns(by_model.JOB_NAME),
            clock=self.clock,
        )

    def _build_model_runner(self, gate: RateLimiter, workspace: str) -> ModelExtractionRunner | None:
        provider = self.model.provider_for(workspace)
        if not can_extract([provider]):
            return None
        return ModelExtractionRunner(
            corpus=self.corpus,
            extracts=self.extracts,
            readings=self.readings,
            extractors=build_model_extractors(self.model.extractors),
            provider=provider,
            limits=self.model.limits,
            model=self.model.model_for(workspace),
            gate=gate,
            clock=self.clock,
        )

    def _turns(self, job_name: str) -> Turns:
        return Turns(job_name, self.jobs, self.clock, partial(self.lock, LOCKS[job_name]))
