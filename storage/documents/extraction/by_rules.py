"""Extraction by rules: every extractor over every document it reads, once for each revision and version.

A failing extractor costs only itself: the reason is recorded with its run.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from core.domain.corpus import NAMESPACE, Document, Page, SearchScope
from core.domain.extracts import (
    SCHEMAS,
    Extract,
    Extraction,
    ExtractorInput,
    ExtractType,
    Found,
    Unproved,
    Unread,
    schema_name,
)
from core.domain.ingest_report import ExtractionReport, IngestProgress, ProgressCallback
from core.domain.jobs import JobKind
from core.errors import BadInput, NotFound
from core.ports import Clock, CorpusRepository
from core.ports.documents import Extractor, ExtractRepository, ModelExtractor
from core.work.steps import Step, Steps
from storage.documents.child import ExtractTask, FoundInDocument
from storage.documents.sandbox import Sandbox

MAX_EXTRACTS = 20_000  # of one extractor in one document: more is a broken document, not data


@dataclass(frozen=True, slots=True)
class CheckedExtracts:
    """Extracts to store, with a sentence each about refused ones (`error`) and ones beyond a bound (`warning`)."""

    extracts: Sequence[Extract]
    error: str | None = None
    warning: str | None = None


def to_extracts(
    found: Iterable[Found | Unproved | Unread], extractor: Extractor | ModelExtractor, given: ExtractorInput
) -> CheckedExtracts:
    """Check findings; refused and unread ones are counted, with the reason of the first."""
    pages = {page.number: page for page in given.pages}
    extracts: dict[str, Extract] = {}
    refused: list[str] = []
    unread: list[str] = []
    total = 0
    for item in found:
        if isinstance(item, Unread):
            unread.append(f"page {item.page_number}: {item.reason}")
            continue
        total += 1
        reason = item.reason if isinstance(item, Unproved) else _why_refused(item, extractor, pages)
        if reason is not None:
            refused.append(reason)
        elif isinstance(item, Found) and len(extracts) < MAX_EXTRACTS:
            extract = _to_extract(item, extractor, given, pages[item.page_number], len(extracts))
            extracts[extract.id] = extract
    if total - len(refused) > MAX_EXTRACTS:
        unread.append(f"kept only {MAX_EXTRACTS:,} of {total - len(refused):,} extracts")
    error = f"refused {len(refused)} of {total}: {refused[0]}" if refused else None
    return CheckedExtracts(tuple(extracts.values()), error, in_short(unread))


async def store_extracts(
    extracts: ExtractRepository,
    checked: CheckedExtracts,
    extractor: Extractor | ModelExtractor,
    given: ExtractorInput,
    at: datetime,
    report: ExtractionReport,
) -> Counter[ExtractType]:
    """Store an extractor's run over a document, note its troubles, and return the counts of its extracts."""
    report.note(given.document.path, extractor.name, error=checked.error, warning=checked.warning)
    run = Extraction(
        document_id=given.document.id,
        extractor=extractor.name,
        version=extractor.version,
        revision=given.pages[0].revision,
        extracts=len(checked.extracts),
        extracted_at=at,
        error=checked.error,
        warning=checked.warning,
    )
    try:
        await extracts.replace(run, checked.extracts)
    except NotFound:
        return Counter()  # another revision went live meanwhile
    return Counter(extract.type for extract in checked.extracts)


ExtractorT = TypeVar("ExtractorT", bound=Extractor | ModelExtractor)


async def find_due(
    corpus: CorpusRepository,
    workspace: str,
    document_ids: Iterable[str] | None,
    extractors: Sequence[ExtractorT],
    is_due: Callable[[Document, ExtractorT], bool],
    report: ExtractionReport,
) -> list[tuple[Document, tuple[ExtractorT, ...]]]:
    """Return the documents with the extractors that read them and are due; `report` counts the others."""
    ids = None if document_ids is None else frozenset(document_ids)
    found = []
    for document in await corpus.list_documents(workspace):
        if document.revision is None or (ids is not None and document.id not in ids):
            continue
        due = tuple(item for item in extractors if item.reads(document) and is_due(document, item))
        if due:
            found.append((document, due))
        else:
            report.unchanged += 1
    return found


async def read_pages(corpus: CorpusRepository, document: Document) -> ExtractorInput | None:
    """Return the pages of a document, None if it has changed since it was found due."""
    pages = tuple(await corpus.list_pages(document.id, scope_of(document)))
    if not pages or pages[0].revision != document.revision:
        return None
    return ExtractorInput(document=document, pages=pages)


def scope_of(document: Document) -> SearchScope:
    return SearchScope(workspace=document.workspace, sources=frozenset({document.source_id}))


def in_short(reasons: Sequence[str]) -> str | None:
    """Return the first of some sentences, and the number of the others."""
    if not reasons:
        return None
    return f"{reasons[0]}; and {len(reasons) - 1} more" if len(reasons) > 1 else reasons[0]


def _why_refused(item: Found, extractor: Extractor | ModelExtractor, pages: dict[int, Page]) -> str | None:
    page = pages.get(item.page_number)
    if item.type not in extractor.types:
        return f"{extractor.name} does not extract {item.type.value}"
    if page is None:
        return f"page {item.page_number} does not exist"
    if not 0 <= item.span.start < item.span.end <= len(page.text):
        return f"its span {item.span.start}-{item.span.end} is outside of page {item.page_number}"
    if not 0 <= item.confidence <= 1:
        return f"its confidence {item.confidence} is not between 0 and 1"
    try:
        SCHEMAS[item.type][1].model_validate(item.data)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None


