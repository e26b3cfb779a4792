"""Ingestion of a source: compare its files with the library, read new and changed ones, remove vanished ones."""

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from core.domain.corpus import Document, Source
from core.domain.ingest_report import Failure, IndexState, IngestReport, ProgressCallback, RepairReport, ignore_progress
from core.domain.read_limits import ReadLimits
from core.domain.selection import EVERYTHING, Selection
from core.domain.sources import KNOW_READERS
from core.errors import NotFound
from core.knowledge.narrowing import NO_RULES, ReaderRules
from core.ports import Clock, CorpusRepository, SearchIndex
from storage.documents.base import build_readers, readers_for
from storage.documents.files import Listing, SourceFile, list_files, stamp_of
from storage.documents.index_repair import compare, repair_index
from storage.documents.pdf.recognition import UNRECOGNISED
from storage.documents.readers.foundry_journal import FoundryJournalReader
from storage.documents.run import IngestRun
from storage.documents.sandbox import READERS, RECOGNISING_READERS, Sandbox


@dataclass(slots=True)
class Plan:
    """The changes to make to the files and the stored documents of a source."""

    to_read: list[tuple[SourceFile, Document | None]] = field(default_factory=list)  # with the stored document
    unchanged: int = 0
    still_failed: list[Failure] = field(default_factory=list)  # unchanged since they could not be read
    vanished: list[Document] = field(default_factory=list)

    @property
    def has_work(self) -> bool:
        return bool(self.to_read or self.vanished)


def build_plan(
    listing: Listing,
    stored: Sequence[Document],
    root: Path,
    *,
    only: Sequence[str] | None,
    force: bool,
    kind: str | None = None,
    retried: Container[str] = (),
    again: Container[str] = (),
) -> Plan:
    """Plan an ingest from file stamps. `stored` are all documents of the source; those outside `only` are not changed.

    With `kind`, also reads files again that failed or were read as another kind. Files that failed for a reason in
    `retried` are read again, too, and the documents whose IDs are in `again`.
    """
    plan = Plan()
    by_path = {document.path: document for document in stored}
    for file in listing.files:
        document = by_path.get(file.path)
        is_wanted = force or document is None or document.failed_reason in retried or document.id in again
        if is_wanted or document is None or _is_stale(document, file, root, kind):
            plan.to_read.append((file, document))
        elif document.failed_reason is not None:
            plan.still_failed.append(Failure(path=file.path, reason=document.failed_reason))
        else:
            plan.unchanged += 1
    present = {file.path for file in listing.files}
    plan.vanished = [
        document
        for document in stored
        if document.path not in present
        and (only is None or is_under(document.path, only))
        and not is_under(document.path, listing.unlisted)
    ]
    return plan


def _is_stale(document: Document, file: SourceFile, root: Path, kind: str | None) -> bool:
    if kind is not None and (document.kind != kind or document.failed_reason is not None):
        return True
    return document.stamp != stamp_of(file, root, document.depends_on)


def is_under(path: str, folders: Iterable[str]) -> bool:
    """Return whether `path` is one of `folders` or inside one; "" is the root."""
    return any(not folder or path == folder or path.startswith(f"{folder}/") for folder in folders)


