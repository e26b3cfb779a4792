"""Extraction by a model: each piece of a page is asked about once, at a rate, within a budget, and what it says proved.

Every answer is stored before the next question, so a run that ends anywhere, killed ones too, goes on where it was;
of a document that changes, only the pieces that did are asked about again.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.domain.corpus import Document, SearchScope
from core.domain.extracts import Extract, Extraction, ExtractorInput, ExtractQuery, Piece, SaidOfPiece, Unread
from core.domain.ingest_report import ExtractionReport, IngestProgress, ProgressCallback
from core.domain.jobs import JobKind
from core.errors import BadInput, NotFound, ProviderBadRequest, ProviderError
from core.ports.documents import ModelExtractor
from core.work.steps import Steps, step
from storage.documents.extraction.checks import to_extraction, to_extracts
from storage.documents.extraction.model_reading import ModelParts, ModelReader, OutOfBudget
from storage.documents.texts.quotes import to_pieces

JOB_NAME = "extract by model"
# Documents of one run whose requests the provider may refuse by their form: then it is not the documents.
MOST_REFUSED = 3
_MOST_KNOWN = 100_000


@dataclass(frozen=True, slots=True)
class _Due:
    document: Document
    extractors: tuple[ModelExtractor, ...]


class ModelExtracting:
    """Runs the extractors that ask a model; one object is one run."""

    def __init__(self, parts: ModelParts) -> None:
        self._parts = parts
        self._reader = ModelReader(parts)
        self._report = ExtractionReport()
        self._refused = 0

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
        """As Extracting.run. `force` asks about every piece again.

        A budget that is used up and a provider that fails end the run: `stopped` says why, and what was read is kept.
        Raises BadInput for an unknown extractor, and StorageError.
        """
        report, begun = self._report, self._parts.clock.monotonic()
        due = await self._due(workspace, document_ids, self._named(extractor), force=force)
        if due:
            names = list(dict.fromkeys(item.name for each in due for item in each.extractors))
            given = {"documents": len(due), "extractors": names, "force": force}
            try:
                async with steps.step(JobKind.EXTRACTION, JOB_NAME, input=given) as root:
                    try:
                        await self._extract_all(due, progress, force=force)
                    finally:
                        root.output = self._counts(len(due))
            except ProviderError as error:  # the job has failed; what it read before is stored
                report.stopped = str(error)
            report.job_id = steps.jobs[0].id
        report.spent = self._reader.spent
        report.waiting = len(due) - report.documents
        report.seconds = self._parts.clock.monotonic() - begun
        return report

    def _counts(self, due: int) -> dict[str, object]:
        report = self._report
        counts: dict[str, object] = {kind.value: count for kind, count in report.counts.items()}
        counts |= {
            "requests": self._reader.spent.requests,
            "tokens": self._reader.spent.tokens,
            "failures": len(report.failures),
        }
        if report.stopped:
            counts |= {"stopped": report.stopped, "waiting": due - report.documents}
        return counts

    def _named(self, name: str | None) -> tuple[ModelExtractor, ...]:
        found = tuple(item for item in self._parts.extractors if name in (None, item.name))
        if not found:
            raise BadInput(f"There is no extractor {name!r} that asks a model")
        return found

    async def _due(
        self,
        workspace: str,
        document_ids: Iterable[str] | None,
        extractors: Sequence[ModelExtractor],
        *,
        force: bool,
    ) -> list[_Due]:
        """Also where rules found something since: what they found is not given twice. That asks for nothing anew."""
        ids = None if document_ids is None else frozenset(document_ids)
        names = {item.name for item in self._parts.extractors}
        seen: dict[tuple[str, str], Extraction] = {}
        by_rules: dict[str, datetime] = {}
        for run in await self._parts.extracts.extractions(workspace):
            seen[run.document_id, run.extractor] = run
            if run.extractor not in names:
                by_rules[run.document_id] = max(run.extracted_at, by_rules.get(run.document_id, run.extracted_at))
        found = []
        for document in await self._parts.corpus.list_documents(workspace):
            if document.revision is None or (ids is not None and document.id not in ids):
                continue
            due = tuple(
                item
                for item in extractors
                if item.reads(document)
                and (force or _is_due(seen.get((document.id, item.name)), document, item, by_rules.get(document.id)))
            )
            if due:
                found.append(_Due(document, due))
            else:
                self._report.unchanged += 1
        return found

    async def _extract_all(self, due: Sequence[_Due], progress: ProgressCallback, *, force: bool) -> None:
        for number, each in enumerate(due, start=1):
            try:
                await self._extract(each, force=force)
            except OutOfBudget as stop:
                self._report.stopped, self._report.resume_at = str(stop), stop.resume_at
                return
            except ProviderBadRequest as error:
                self._refused += 1
                names = ", ".join(item.name for item in each.extractors)
                self._report.failures.append((each.document.path, names, str(error)))
                if self._refused >= MOST_REFUSED:
                    raise
            progress(IngestProgress(done=number, total=len(due), path=each.document.path, stage="Asking the model"))

    async def _extract(self, due: _Due, *, force: bool) -> None:
        """All of one document; where it changed meanwhile, the next run has it."""
        document, extractors = due.document, due.extractors
        names = [item.name for item in extractors]
        async with step(JobKind.EXTRACTION, document.path, input={"extractors": names}) as job:
            before, found = self._reader.spent, Counter(self._report.counts)
            given = await self._read(document)
            if given is not None:
                pieces = list(to_pieces(given.pages))
                try:
                    await self._reader.read(given, pieces, extractors, force=force)
                    for extractor in extractors:
                        await self._store(extractor, given, pieces)
                finally:
                    counts = {kind.value: count for kind, count in (self._report.counts - found).items()}
                    spent = self._reader.spent
                    job.output = {
                        **counts,
                        "pieces": len(pieces),
                        "requests": spent.requests - before.requests,
                        "tokens": spent.tokens - before.tokens,
                        **self._report.troubles(document.path),
                    }
                await self._parts.readings.keep_only(document.id, {piece.key for piece in pieces})
        self._report.documents += 1

    async def _read(self, document: Document) -> ExtractorInput | None:
        pages = tuple(await self._parts.corpus.list_pages(document.id, _scope(document)))
        if not pages or pages[0].revision != document.revision:
            return None
        return ExtractorInput(document=document, pages=pages)

    async def _store(self, extractor: ModelExtractor, given: ExtractorInput, pieces: Sequence[Piece]) -> None:
        """What was said of all pieces, proved and without what rules found, as this extractor's extracts."""
        readings = await self._parts.readings.readings(given.document.id)
        by_piece = {reading.piece: reading for reading in readings if reading.extractor == extractor.name}
        told = [(piece, by_piece[piece.key]) for piece in pieces if piece.key in by_piece]
        said = [SaidOfPiece(piece=piece, said=reading.said) for piece, reading in told]
        found = extractor.find(said, given, await self._known(given.document))
        unread = [
            Unread(page_number=piece.page_number, reason=reading.error) for piece, reading in told if reading.error
        ]
        checked = to_extracts((*found, *unread), extractor, given)
        self._report.note(given.document.path, extractor.name, error=checked.error, warning=checked.warning)
        run = to_extraction(checked, extractor, given, self._parts.clock.now())
        try:
            await self._parts.extracts.replace(run, checked.extracts)
        except NotFound:
            return  # another revision went live meanwhile
        self._report.counts.update(extract.type for extract in checked.extracts)

    async def _known(self, document: Document) -> list[Extract]:
        """What rules found in it."""
        names = {item.name for item in self._parts.extractors}
        query = ExtractQuery(document_ids=frozenset({document.id}), limit=_MOST_KNOWN)
        found = await self._parts.extracts.list_extracts(query, _scope(document))
        return [extract for extract in found if extract.extractor not in names]


def _is_due(run: Extraction | None, document: Document, extractor: ModelExtractor, by_rules: datetime | None) -> bool:
    if run is None or (run.revision, run.version) != (document.revision, extractor.version):
        return True
    return by_rules is not None and by_rules > run.extracted_at


def _scope(document: Document) -> SearchScope:
    return SearchScope(workspace=document.workspace, sources=frozenset({document.source_id}))