def _to_extract(
    item: Found, extractor: Extractor | ModelExtractor, given: ExtractorInput, page: Page, place: int
) -> Extract:
    document = given.document
    name = f"extract\x1f{document.id}\x1f{page.revision}\x1f{extractor.name}\x1f{place}"
    return Extract(
        id=str(uuid.uuid5(NAMESPACE, name)),
        document_id=document.id,
        document=document.path,
        document_title=document.title,
        source_id=document.source_id,
        page_id=page.id,
        page_number=page.number,
        revision=page.revision,
        extractor=extractor.name,
        type=item.type,
        schema=schema_name(item.type),
        span=item.span,
        confidence=item.confidence,
        data=SCHEMAS[item.type][1].model_validate(item.data).model_dump(mode="json"),
    )


JOB_NAME = "extract"


@dataclass(kw_only=True)
class ExtractionRunner:
    """Runs extractors. One run at a time: its child process is not for concurrent use."""

    corpus: CorpusRepository
    extracts: ExtractRepository
    extractors: Sequence[Extractor]
    sandbox: Sandbox
    clock: Clock

    async def run(
        self,
        workspace: str,
        *,
        document_ids: Iterable[str] | None = None,
        extractor: str | None = None,
        force: bool = False,
        steps: Steps,
        progress: ProgressCallback = lambda done: None,
    ) -> ExtractionReport:
        """Extract from documents whose revision an extractor in its present version has not seen.

        `document_ids` None: all of the workspace. `extractor`: only this one. `force`: whether due or not. `steps`: the
        tree for its record, empty if no document is due. Safe to repeat and to interrupt. Raises BadInput for an
        unknown extractor, and StorageError.
        """
        wanted = self._named(extractor)
        report, begun = ExtractionReport(), self.clock.monotonic()
        seen = {
            (run.document_id, run.extractor): (run.revision, run.version)
            for run in await self.extracts.extractions(workspace)
        }

        def is_due(document: Document, item: Extractor) -> bool:
            return force or seen.get((document.id, item.name)) != (document.revision, item.version)

        due = await find_due(self.corpus, workspace, document_ids, wanted, is_due, report)
        if due:
            names = list(dict.fromkeys(item.name for _, own in due for item in own))
            given = {"documents": len(due), "extractors": names, "force": force}
            async with steps.step(JobKind.EXTRACTION, JOB_NAME, input=given) as root:
                await self._extract_all(due, report, progress, root)
                counts = {kind.value: count for kind, count in report.counts.items()}
                root.output = {**counts, "failures": len(report.failures), "warnings": len(report.warnings)}
            report.job_id = steps.jobs[0].id
        report.seconds = self.clock.monotonic() - begun
        return report

    async def _extract_all(
        self,
        due: Sequence[tuple[Document, Sequence[Extractor]]],
        report: ExtractionReport,
        progress: ProgressCallback,
        root: Step,
    ) -> None:
        try:
            for number, (document, extractors) in enumerate(due, start=1):
                await self._extract(document, extractors, report, root)
                progress(IngestProgress(done=number, total=len(due), path=document.path, stage="Extracting"))
        finally:
            await self.sandbox.close()

    def _named(self, name: str | None) -> tuple[Extractor, ...]:
        found = tuple(item for item in self.extractors if name in (None, item.name))
        if not found and name is not None:
            known = ", ".join(item.name for item in self.extractors)
            raise BadInput(f"Unknown extractor {name!r}. Use one of {known}")
        return found

    async def _extract(
        self, document: Document, extractors: Sequence[Extractor], report: ExtractionReport, root: Step
    ) -> None:
        """Extract all that is due of one document; the next run takes one that has changed meanwhile."""
        found = Counter[ExtractType]()
        names = [item.name for item in extractors]
        async with root.step(JobKind.EXTRACTION, document.path, input={"extractors": names}) as extracting:
            given = await read_pages(self.corpus, document)
            if given is not None:
                given = replace(given, path=await self._path_of(document))
                for extractor in extractors:
                    found += await self._extract_one(extractor, given, report)
            counts = {kind.value: count for kind, count in found.items()}
            extracting.output = counts | report.troubles(document.path)
        report.documents += 1
        report.counts += found

    async def _path_of(self, document: Document) -> Path | None:
        sources = await self.corpus.list_sources(document.workspace)
        source = next((item for item in sources if item.id == document.source_id), None)
        path = Path(source.location, document.path) if source else None
        return path if path and path.is_file() else None

    async def _extract_one(
        self, extractor: Extractor, given: ExtractorInput, report: ExtractionReport
    ) -> Counter[ExtractType]:
        result = await self.sandbox.extract(ExtractTask(extractor=extractor.name, given=given))
        if isinstance(result, FoundInDocument):
            checked = to_extracts((*result.found, *result.unread), extractor, given)
        else:
            checked = CheckedExtracts((), error=result.reason)
        return await store_extracts(self.extracts, checked, extractor, given, self.clock.now(), report)
