"""One ingest run: three concurrent stages, so that reading never waits for embedding.

read (child process) -> embed (index.add, in batches) -> commit (SQL). A document's passages are in the index before its
new revision goes live in one commit; only then the old revision leaves the index. If the run is killed anywhere in
between, live content stays live: the next run reads the file again, because its stamp is open, and removes leftovers.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from core.domain.corpus import Document, FileStamp, document_id
from core.domain.corpus import Source as CorpusSource
from core.domain.footnotes import web_address
from core.domain.ingest_report import Failure, IngestProgress, IngestReport, ProgressCallback
from core.domain.passages import IndexEntry
from core.domain.read_limits import MEBIBYTE, ReadLimits
from core.domain.readers import UNLIMITED, Narrowing, narrowing_label
from core.domain.sources import KNOW_READERS
from core.knowledge.narrowing import NO_RULES, Narrower, OwnReaders, ReaderRules
from core.ports import Clock, CorpusRepository, SearchIndex
from storage.documents.child import ReadDocument, ReadFailure, ReadTask
from storage.documents.files import SourceFile, stamp_of
from storage.documents.index_repair import index_entries
from storage.documents.sandbox import Sandbox

# Characters embedded in one call: some 100 passages, about a second of work on two cores. Large enough to be worth a
# write to the index, small enough that reading, embedding and committing overlap in a small library too.
BATCH_CHARACTERS = 64_000
# Batches in the index at once: while one is written, or its last text is embedded, the next is under way.
BATCHES_AT_ONCE = 2
# Characters read ahead of embedding; one document more may be waiting, however large it is.
READ_AHEAD_CHARACTERS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A document that was read and waits to be stored."""

    document: Document
    content: ReadDocument
    previous: Document | None
    stamp: FileStamp


@dataclass(frozen=True, slots=True)
class Batch:
    """Passages on their way into the index, and the documents that are whole there once they have arrived."""

    added: asyncio.Task[None]
    complete: list[Item]


class ReadAhead:
    """A queue bounded by characters instead of items; one item is always let in."""

    def __init__(self, limit: int = READ_AHEAD_CHARACTERS) -> None:
        self._limit = limit
        self._items: deque[Item | None] = deque()
        self._waiting = 0
        self._changed = asyncio.Condition()

    async def put(self, item: Item | None) -> None:
        """Add an item; None ends the queue."""
        size = item.content.characters if item else 0
        async with self._changed:
            await self._changed.wait_for(lambda: self._waiting == 0 or self._waiting + size <= self._limit)
            self._items.append(item)
            self._waiting += size
            self._changed.notify_all()

    async def get(self) -> Item | None:
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._items))
            item = self._items.popleft()
            self._waiting -= item.content.characters if item else 0
            self._changed.notify_all()
            return item


