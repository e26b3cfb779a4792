"""Extraction: every extractor over every document it reads, once for each revision and version.

One that fails, or finds what does not fit its schema, costs only itself: why is recorded with its run.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.domain.corpus import Document, SearchScope, Source
from core.domain.extracts import ExtractorInput, ExtractType
from core.domain.ingest_report import ExtractionReport, IngestProgress, ProgressCallback
from core.domain.jobs import JobKind
from core.errors import BadInput, NotFound
from core.ports import Clock, CorpusRepository
from core.ports.documents import Extractor, ExtractRepository
from core.work.steps import Steps, step
from storage.documents.child import ExtractTask, FoundInDocument
from storage.documents.extraction.checks import Checked, to_extraction, to_extracts
from storage.documents.sandbox import Sandbox

JOB_NAME = "extract"


@dataclass(frozen=True, slots=True)
class _Due:
    document: Document
    extractors: tuple[Extractor, ...]


class Extracting:
    """Runs extractors. One run at a time: its child process is not for concurrent use."""

    def __init__(
        self,
        *,
        corpus: CorpusRepository,
        extracts: ExtractRepository,
        extractors: Sequence[Extractor],
        sandbox: Sandbox,
        clock: Clock,
    ) -> None:
        self._corpus = corpus
        self._extracts = extracts
        self._extractors = tuple(extractors)
        self._sandbox = sandbox
        self._clock = clock

    async def run(
        self,
        workspace: str,
        *,
        document_ids: Iterable[str] | None = None,
        extractor: str | None = None,
        force: bool = False,
        steps: Steps | None = None,
        progress: ProgressCallback = lambda done: None,
    ) -> ExtractionReport:
        """Extract what is due: documents whose revision an extractor has not seen, or not in its present version.

        `document_ids` None: all of the workspace. `extractor`: this one alone. `force`: whether due or not. `steps`:
        the tree to record it in, which stays empty where nothing is due. Safe to repeat and to interrupt.
        Raises BadInput for an unknown extractor, and StorageError.
        """
        wanted = self._named(extractor)
        report, begun = ExtractionReport(), self._clock.monotonic()
        due = await self._due(workspace, document_ids, wanted, force=force, report=report)
        if due:
            names = list(dict.fromkeys(item.name for each in due for item in each.extractors))
            given = {"documents": len(due), "extractors": names, "force": force}
            opened = steps.step if steps is not None else step
            async with opened(JobKind.EXTRACTION, JOB_NAME, input=given) as root:
                await self._extract_all(due, report, progress)
                counts = {kind.value: count for kind, count in report.counts.items()}
                root.output = {**counts, "failures": len(report.failures), "warnings": len(report.warnings)}
            report.job_id = steps.jobs[0].id if steps is not None else None
        report.seconds = self._clock.monotonic() - begun
        return report

    async def _extract_all(self, due: Sequence[_Due], report: ExtractionReport, progress: ProgressCallback) -> None:
        try:
            for number, each in enumerate(due, start=1):
                await self._extract(each, report)
                progress(IngestProgress(done=number, total=len(due), path=each.document.path, stage="Extracting"))
        finally:
            await self._sandbox.close()

    def _named(self, name: str | None) -> tuple[Extractor, ...]:
        found = tuple(item for item in self._extractors if name in (None, item.name))
        if not found and name is not None:
            known = ", ".join(item.name for item in self._extractors)
            raise BadInput(f"There is no extractor {name!r}: use one of {known}")
        return found

    async def _due(
        self,
        workspace: str,
        document_ids: Iterable[str] | None,
        extractors: Sequence[Extractor],
        *,
        force: bool,
        report: ExtractionReport,
    ) -> list[_Due]:
        ids = None if document_ids is None else frozenset(document_ids)
        seen = {
            (run.document_id, run.extractor): (run.revision, run.version)
            for run in await self._extracts.extractions(workspace)
        }
        found = []
        for document in await self._corpus.list_documents(workspace):
            if document.revision is None or (ids is not None and document.id not in ids):
                continue
            due = tuple(
                item
                for item in extractors
                if item.reads(document)
                and (force or seen.get((document.id, item.name)) != (document.revision, item.version))
            )
            if due:
                found.append(_Due(document, due))
            else:
                report.unchanged += 1
        return found

    async def _extract(self, due: _Due, report: ExtractionReport) -> None:
        """All that is due of one document. Where it changed meanwhile, the next run has it."""
        document, found = due.document, Counter[ExtractType]()
        names = [item.name for item in due.extractors]
        async with step(JobKind.EXTRACTION, document.path, input={"extractors": names}) as extracting:
            given = await self._read(document)
            if given is not None:
                for extractor in due.extractors:
                    found += await self._extract_one(extractor, given, report)
            counts = {kind.value: count for kind, count in found.items()}
            extracting.output = counts | report.troubles(document.path)
        report.documents += 1
        report.counts += found

    async def _read(self, document: Document) -> ExtractorInput | None:
        scope = SearchScope(workspace=document.workspace, sources=frozenset({document.source_id}))
        pages = tuple(await self._corpus.list_pages(document.id, scope))
        if not pages or pages[0].revision != document.revision:
            return None
        sources = await self._corpus.list_sources(document.workspace)
        source = next((item for item in sources if item.id == document.source_id), None)
        return ExtractorInput(document=document, pages=pages, path=_path_of(document, source))

    async def _extract_one(
        self, extractor: Extractor, given: ExtractorInput, report: ExtractionReport
    ) -> Counter[ExtractType]:
        result = await self._sandbox.extract(ExtractTask(extractor=extractor.name, given=given))
        if isinstance(result, FoundInDocument):
            checked = to_extracts((*result.found, *result.unread), extractor, given)
        else:
            checked = Checked((), error=result.reason)
        report.note(given.document.path, extractor.name, error=checked.error, warning=checked.warning)
        run = to_extraction(checked, extractor, given, self._clock.now())
        try:
            await self._extracts.replace(run, checked.extracts)
        except NotFound:
            return Counter()  # another revision went live meanwhile
        return Counter(extract.type for extract in checked.extracts)


def _path_of(document: Document, source: Source | None) -> Path | None:
    if source is None:
        return None
    path = Path(source.location, document.path)
    return path if path.is_file() else None
