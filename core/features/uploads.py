"""Uploads: files that people add by hand, kept in a folder of their workspace and read like any other source.

The folder is the queue: a file is accepted once it is in it, flushed to disk, after a note of its readers. Reading
compares the folder with the library, so a process that was killed in between reads the file at its next start. Files
are read by their paths, never as a whole folder: a missing folder (of a restored database) removes no document.
"""

import asyncio
import logging
import os
import shutil
import uuid
from collections import OrderedDict, deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from io import BufferedWriter
from itertools import count
from pathlib import Path
from typing import Protocol

from core.domain.corpus import Document, FileStamp, Source, document_id
from core.domain.ingest_report import IngestProgress, IngestReport, ProgressCallback, failure_words
from core.domain.jobs import JobKind
from core.domain.read_limits import ReadLimits
from core.domain.readers import MEMBERS_ONLY, narrowing_label
from core.errors import BadInput, FootnoteError, InvalidState, NotFound, ReadError, StorageError
from core.features.upload_files import (
    DRAFTS,
    clean_path,
    delete_file,
    list_files,
    note_readers,
    noted_limits,
    noted_readers,
    put_file,
    size_words,
)
from core.knowledge.narrowing import NO_RULES, ReaderRules
from core.knowledge.sources import source_id
from core.ports import Clock, CorpusRepository
from core.ports.service import JobRepository
from core.thread_work import opened, to_its_end
from core.work.orphaned_jobs import end_abandoned
from core.work.steps import Steps

UPLOADS = "upload"  # the kind of the source
UPLOADS_NAME = "Uploads"
_NAMES = (UPLOADS_NAME, *(f"{UPLOADS_NAME} {number}" for number in range(2, 1_000)))  # another may have the first
JOB_NAME = "uploads"
HELD = "held"  # files that wait for a decision, and files that others replaced; no workspace's folder
HEAD_BYTES = 4_096
MOST_NAMED = 20  # files and failures that a job names
MOST_AT_ONCE = 50  # files of one run, so that a later file doesn't wait for a thousand
KEPT_STATES = 1_000  # of finished files, for pages that show them
RETRY_SECONDS = 30.0  # after an error of the database, the index or a model

Readers = frozenset[str] | None  # of one file; None: nobody chose

_log = logging.getLogger(__name__)


class UploadState(StrEnum):
    WAITING = "waiting"
    READING = "reading"
    READ = "read"
    FAILED = "failed"  # it is kept, and listed with its reason
    REFUSED = "refused"  # it was not kept

    @property
    def is_final(self) -> bool:
        return self not in (UploadState.WAITING, UploadState.READING)


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedFile:
    """A file of this process's run, as it is now."""

    path: str  # below the folder of uploads; of a refused one, its own name
    state: UploadState
    document_id: str = ""
    by: str = ""  # who added it
    where: str = ""  # the page, channel or thread it was added in
    page: int = 0  # read so far
    pages: int = 0  # 0: not known yet
    reason: str = ""  # a sentence: why it was refused, failed or waits
    number: int = 0  # in the order of acceptance


class UploadIngest(Protocol):
    async def __call__(
        self,
        source: Source,
        root: Path,
        only: Sequence[str],
        *,
        links: Mapping[str, str],
        force: bool,
        rules: ReaderRules,
        progress: ProgressCallback,
    ) -> IngestReport:
        """Ingest the files `only` as `Ingestor.ingest` does, one run at a time across all processes."""