@dataclass(slots=True, kw_only=True)
class IngestRun:
    """The state and the stages of one run; counts into `report`."""

    corpus: CorpusRepository
    index: SearchIndex
    sandbox: Sandbox
    clock: Clock
    limits: ReadLimits
    source: CorpusSource
    root: Path
    vault: str | None  # the name of the Obsidian vault that the root is
    kind: str | None  # of the reader that reads every file; None: by suffix and content
    force: bool
    report: IngestReport
    progress: ProgressCallback
    links: Mapping[str, str] = field(default_factory=dict)  # path -> the web address that people know a document by
    rules: ReaderRules = NO_RULES
    total: int = 0
    done: int = 0
    narrower: Narrower | None = field(default=None, init=False)  # None: not the files say who may read them

    async def run(self, files: list[tuple[SourceFile, Document | None]]) -> None:
        """Read, embed and store `files`; raises the first StorageError or ModelMissing of any stage."""
        self.total = len(files)
        if self.source.kind not in KNOW_READERS:
            self.narrower = await Narrower.of(self.corpus, self.source)
        ahead = ReadAhead()
        ready: asyncio.Queue[Batch | None] = asyncio.Queue(maxsize=1)
        try:
            async with asyncio.TaskGroup() as stages:
                stages.create_task(self._read(files, ahead))
                stages.create_task(self._embed(ahead, ready, stages))
                stages.create_task(self._commit(ready))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _read(self, files: Iterable[tuple[SourceFile, Document | None]], ahead: ReadAhead) -> None:
        for file, previous in files:
            self._under_way(file.path)
            result = await self._read_one(file, previous)
            if isinstance(result, ReadFailure):
                await self._fail(file, previous, result.reason)
            elif previous and result.revision == previous.revision and not result.pages:
                stamp = stamp_of(file, self.root, result.depends_on)
                await self._close(file.path, result)
                await self.corpus.touch(previous.id, stamp, result.hidden, result.dated)
                await self._open(file.path, result)
                self.report.unchanged += 1
                self._finished(file.path)
            else:
                await ahead.put(self._item(file, previous, result))
        await ahead.put(None)

    async def _read_one(self, file: SourceFile, previous: Document | None) -> ReadDocument | ReadFailure:
        if file.size > self.limits.file_bytes:
            size, most = file.size / MEBIBYTE, self.limits.file_bytes / MEBIBYTE
            return ReadFailure(reason=f"too large: {size:,.1f} MB, at most {most:,.1f} MB are read; split the file")
        known = None if previous is None or previous.revision is None else previous
        whole = self.force or known is None or known.failed_reason is not None or self.kind not in (None, known.kind)
        task = ReadTask(
            path=self.root / file.path,
            root=self.root,
            workspace=self.source.workspace,
            document_id=document_id(self.source.workspace, self.source.id, file.path),
            known_revision=None if whole or known is None else known.revision,
            kind=self.kind,
            known_kind=known.kind if known else None,
        )
        return await self.sandbox.read(task)

    async def _fail(self, file: SourceFile, previous: Document | None, reason: str) -> None:
        """Keep the last good revision, if any; the stamp prevents reading the file again unchanged.

        A forced kind sets no stamp: the file's own reader may succeed.
        """
        document = previous or self._document(file, title=file.path.rsplit("/", 1)[-1], kind="unknown")
        stamp = stamp_of(file, self.root, document.depends_on) if self.kind is None else None
        await self.corpus.save_failure(replace(document, failed_reason=reason, stamp=stamp))
        self.report.failures.append(Failure(path=file.path, reason=reason))
        self._finished(file.path)

    def _document(self, file: SourceFile, *, title: str, kind: str) -> Document:
        return Document(
            id=document_id(self.source.workspace, self.source.id, file.path),
            workspace=self.source.workspace,
            source_id=self.source.id,
            source=self.source.name,
            source_kind=self.source.kind,
            path=file.path,
            title=title,
            kind=kind,
            revision=None,
        )

    def _item(self, file: SourceFile, previous: Document | None, content: ReadDocument) -> Item:
        if self.vault and file.path.endswith((".md", ".canvas")):
            link = obsidian_link(self.vault, file.path)
            pages = tuple(replace(page, deep_link=page.deep_link or link) for page in content.pages)
            content = replace(content, pages=pages)
        document = replace(
            self._document(file, title=content.title, kind=content.kind),
            revision=content.revision,
            aliases=content.aliases,
            url=self.source.link_template or self.links.get(file.path) or web_address(content.url),
            pages=len(content.pages),
            passages=len(content.passages),
            depends_on=content.depends_on,
            hidden=content.hidden,
            dated=content.dated,
            crawled_at=self.clock.now(),
        )
        stamp = stamp_of(file, self.root, content.depends_on)
        return Item(document=document, content=content, previous=previous, stamp=stamp)

    async def _embed(self, ahead: ReadAhead, ready: asyncio.Queue[Batch | None], stages: asyncio.TaskGroup) -> None:
        """Fill batches across documents; a large document takes several, small ones share one."""
        slots = asyncio.Semaphore(BATCHES_AT_ONCE)
        entries: list[IndexEntry] = []
        complete: list[Item] = []  # documents whose last passage is in the batch
        characters = 0
        while (item := await ahead.get()) is not None:
            self._under_way(item.document.path, 1, item.document.pages)
            for entry in index_entries(item.document, item.content.passages):
                entries.append(entry)
                characters += len(entry.passage.text)
                if characters >= BATCH_CHARACTERS:
                    self._under_way(item.document.path, entry.passage.page_number, item.document.pages)
                    await ready.put(Batch(await self._adding(entries, slots, stages), complete))
                    entries, complete, characters = [], [], 0
            complete.append(item)
        await ready.put(Batch(await self._adding(entries, slots, stages), complete))
        await ready.put(None)

    async def _adding(
        self, entries: Sequence[IndexEntry], slots: asyncio.Semaphore, stages: asyncio.TaskGroup
    ) -> asyncio.Task[None]:
        """Return the task that adds a batch to the index, started when a slot is free."""
        await slots.acquire()

        async def add() -> None:
            try:
                if entries:
                    await self.index.add(entries)
            finally:
                slots.release()

        return stages.create_task(add())

    async def _commit(self, ready: asyncio.Queue[Batch | None]) -> None:
        while (batch := await ready.get()) is not None:
            await batch.added
            for item in batch.complete:
                await self._store(item)
                self._count(item)

    async def _store(self, item: Item) -> None:
        old = item.previous.revision if item.previous else None
        replaces = old is not None and old != item.document.revision
        # No stamp until the old revision has left the index: if killed before, the next run reads the file again.
        document = replace(item.document, stamp=None if replaces else item.stamp)
        await self._close(document.path, item.content)
        await self.corpus.switch_revision(document, item.content.pages, item.content.passages)
        await self._open(document.path, item.content)
        if replaces and old is not None:
            await self.index.remove_revision(document.id, old)
            await self.corpus.touch(document.id, item.stamp)

    async def _close(self, path: str, content: ReadDocument) -> None:
        """Hide a document from people who may not read the new text."""
        if self.narrower is not None:
            own = OwnReaders.of({path: content.named_readers}, self.rules.names)
            self.report.warnings += [(path, warning) for warning in own.warnings(self.source.name)]
            await self.narrower.close({path: self._limits(path, content)})

    async def _open(self, path: str, content: ReadDocument) -> None:
        """Show a document that came in to everyone who may read it now."""
        if self.narrower is None:
            return
        self.narrower.widened.clear()
        await self.narrower.open({path: self._limits(path, content)})
        if self.narrower.widened:
            label = narrowing_label(self._limits(path, content))
            self.report.warnings.append((path, f"more people than before may read this document: {label}"))

    def _limits(self, path: str, content: ReadDocument) -> Narrowing:
        stated = UNLIMITED if content.readers is None else frozenset({content.readers})
        named = OwnReaders.of({path: content.named_readers}, self.rules.names).by_path[path]
        return stated | named | self.rules.limits.get(path, UNLIMITED)

    def _count(self, item: Item) -> None:
        if item.previous is None or item.previous.revision is None:
            self.report.added += 1
        else:
            self.report.updated += 1
        self.report.pages += len(item.content.pages)
        self.report.passages += len(item.content.passages)
        self.report.warnings += [(item.document.path, warning) for warning in item.content.warnings]
        self._finished(item.document.path)

    def _under_way(self, path: str, page: int = 0, pages: int = 0) -> None:
        now = IngestProgress(
            done=self.done, total=self.total, path=path, page=min(page, pages), pages=pages, is_under_way=True
        )
        self.progress(now)

    def _finished(self, path: str) -> None:
        self.done += 1
        self.progress(IngestProgress(done=self.done, total=self.total, path=path))


def obsidian_link(vault: str, path: str) -> str:
    """Return the link that opens a note of an Obsidian vault."""
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(path.removesuffix('.md'), safe='')}"
