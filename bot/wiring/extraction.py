"""The composition root's part for extraction: when extractors run, within which limits. Only app.py uses it."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bot.config.sections import MODEL_EXTRACTORS
from bot.wiring.abandoned import EXTRACTION_PLACE, MODEL_EXTRACTION_PLACE
from bot.wiring.ingestion import to_read_limits
from bot.wiring.model_extraction import ModelExtractions, Turns, build_model_extractions
from core.domain.corpus import Source
from core.domain.ingest_report import IngestReport, ProgressCallback
from core.errors import BadInput, FootnoteError
from core.ports import CorpusRepository
from core.work.steps import Steps

if TYPE_CHECKING:
    from bot.wiring.app import App
    from core.domain.ingest_report import ExtractionReport
from storage.documents.extraction.extracting import Extracting

_NO_MODEL = (
    "The extractor {!r} asks a model, and those are off: set [extraction] with_model = true, and a [provider] that has "
    "a model"
)

_log = logging.getLogger(__name__)


class Extractions:
    """The runs of extractors, one at a time.

    What an ingest leaves to do is done at once, or behind it where somebody `work`s at that: in a service, where no
    question waits for it. What is not done when a process ends is due still, and done by the next one.
    """

    def __init__(
        self,
        *,
        corpus: CorpusRepository,
        build: Callable[[], "Extracting"],
        steps: Callable[[str], Steps],
        turns: Turns,
        by_model: Callable[[], ModelExtractions | None] = lambda: None,
    ) -> None:
        """`build` makes what runs extractors, for each run; `steps` a job tree in a workspace.

        `by_model` gives the runs of those that ask a model, None where they are off.
        """
        self._corpus = corpus
        self._build = build
        self._steps = steps
        self._turns = turns
        self._find_model = by_model
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
    ) -> "ExtractionReport":
        """As storage.documents.extraction.extracting.Extracting.run, recorded in a job tree of its own.

        Then those that ask a model, where they are on: in another job tree, and counted into the same report. Raises
        BadInput for one of them where they are off.
        """
        report = None
        wanted: dict[str, Any] = {"document_ids": document_ids, "extractor": extractor, "force": force}
        if document_ids is not None:
            wanted["document_ids"] = list(document_ids)
        if extractor not in MODEL_EXTRACTORS:
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

    async def _run_rules(self, workspace: str, **wanted: Any) -> "ExtractionReport":
        async with self._turns.turn():
            report = await self._build().run(workspace, steps=self._steps(workspace), **wanted)
        if self._works and self._by_model is not None:
            self._by_model.remember(workspace)
        return report

    async def follow(self, source: Source, report: IngestReport, progress: ProgressCallback) -> None:
        """Extract what an ingest of a source has left to do, and count it into the ingest's report.

        Whatever goes wrong is a warning of the report: the documents are stored, and can be asked about.
        """
        try:
            documents = await self._corpus.list_documents(source.workspace, frozenset({source.id}))
            done = await self._run_rules(
                source.workspace, document_ids=[document.id for document in documents], progress=progress
            )
        except asyncio.CancelledError:  # whoever waited for it went away
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
        """As `follow`; without waiting for it, where somebody works at it."""
        if self._works:
            self._remember(source.workspace)
        else:
            await self.follow(source, report, lambda done: None)

    async def work(self, workspaces: Iterable[str]) -> None:
        """Extract what is due in these workspaces, and from then on what ingests leave to do; for ever."""
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


def build_extractions(app: "App", alone: Callable[[str], AbstractAsyncContextManager[None]]) -> Extractions:
    """The runs over the parts of an app; `alone` holds a place for one process at a time."""

    def build() -> "Extracting":
        from storage.documents.extraction.extracting import Extracting
        from storage.documents.extractors.base import build_extractors
        from storage.documents.sandbox import Sandbox

        return Extracting(
            corpus=app.corpus,
            extracts=app.extracts,
            extractors=build_extractors(),
            sandbox=Sandbox(to_read_limits(app.config.ingest)),
            clock=app.clock,
        )

    from storage.documents.extraction.extracting import JOB_NAME

    return Extractions(
        corpus=app.corpus,
        build=build,
        steps=lambda workspace: Steps(app.job_store, app.clock, workspace),
        turns=Turns(JOB_NAME, app.job_store, app.clock, lambda: alone(EXTRACTION_PLACE)),
        by_model=lambda: build_model_extractions(app, lambda: alone(MODEL_EXTRACTION_PLACE)),
    )