@dataclass(kw_only=True)
class Uploads:
    """The uploads of all workspaces, a folder each under `folder`."""

    corpus: CorpusRepository
    jobs: JobRepository
    clock: Clock
    ingest: UploadIngest
    check: Callable[[Path, bytes], object]  # raises ReadError for a file without a reader; may block
    stamp: Callable[[Path], FileStamp]
    limits: ReadLimits
    folder: Path
    alone: Callable[[], AbstractAsyncContextManager[None]]  # the lock of its jobs
    links: Callable[[str], Awaitable[Mapping[str, str]]]  # of a workspace: path -> the web address it was read from

    def __post_init__(self) -> None:
        self._files: dict[str, OrderedDict[str, UploadedFile]] = {}  # accepted ones, by workspace and path
        self._refused: dict[str, deque[UploadedFile]] = {}
        self._numbers = count(1)
        self._drafts = uuid.uuid4().hex  # the folder of this process's unfinished files
        self._again: set[tuple[str, str]] = set()  # failed files to read though they didn't change
        self._changed = asyncio.Event()  # set and replaced at every change
        self._wake = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    @property
    def most_bytes(self) -> int:
        """The largest file that is accepted."""
        return self.limits.file_bytes

    async def accept(
        self,
        workspace: str,
        name: str,
        chunks: AsyncIterable[bytes],
        *,
        readers: Readers = None,
        by: str = "",
        where: str = "",
    ) -> UploadedFile:
        """Store a file under its name, which may be a path in a folder; durable when this returns.

        A file of the same path is replaced: its document gets a new revision. Of the readers of uploads, only these
        `readers` may read it; None: as before, all for a new one. Raises BadInput with the sentence for the person if
        the file is refused, and StorageError if it can't be stored.
        """
        source, path = await self._take(workspace, name, chunks, None, readers)
        return self._read_soon(source, path, by, where)

    async def hold(self, workspace: str, key: str, name: str, chunks: AsyncIterable[bytes]) -> str:
        """Store a file aside under a key, until `accept_held` or `drop`; return its later path. Raises as `accept`."""
        return (await self._take(workspace, name, chunks, key))[1]

    async def accept_held(
        self,
        workspace: str,
        key: str,
        path: str,
        *,
        readers: Readers = None,
        by: str = "",
        where: str = "",
    ) -> UploadedFile:
        """Accept a held file, and hold the one that it replaces, for `restore`. Safe to repeat; raises as `accept`."""
        source = await self._source(workspace)
        root, name = Path(source.location), path.rpartition("/")[2]
        new, before = self._held(key) / "new", self._held(key) / "before"

        def move() -> None:
            if (new / name).is_file():
                if (root / path).is_file() and not (before / name).exists():
                    note_readers(before, name, noted_readers(root, path))
                    put_file(root / path, before, name)
                if readers is not None:
                    note_readers(root, path, readers)
                put_file(new / name, root, path)

        try:
            await to_its_end(move)
        except InvalidState as error:
            raise BadInput(f"{name}: {failure_words(name, str(error))}") from error
        except OSError as error:
            raise self._unstored(name, error) from error
        return await self.read_left(workspace, path, by=by, where=where)

    async def restore(self, workspace: str, key: str, path: str) -> bool:
        """Put the file back that a held one replaced, to be read again; False if there was none. Safe to repeat."""
        source, name = await self._source(workspace), path.rpartition("/")[2]
        root, before = Path(source.location), self._held(key) / "before" / name
        draft = self._draft(root)

        def put_back() -> bool:
            if not before.is_file():
                return False
            draft.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(before, draft)
            note_readers(root, path, noted_readers(before.parent, name))
            put_file(draft, root, path)
            return True

        try:
            if not await to_its_end(put_back):
                return False
        except OSError as error:
            raise self._unstored(name, error) from error
        await self.read_left(workspace, path)
        return True

    async def is_held(self, key: str, path: str) -> bool:
        """Return whether a held file was not accepted yet."""
        return await to_its_end((self._held(key) / "new" / path.rpartition("/")[2]).is_file)

    async def has_replaced(self, key: str, path: str) -> bool:
        """Return whether the held file replaced another one, which can be restored."""
        return await to_its_end((self._held(key) / "before" / path.rpartition("/")[2]).is_file)

    async def drop(self, key: str) -> None:
        """Delete the files held under a key; unknown ones are ignored."""
        await to_its_end(partial(shutil.rmtree, self._held(key), ignore_errors=True))

    async def delete(self, workspace: str, path: str) -> None:
        """Delete an accepted file whose document is not in the library yet; a missing one is ignored."""
        await to_its_end(partial(delete_file, self._root(workspace), path))
        self._forget(workspace, path)

    async def read_left(self, workspace: str, path: str, *, by: str = "", where: str = "") -> UploadedFile:
        """Have an accepted file read, if it is not waiting or up to date already. NotFound if it was removed."""
        source = await self._source(workspace)
        if not await to_its_end(Path(source.location, path).is_file):
            raise NotFound(f"{path} was removed before it was read.")
        return self._read_soon(source, path, by, where)

    def files(self, workspace: str) -> list[UploadedFile]:
        """Return the files of this process's run: oldest first, refused ones, too."""
        files = [*self._of(workspace).values(), *self._refused.get(workspace, ())]
        return sorted(files, key=lambda file: file.number)

    def waiting(self, workspace: str) -> list[UploadedFile]:
        """Return the files that are still to be read."""
        return [file for file in self.files(workspace) if not file.state.is_final]

    async def changes(self, workspace: str, path: str) -> AsyncIterator[UploadedFile]:
        """Yield an accepted file as it is now, then at each change until it is read or failed.

        NotFound if it was removed meanwhile.
        """
        while True:
            changed = self._changed
            file = self._of(workspace).get(path)
            if file is None:
                raise NotFound(f"{path} was removed before it was read.")
            yield file
            if file.state.is_final:
                return
            await changed.wait()

    async def outcome(self, workspace: str, path: str) -> UploadedFile:
        """Wait until an accepted file is read or failed. NotFound if it was removed meanwhile."""
        return [file async for file in self.changes(workspace, path)][-1]

    async def read_again(self, workspace: str, paths: Collection[str]) -> None:
        """Have files read again that failed. Unknown ones are ignored."""
        source = await self._source(workspace)
        there = await to_its_end(lambda: [path for path in paths if Path(source.location, path).is_file()])
        for path in there:
            self._again.add((workspace, path))
            self._expect(source, path)
        self._wake.set()

    async def work(self, workspaces: Iterable[str]) -> None:
        """Read the files that an earlier process left, then each accepted one; forever."""
        unseen = list(workspaces)
        while True:
            self._wake.clear()
            try:
                while unseen:
                    await self._find_left(unseen[-1])
                    unseen.pop()
                for workspace in list(self._files):
                    await self.read(workspace)
            except (FootnoteError, OSError) as error:
                _log.error("Uploaded files can't be read: %s Trying again in %.0f s", error, RETRY_SECONDS)
                self._explain(str(error))
                await asyncio.sleep(RETRY_SECONDS)
                continue
            await self._wake.wait()

    async def read(self, workspace: str) -> None:
        """Read all files of a workspace that wait. Raises StorageError and ModelMissing; they wait on then."""
        async with self._one_at_a_time:
            while self.waiting(workspace):
                source = await self._source(workspace)
                async with self.alone():
                    await end_abandoned(self.jobs, self.clock, JobKind.INGEST)
                    await self._read(source)

    async def delete_files(self, documents: Sequence[Document]) -> None:
        """Delete the files of removed documents; documents of other sources are ignored. For Library."""
        for document in documents:
            if document.source_kind == UPLOADS:
                await to_its_end(partial(delete_file, self._root(document.workspace), document.path))
                self._forget(document.workspace, document.path)

    async def delete_folder(self, workspace: str) -> None:
        """Delete all files of a removed workspace, with the drafts of waiting ones."""
        await to_its_end(partial(shutil.rmtree, self._root(workspace), ignore_errors=True))
        self._files.pop(workspace, None)
        self._note_change()

    async def _take(
        self, workspace: str, name: str, chunks: AsyncIterable[bytes], key: str | None, readers: Readers = None
    ) -> tuple[Source, str]:
        """Store a checked file: among the uploads, or under a key; return the uploads' source, and the file's path."""
        try:
            path = clean_path(name)
            source = await self._source(workspace)
            root, end = Path(source.location), path.rpartition("/")[2]
            draft = self._draft(root) / end
            try:
                head = await self._receive(draft, chunks)
                if not head:
                    raise ReadError("the file is empty")
                await to_its_end(partial(self.check, draft, head))
                if readers is not None:
                    await to_its_end(partial(note_readers, root, path, readers))
                place = (root, path) if key is None else (self._held(key) / "new", end)
                await to_its_end(partial(put_file, draft, *place))
            finally:
                await to_its_end(partial(shutil.rmtree, draft.parent, ignore_errors=True))
        except (BadInput, ReadError, InvalidState) as error:
            sentence = failure_words(name, str(error))
            if key is None:
                refused = UploadedFile(
                    path=name, state=UploadState.REFUSED, reason=sentence, number=next(self._numbers)
                )
                self._refused.setdefault(workspace, deque(maxlen=KEPT_STATES)).append(refused)
            raise BadInput(f"{name}: {sentence}") from error
        except ConnectionError as error:
            raise BadInput(f"{name} did not arrive completely. Add it again.") from error
        except OSError as error:
            raise self._unstored(name, error) from error
        return source, path

    def _unstored(self, name: str, error: OSError) -> StorageError:
        reason = error.strerror or error
        return StorageError(f"{name} can't be stored ({reason}). Check the disk of {str(self.folder)!r}.")

    def _read_soon(self, source: Source, path: str, by: str, where: str) -> UploadedFile:
        file = self._expect(source, path, by, where)
        self._wake.set()
        return file

    def _draft(self, root: Path) -> Path:
        return root / DRAFTS / self._drafts / uuid.uuid4().hex

    def _held(self, key: str) -> Path:
        return self.folder / HELD / key

    async def _receive(self, draft: Path, chunks: AsyncIterable[bytes]) -> bytes:
        """Write the draft and flush it to disk; return its beginning. ReadError beyond the size limit."""
        await to_its_end(lambda: draft.parent.mkdir(parents=True))
        size, head = 0, b""
        async with opened(lambda: draft.open("wb"), BufferedWriter.close) as file:
            async for chunk in chunks:
                size += len(chunk)
                if size > self.most_bytes:
                    raise ReadError(f"larger than {size_words(self.most_bytes)}. Split the file")
                head = (head + chunk)[:HEAD_BYTES] if len(head) < HEAD_BYTES else head
                await to_its_end(partial(file.write, chunk))
            await to_its_end(file.flush)
            await to_its_end(partial(os.fsync, file.fileno()))
        return head

    async def _read(self, source: Source) -> None:
        """Read the files that wait, in one run that is recorded as a job."""
        workspace, root = source.workspace, Path(source.location)
        files = self.waiting(workspace)
        force = any((workspace, file.path) in self._again for file in files)
        files = [file for file in files if not force or (workspace, file.path) in self._again][:MOST_AT_ONCE]
        paths = [file.path for file in files]
        given = {"files": len(paths), "names": paths[:MOST_NAMED], "by": sorted({file.by for file in files if file.by})}
        async with Steps(self.jobs, self.clock, workspace).step(JobKind.INGEST, JOB_NAME, input=given) as step:
            note = partial(self._progress, workspace)
            links = await self.links(workspace)
            rules = ReaderRules(limits=await to_its_end(partial(noted_limits, root, paths)))
            report = await self.ingest(source, root, paths, links=links, force=force, rules=rules, progress=note)
            failures = [{"path": item.path, "reason": item.reason} for item in report.failures[:MOST_NAMED]]
            step.output = {"read": len(paths) - len(report.failures), "failures": failures}
        self._again -= {(workspace, path) for path in paths}
        stored = {item.path: item for item in await self.corpus.list_documents(workspace, frozenset({source.id}))}
        # A file that was removed while it was read has a document again.
        gone = await to_its_end(lambda: [path for path in paths if path in stored and not (root / path).exists()])
        if gone:
            await self.ingest(source, root, gone, links={}, force=False, rules=NO_RULES, progress=note)
        for file in files:
            self._finish(file, workspace, None if file.path in gone else stored.get(file.path))

    def _finish(self, read: UploadedFile, workspace: str, document: Document | None) -> None:
        """Show the outcome of a file, unless it was accepted again during the run."""
        file = self._of(workspace).get(read.path)
        if file is None or file.number != read.number:
            return
        if document is None:
            self._forget(workspace, read.path)
        elif document.failed_reason is not None:
            reason = failure_words(read.path, document.failed_reason)
            self._show(workspace, replace(file, state=UploadState.FAILED, reason=reason))
        else:
            done = replace(file, state=UploadState.READ, page=document.pages, pages=document.pages, reason="")
            self._show(workspace, done)

    def _progress(self, workspace: str, now: IngestProgress) -> None:
        file = self._of(workspace).get(now.path)
        if file is not None and not file.state.is_final:
            state, page, pages = UploadState.READING, now.page or file.page, now.pages or file.pages
            self._show(workspace, replace(file, state=state, page=page, pages=pages, reason=""))

    async def _find_left(self, workspace: str) -> None:
        """Expect the files that an earlier process accepted and did not read."""
        root = self._root(workspace)
        found = await to_its_end(partial(list_files, root, self._drafts))
        if not found:
            return
        source = await self._source(workspace)
        documents = await self.corpus.list_documents(workspace, frozenset({source.id}))
        stamps = {document.path: document.stamp for document in documents}
        for path in found:
            if path not in stamps or stamps[path] != await to_its_end(partial(self.stamp, root / path)):
                self._expect(source, path)

    async def readers(self, workspace: str) -> frozenset[str]:
        """Return who may read the uploads of a workspace in chats, also before the first."""
        sources = await self.corpus.list_sources(workspace)
        found = next((item for item in sources if item.id == _identity(workspace)), None)
        return MEMBERS_ONLY if found is None else found.readers

    async def readers_label(self, workspace: str, path: str) -> str:
        """Return who may read an accepted file in chats, as the end of a sentence."""
        own = await to_its_end(partial(noted_limits, self._root(workspace), [path]))
        return narrowing_label(frozenset({await self.readers(workspace)}).union(*own.values()))

    async def _source(self, workspace: str) -> Source:
        """Return the source of a workspace's uploads, saved if it is new or its folder moved."""
        identity = _identity(workspace)
        location = str(self._root(workspace))
        sources = await self.corpus.list_sources(workspace)
        found = next((source for source in sources if source.id == identity), None)
        if found is not None and found.location == location:
            return found
        taken = {source.name for source in sources}
        name = next(name for name in _NAMES if name not in taken) if found is None else found.name
        source = Source(id=identity, workspace=workspace, name=name, kind=UPLOADS, location=location)
        await self.corpus.save_source(source)
        return source

    def _root(self, workspace: str) -> Path:
        return self.folder / _identity(workspace)

    def _expect(self, source: Source, path: str, by: str = "", where: str = "") -> UploadedFile:
        """Show a file as waiting."""
        identity, number = document_id(source.workspace, source.id, path), next(self._numbers)
        file = UploadedFile(
            path=path, state=UploadState.WAITING, document_id=identity, by=by, where=where, number=number
        )
        self._show(source.workspace, file)
        return file

    def _show(self, workspace: str, file: UploadedFile) -> None:
        files = self._of(workspace)
        files[file.path] = file
        if file.state.is_final:
            for path in [path for path, item in files.items() if item.state.is_final][:-KEPT_STATES]:
                del files[path]
        self._note_change()

    def _of(self, workspace: str) -> OrderedDict[str, UploadedFile]:
        return self._files.setdefault(workspace, OrderedDict())

    def _forget(self, workspace: str, path: str) -> None:
        self._of(workspace).pop(path, None)
        self._note_change()

    def _explain(self, reason: str) -> None:
        for workspace in list(self._files):
            for file in self.waiting(workspace):
                self._show(workspace, replace(file, state=UploadState.WAITING, reason=reason))

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _identity(workspace: str) -> str:
    return source_id(workspace, UPLOADS_NAME)
