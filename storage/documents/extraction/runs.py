"""Runs of extractors: their queues, their backoff, and one run at a time over all processes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from core.domain.corpus import Source
from core.domain.ingest_report import ExtractionReport, IngestReport, ProgressCallback
from core.domain.jobs import JobKind
from core.errors import BadInput, FootnoteError
from core.ports import ChatProvider, Clock, CorpusRepository
from core.ports.service import JobRepository
from core.work.orphaned_jobs import end_abandoned
from core.work.steps import Steps
from storage.documents.extraction.by_model import ModelExtractionRunner
from storage.documents.extraction.by_rules import ExtractionRunner

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


class Turns:
    """The lock on runs of one name, over all processes. Jobs that a killed process left running fail first."""

    def __init__(
        self, name: str, jobs: JobRepository, clock: Clock, alone: Callable[[], AbstractAsyncContextManager[None]]
    ) -> None:
        self._name = name
        self._jobs = jobs
        self._clock = clock
        self._alone = alone
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        async with self._lock, self._alone():
            await end_abandoned(self._jobs, self._clock, JobKind.EXTRACTION, self._name)
            yield


class ModelExtractions:
    """Runs of the extractors that ask a model, one at a time, in the background unless a caller asks for one."""

    def __init__(
        self,
        *,
        build: Callable[[str], ModelExtractionRunner | None],
        steps: Callable[[str], Steps],
        turns: Turns,
        clock: Clock,
    ) -> None:
        """`build` is called for each run; it returns None if the workspace's provider has no model.

        `steps` starts a job tree in a workspace.
        """
        self._build = build
        self._steps = steps
        self._turns = turns
        self._clock = clock
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
        extracting = self._build(workspace)
        if extracting is None:
            if extractor is not None:
                raise BadInput(f"The extractor {extractor!r} asks a model, and the provider of {workspace!r} has none.")
            return ExtractionReport()
        async with self._turns.turn():
            return await extracting.run(
                workspace,
                document_ids=document_ids,
                extractor=extractor,
                force=force,
                steps=self._steps(workspace),
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
                    max((min(stopped) - self._clock.now()).total_seconds(), 0) if stopped else None
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
            return self._clock.now() + pause
        if report.job_id is not None:
            _log.info(
                "A model was asked %d times about %d documents of %s, for %d tokens: %d things",
                report.spent.requests, report.documents, workspace, report.spent.tokens, report.extracts,
            )  # fmt: skip
        if report.stopped is None:
            return None
        _log.warning("Asking a model about the documents of %s stopped: %s", workspace, report.stopped)
        return report.resume_at or self._clock.now() + (AGAIN if report.spent.requests else pause)


class Extractions:
    """Runs of extractors, one at a time.

    A command extracts right after its ingest. A service extracts in the background (`work`), so that questions don't
    wait. The next process resumes the rest.
    """

    def __init__(
        self,
        *,
        corpus: CorpusRepository,
        build: Callable[[], ExtractionRunner],
        steps: Callable[[str], Steps],
        turns: Turns,
        by_model: Callable[[], ModelExtractions | None] = lambda: None,
        model_extractors: Collection[str] = (),
    ) -> None:
        """`build` is called for each run; `steps` starts a job tree in a workspace.

        `by_model` returns the runs of `model_extractors`, or None if they are off.
        """
        self._corpus = corpus
        self._build = build
        self._steps = steps
        self._turns = turns
        self._find_model = by_model
        self._model_extractors = model_extractors
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
        if extractor not in self._model_extractors:
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
        return self._find_model()

    async def _run_rules(self, workspace: str, **wanted: Any) -> ExtractionReport:
        async with self._turns.turn():
            report = await self._build().run(workspace, steps=self._steps(workspace), **wanted)
        if self._works and self._by_model is not None:
            self._by_model.remember(workspace)
        return report

    async def follow(self, source: Source, report: IngestReport, progress: ProgressCallback) -> None:
        """Extract data of a source's new documents and add the counts to the ingest's report.

        Failures become warnings of the report, because the documents are stored and searchable anyway.
        """
        try:
            documents = await self._corpus.list_documents(source.workspace, frozenset({source.id}))
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