@dataclass(kw_only=True)
class Ingestor:
    """Ingests one source at a time. Opens the index and loads a model only if something has changed."""

    corpus: CorpusRepository
    index: SearchIndex
    clock: Clock
    sandbox: Sandbox
    limits: ReadLimits
    retried: Container[str] = ()  # reasons of failures that may be gone

    def __post_init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()  # a repair must not remove another run's unfinished passages

    async def ingest(
        self,
        source: Source,
        root: Path,
        only: str | Sequence[str] | None = None,
        *,
        kind: str | None = None,
        force: bool = False,
        selection: Selection = EVERYTHING,
        links: Mapping[str, str] | None = None,
        rules: ReaderRules = NO_RULES,
        progress: ProgressCallback = ignore_progress,
    ) -> IngestReport:
        """Bring the library up to date with the files under `root`, or under its sub-paths `only`.

        A source of kind `file` holds only the files that were named once: without `only`, those are checked again. With
        `kind`, that reader reads every file; a file whose suffix has no reader keeps that kind. With `force`, all files
        are read and embedded again. Documents outside `only` are not changed. `selection` excludes files.
        `links` maps paths to the web addresses of their documents; `rules` limit their readers. Safe to repeat
        and to interrupt.

        Raises:
            NotFound: `root` is no folder, or the one path `only` neither exists nor has stored documents.
            StorageError, ModelMissing: the index or the database can't be used; earlier changes are kept.
        """
        async with self._one_at_a_time:
            started = self.clock.monotonic()
            stored = await self._stored(source)
            sub_paths = _sub_paths(source, only, stored)
            listing = await asyncio.to_thread(list_selected, root, selection, sub_paths)
            _check_found(listing, root, only, stored)
            planned = partial(self._plan, listing, root, sub_paths, force, kind, await self._named(source, stored))
            plan = await asyncio.to_thread(planned, stored)
            if plan.has_work:
                await self.repair(progress)  # opens the index: waits for another process, which may have done the work
                plan = await asyncio.to_thread(planned, await self._stored(source))
            report = IngestReport(unchanged=plan.unchanged, failures=[*plan.still_failed, *listing.problems])
            if plan.has_work:
                run = IngestRun(
                    corpus=self.corpus,
                    index=self.index,
                    sandbox=self.sandbox,
                    clock=self.clock,
                    limits=self.limits,
                    source=source,
                    root=root,
                    vault=await asyncio.to_thread(_vault_of, root),
                    kind=kind,
                    force=force,
                    links=links or {},
                    rules=rules,
                    report=report,
                    progress=progress,
                )
                await self._carry_out(plan, run)
            report.failures.sort(key=lambda failure: failure.path)
            report.seconds = self.clock.monotonic() - started
            return report

    async def compare(self) -> IndexState:
        """Return the differences between index and database (storage/documents/index_repair.py)."""
        return await compare(self.corpus, self.index)

    async def repair(self, progress: ProgressCallback = ignore_progress) -> RepairReport:
        """Repair the index (index_repair.py). Raises StorageError and ModelMissing."""
        return await repair_index(self.corpus, self.index, progress)

    async def _carry_out(self, plan: Plan, run: IngestRun) -> None:
        await self.corpus.remove_documents([document.id for document in plan.vanished])
        for document in plan.vanished:
            await self.index.remove_document(document.id)
            run.report.removed += 1
        try:
            await run.run(plan.to_read)
        finally:
            await self.sandbox.close()
        if run.report.added or run.report.updated or run.report.removed:
            await self.index.optimise()
        if run.report.removed:
            await self.index.erase()

    def _plan(
        self,
        listing: Listing,
        root: Path,
        only: Sequence[str] | None,
        force: bool,
        kind: str | None,
        again: Container[str],
        stored: Sequence[Document],
    ) -> Plan:
        return build_plan(listing, stored, root, only=only, force=force, kind=kind, retried=self.retried, again=again)

    async def _named(self, source: Source, stored: Sequence[Document]) -> frozenset[str]:
        """Return the IDs of limited documents that name their readers; the configuration may call others by a name."""
        naming = [document for document in stored if document.kind == FoundryJournalReader.kind]
        if not naming or source.kind in KNOW_READERS:
            return frozenset()
        limited = await self.corpus.narrowed(source.workspace)
        return frozenset(document.id for document in naming if limited.get(document.id))

    async def _stored(self, source: Source) -> list[Document]:
        return await self.corpus.list_documents(source.workspace, frozenset({source.id}))


def _vault_of(root: Path) -> str | None:
    """Return the name of the Obsidian vault that a folder is."""
    return root.resolve().name if (root / ".obsidian").is_dir() else None


def list_selected(root: Path, selection: Selection, only: list[str] | None = None) -> Listing:
    """List the files that `selection` includes (see `list_files`)."""
    listing = list_files(root, only if only is not None or selection.paths is None else selection.paths)
    if selection == EVERYTHING:
        return listing
    wanted = None if selection.paths is None else frozenset(selection.paths)
    return replace(
        listing,
        files=[
            file for file in listing.files if (wanted is None or file.path in wanted) and selection.takes(file.path)
        ],
        problems=[problem for problem in listing.problems if selection.takes(problem.path)],
    )


def has_files(root: Path, selection: Selection) -> bool:
    """Return whether `selection` takes a file under `root`. Raises NotFound if `root` is no folder."""
    return bool(list_selected(root, selection).files)


def count_readable(root: Path) -> dict[str, tuple[int, int]]:
    """Count the files of a folder whose suffix a reader has: kind -> (files, bytes). Raises NotFound.

    Of several readers for a suffix, the most general one names the kind.
    """
    counts: dict[str, tuple[int, int]] = {}
    readers = build_readers()
    for file in list_files(root).files:
        if found := readers_for(Path(file.path), readers):
            number, size = counts.get(found[-1].kind, (0, 0))
            counts[found[-1].kind] = (number + 1, size + file.size)
    return counts


def _sub_paths(source: Source, only: str | Sequence[str] | None, stored: list[Document]) -> list[str] | None:
    if only is not None and not isinstance(only, str):
        return list(only)
    if only:
        return [only.strip("/")]
    return [document.path for document in stored] if source.kind == "file" else None


def _check_found(listing: Listing, root: Path, only: str | Sequence[str] | None, stored: list[Document]) -> None:
    if not isinstance(only, str) or not only or listing.files or listing.problems or (root / only).exists():
        return
    if not any(is_under(document.path, [only.strip("/")]) for document in stored):
        raise NotFound(f"{str(root / only)!r} does not exist: check the path")


def build_ingestor(
    *,
    corpus: CorpusRepository,
    index: SearchIndex,
    clock: Clock,
    limits: ReadLimits,
    has_ocr: bool,
) -> Ingestor:
    """Build an ingestor with a child process of its own; with `has_ocr`, it also reads scanned pages."""
    return Ingestor(
        corpus=corpus,
        index=index,
        clock=clock,
        sandbox=Sandbox(limits, RECOGNISING_READERS if has_ocr else READERS),
        limits=limits,
        retried={UNRECOGNISED} if has_ocr else (),
    )
