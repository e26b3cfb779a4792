"""Syncs of configured sources: fetch into a mirror, ingest it like any folder, report the status.

A source that fails keeps its documents, and its state records since when it fails. One sync runs at a time across all
processes, because a mirror has one writer.
"""

import asyncio
import os
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Protocol

from core.access.scopes import ATTACHMENTS
from core.domain.corpus import Document, Source
from core.domain.ingest_report import IngestProgress, IngestReport, ProgressCallback, ignore_progress
from core.domain.jobs import JobKind
from core.domain.readers import MEMBERS, UNLIMITED
from core.domain.selection import EVERYTHING, Selection
from core.domain.sources import (
    FETCHED,
    KNOW_READERS,
    MOST_WARNINGS,
    FilesOrigin,
    FolderOrigin,
    SourceSpec,
    SyncResult,
    SyncState,
)
from core.errors import FootnoteError, InvalidState, NotFound, SourceUnavailable
from core.knowledge.narrowing import Narrower, OwnReaders, ReaderRules
from core.knowledge.sources import source_id
from core.ports import Clock, CorpusRepository
from core.ports.documents import Fetched, SourceFetcher, SyncRepository
from core.ports.service import JobRepository
from core.thread_work import to_its_end
from core.work.orphaned_jobs import end_abandoned
from core.work.steps import Step, Steps

# Progress steps between two writes of a job: people only glance at it.
NOTE_EVERY = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """A source of the configuration, of the library, or of both, with its last sync."""

    name: str
    kind: str
    location: str  # for people: an address, a folder
    spec: SourceSpec | None  # None: not (or no longer) in the configuration
    state: SyncState | None
    documents: int = 0
    failed: int = 0
    readers: frozenset[str] | None = None  # None: the library doesn't have it yet
    is_orphan: bool = False  # it was synced once and is no longer configured: `footnote sources remove` takes it away

    def to_json(self) -> dict[str, object]:
        """As `footnote sources --json` shows it; times in ISO 8601."""
        return {
            "source": self.name,
            "kind": self.kind,
            "location": self.location,
            "documents": self.documents,
            "failed": self.failed,
            "configured": self.spec is not None,
            "enabled": self.spec.enabled if self.spec else None,
            "orphan": self.is_orphan,
            "readers": sorted(self.readers) if self.readers is not None else None,
            "last_sync": state_json(self.state) if self.state else None,
        }


class SyncIngest(Protocol):
    async def __call__(
        self,
        source: Source,
        root: Path,
        only: Sequence[str] | None = None,
        *,
        selection: Selection = EVERYTHING,
        kind: str | None,
        links: Mapping[str, str],
        rules: ReaderRules,
        force: bool,
        progress: ProgressCallback,
    ) -> IngestReport:
        """Ingest as `Ingestor.ingest` does, one run at a time across all processes, with its follow-ups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """The result of one sync. `report` is None if the sync failed before reading, or another process ran it."""

    state: SyncState
    report: IngestReport | None = None
    seconds: float = 0.0
    by_another: bool = False  # another process started a sync after this request, so it saw the same files

    @property
    def is_good(self) -> bool:
        return self.state.result is SyncResult.DONE

    def to_json(self) -> dict[str, object]:
        """As `footnote sync --json` shows it."""
        read = self.report.to_json() if self.report else None
        told = state_json(self.state) | {"by_another": self.by_another, "report": read}
        return {"source": self.state.source, "kind": self.state.kind, **told}


@dataclass(frozen=True, kw_only=True)
class Syncs:
    """Use cases of sources: sync them, and report their status."""

    specs: tuple[SourceSpec, ...]  # of the configuration
    corpus: CorpusRepository
    states: SyncRepository
    jobs: JobRepository
    clock: Clock
    ingest: SyncIngest
    fetcher: Callable[[SourceSpec], SourceFetcher]  # for all but folders and files of this machine
    mirrors: Path  # a folder with one of each fetched source, by its id
    alone: Callable[[], AbstractAsyncContextManager[None]]
    has_files: Callable[[Path, Selection], bool]  # whether a folder holds a selected file; may block
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def sync(
        self,
        workspace: str,
        names: Sequence[str] = (),
        *,
        force: bool = False,
        unless_since: datetime | None = None,
        readers: Mapping[str, frozenset[str]] | None = None,
        progress: ProgressCallback = ignore_progress,
    ) -> list[SyncReport]:
        """Sync the named sources of a workspace, or all enabled ones; return one report each, in this order.

        `force` refetches and rereads everything, and accepts a source that is now empty. Skips sources synced by any
        process since `unless_since`; a sync that another process ran meanwhile is reported, not repeated. A failing
        source never stops the others. A new source whose configuration doesn't say who may read it in chats gets the
        `readers` under its name, else none.

        Raises NotFound for a name that is not in the configuration.
        """
        reports, asked = [], self.clock.now()
        for spec in self._wanted(workspace, names):
            async with self._one_at_a_time, self.alone():
                await end_abandoned(self.jobs, self.clock, JobKind.SYNC)
                state = await self.states.find(workspace, spec.name)
                if unless_since is not None and state is not None and state.ended_at >= unless_since:
                    continue
                if state is not None and state.started_at > asked and not force:
                    reports.append(SyncReport(state=state, by_another=True))
                else:
                    chosen = await self._with_readers(spec, (readers or {}).get(spec.name))
                    reports.append(await self._sync(chosen, state, force=force, progress=progress))
        return reports

    async def _with_readers(self, spec: SourceSpec, chosen: frozenset[str] | None) -> SourceSpec:
        """Return a new source's settings with the chosen readers, unless they have some."""
        is_new = await self.corpus.find_source(spec.workspace, spec.name) is None
        return replace(spec, readers=chosen) if chosen and is_new and spec.readers is None else spec

    async def read_again(self, source: Source, paths: Sequence[str]) -> None:
        """Read files of a stored source again that could not be read, without fetching; in a job of its own."""
        spec = next(
            (item for item in self.specs if (item.workspace, item.name) == (source.workspace, source.name)), None
        )
        known = await self.corpus.list_documents(source.workspace, frozenset({source.id}))
        links = {document.path: document.url for document in known if document.url}
        async with self._one_at_a_time, self.alone():
            await end_abandoned(self.jobs, self.clock, JobKind.SYNC)
            steps = Steps(self.jobs, self.clock, source.workspace)
            given = {"source": source.name, "kind": source.kind, "files": len(paths)}
            async with steps.step(JobKind.SYNC, f"sync {source.name}", input=given) as root:
                report = await self.ingest(
                    source,
                    Path(source.location),
                    paths,
                    kind=spec.reader if spec else None,
                    links={path: link for path, link in links.items() if link},
                    rules=ReaderRules(names=spec.reader_map if spec else {}),
                    force=True,
                    progress=_telling(root, ignore_progress, "Reading"),
                )
                root.output = _counts(report)

    async def overview(self, workspace: str) -> list[SourceStatus]:
        """Every source of the configuration and of the library, by name."""
        return await list_status(workspace, self.specs, self.corpus, self.states)

    async def apply_readers(self) -> None:
        """Store the configured readers, which may be fewer than before: to be called before anybody reads."""
        for spec in self.specs:
            stored = await self.corpus.find_source(spec.workspace, spec.name)
            if stored is not None and spec.readers is not None and stored.readers != spec.readers:
                await self.corpus.set_readers(stored.id, spec.readers)

    async def forget(self, workspace: str, name: str) -> None:
        """Forget the state of a source that was removed."""
        await self.states.remove(workspace, name)

    async def delete_mirror(self, source: Source) -> None:
        """Delete all files that were fetched for a source; of a folder's, none were. For Library."""
        await to_its_end(partial(shutil.rmtree, self.mirrors / source.id, ignore_errors=True))

    async def delete_files(self, documents: Sequence[Document]) -> None:
        """Delete the fetched files of removed documents; the next sync fetches the ones still there."""
        for document in documents:
            file = self.mirrors / document.source_id / FETCHED / document.path
            await to_its_end(partial(file.unlink, missing_ok=True))

    def _wanted(self, workspace: str, names: Sequence[str]) -> list[SourceSpec]:
        specs = {spec.name: spec for spec in self.specs if spec.workspace == workspace}
        unknown = next((name for name in names if name not in specs), None)
        if unknown is not None:
            known = ", ".join(map(repr, specs)) or "none"
            raise NotFound(
                f"There is no source {unknown!r} in the configuration; there are: {known}. "
                "Add it under [[sources]], or read a folder at once with `footnote ingest PATH`."
            )
        return [specs[name] for name in dict.fromkeys(names)] or [spec for spec in specs.values() if spec.enabled]

    async def _sync(
        self, spec: SourceSpec, last: SyncState | None, *, force: bool, progress: ProgressCallback
    ) -> SyncReport:
        started, begun = self.clock.now(), self.clock.monotonic()
        steps = Steps(self.jobs, self.clock, spec.workspace)
        state = SyncState(
            workspace=spec.workspace,
            source=spec.name,
            kind=spec.kind,
            result=SyncResult.DONE,
            started_at=started,
            ended_at=started,
            good_at=last.good_at if last else None,
        )
        report, warnings = None, tuple[str, ...]()
        try:
            given = {"source": spec.name, "kind": spec.kind, "force": force}
            async with steps.step(JobKind.SYNC, f"sync {spec.name}", input=given) as root:
                fetched = await self._fetch(spec, root, force=force, progress=progress)
                own = OwnReaders.of(fetched.restricted, spec.reader_map)
                unsaid = await self._unsaid(spec)
                warnings = (*unsaid, *own.warnings(spec.name), *fetched.warnings)
                source = await self._stored(spec, fetched.root)
                narrower = await Narrower.of(self.corpus, source)
                await narrower.close(own.by_path)
                report = await self._ingest(spec, source, fetched, root, force=force, progress=progress)
                if spec.kind in KNOW_READERS:
                    await self._open(narrower, own, report)
                warnings = (*narrower.warnings(), *warnings)
                root.output = {**_counts(report), "warnings": len(warnings)}
            state = replace(state, good_at=self.clock.now(), counts=_counts(report))
        except FootnoteError as error:
            since = last.failing_since if last and last.failing_since else started
            state = replace(state, result=SyncResult.FAILED, error=str(error), failing_since=since)
        job_id = steps.jobs[0].id if steps.jobs else None
        state = replace(state, ended_at=self.clock.now(), warnings=_few(warnings), job_id=job_id)
        await self.states.save(state)
        return SyncReport(state=state, report=report, seconds=self.clock.monotonic() - begun)

    async def _fetch(self, spec: SourceSpec, root: Step, *, force: bool, progress: ProgressCallback) -> Fetched:
        if isinstance(spec.origin, FolderOrigin):
            return Fetched(root=spec.origin.path)
        if isinstance(spec.origin, FilesOrigin):
            return _named_files(spec.origin.paths)
        async with root.step(JobKind.SYNC, "fetch", input={"location": str(spec.origin)}) as fetching:
            tell = _telling(fetching, progress, "Fetching")

            def fetched_one(done: int, total: int | None, name: str) -> None:
                tell(IngestProgress(done=done, total=total or done, path=name))

            mirror = self.mirrors / _to_id(spec)
            fetched = await self.fetcher(spec).fetch(mirror, fetched_one, force=force)
            fetching.output = {
                "changed": fetched.changed,
                "removed": fetched.removed,
                "warnings": list(_few(fetched.warnings)),
            }
            return fetched

    async def _unsaid(self, spec: SourceSpec) -> list[str]:
        """Return a sentence for people about a source whose readers were never chosen."""
        stored = await self.corpus.find_source(spec.workspace, spec.name)
        return [unsaid_readers(spec)] if lacks_readers(spec, stored) else []

    async def _open(self, narrower: Narrower, own: OwnReaders, report: IngestReport) -> None:
        """Show documents to everyone who may read them at the source, but those whose text could not be read."""
        stored = await self.corpus.list_documents(narrower.source.workspace, frozenset({narrower.source.id}))
        failed = {failure.path for failure in report.failures}
        paths = {*own.by_path, *(document.path for document in stored)} - failed
        await narrower.open({path: own.by_path.get(path, UNLIMITED) for path in paths})

    async def _ingest(
        self, spec: SourceSpec, source: Source, fetched: Fetched, root: Step, *, force: bool, progress: ProgressCallback
    ) -> IngestReport:
        selection = _selection(spec, fetched.root)
        if not force:
            await self._check_not_emptied(source, fetched.root, selection)
        async with root.step(JobKind.INGEST, "read", input={"root": str(fetched.root)}) as reading:
            report = await self.ingest(
                source,
                fetched.root,
                selection=selection,
                kind=spec.reader,
                links=fetched.links,
                rules=ReaderRules(names=spec.reader_map),
                force=force,
                progress=_telling(reading, progress, "Reading"),
            )
            reading.output = {**_counts(report), "pages": report.pages, "passages": report.passages}
            return report

    async def _stored(self, spec: SourceSpec, root: Path) -> Source:
        """The source as the library knows it, saved when it is new or was configured otherwise."""
        identity = _to_id(spec)
        stored = next((item for item in await self.corpus.list_sources(spec.workspace) if item.id == identity), None)
        readers = stored.readers if stored and spec.readers is None else spec.readers
        wanted = Source(
            id=identity,
            workspace=spec.workspace,
            name=spec.name,
            kind=spec.kind,
            location=str(root),
            link_template=spec.link_template,
            readers=frozenset() if readers is None else readers,  # until somebody says whose they are
        )
        if stored is not None and stored.readers != wanted.readers:
            await self.corpus.set_readers(identity, wanted.readers)
        if wanted != stored:
            try:
                await self.corpus.save_source(wanted)
            except InvalidState as error:
                raise InvalidState(
                    f"The library has another source called {spec.name!r}: give the configured one another name, or "
                    f"take the old one out with `footnote sources remove {spec.name}`"
                ) from error
        return wanted

    async def _check_not_emptied(self, source: Source, root: Path, selection: Selection) -> None:
        """Raise for an empty folder: the share is probably not mounted, so its documents are kept."""
        has_files = await asyncio.to_thread(self.has_files, root, selection)
        if has_files or not await self.corpus.list_documents(source.workspace, frozenset({source.id})):
            return
        raise SourceUnavailable(
            f"{str(root)!r} holds no file of {source.name!r} any more (not mounted, or globs that fit nothing?): its "
            f"documents were kept; `footnote sync {source.name} --force` forgets them"
        )


def _telling(step: Step, progress: ProgressCallback, stage: str) -> ProgressCallback:
    """Return a callback that passes progress on to the caller and, less often, to the job."""
    times = count()

    def tell(now: IngestProgress) -> None:
        if next(times) % NOTE_EVERY == 0:
            step.note({"done": now.done, "total": now.total})
        progress(replace(now, stage=stage))

    return tell


def _to_id(spec: SourceSpec) -> str:
    """Return the ID: a folder keeps that of `footnote ingest`, a fetched source is known by its name."""
    if isinstance(spec.origin, FolderOrigin):
        return source_id(spec.workspace, os.path.realpath(spec.origin.path))
    return source_id(spec.workspace, f"{spec.kind}\x1f{spec.name}")


def _selection(spec: SourceSpec, root: Path) -> Selection:
    paths = None
    if isinstance(spec.origin, FilesOrigin):
        paths = tuple(path.relative_to(root).as_posix() for path in spec.origin.paths)
    return Selection(include=spec.include, exclude=spec.exclude, paths=paths)


def _named_files(paths: Sequence[Path]) -> Fetched:
    missing = [str(path) for path in paths if not path.exists()]
    if len(missing) == len(paths):
        raise SourceUnavailable(f"None of its files is there (moved, or not mounted?): {', '.join(missing[:3])}")
    warnings = tuple(f"{path} is not there: put it back, or take it out of the source" for path in missing)
    return Fetched(root=Path(os.path.commonpath([path.parent for path in paths])), warnings=warnings)


def _few(warnings: Iterable[str]) -> tuple[str, ...]:
    listed = list(warnings)
    if len(listed) <= MOST_WARNINGS:
        return tuple(listed)
    return (*listed[: MOST_WARNINGS - 1], f"and {len(listed) - MOST_WARNINGS + 1} more warnings")


def _counts(report: IngestReport) -> dict[str, int]:
    return {
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "failed": len(report.failures),
    }


def lacks_readers(spec: SourceSpec, stored: Source | None) -> bool:
    """Return whether nobody has chosen readers of a source yet, so that chats don't show it."""
    return spec.readers is None and not (stored and stored.readers)


def unsaid_readers(spec: SourceSpec) -> str:
    """Return a sentence for people about a source without chosen readers, with two ways to choose them."""
    return (
        f"Nobody may read {spec.name!r} in chats yet. Say who may: `readers` under its [[sources]], such as "
        f'readers = ["{MEMBERS}"], or `footnote --workspace {shlex.quote(spec.workspace)} sources readers '
        f"{shlex.quote(spec.name)} {MEMBERS}`."
    )


async def list_status(
    workspace: str, configured: Sequence[SourceSpec], corpus: CorpusRepository, syncs: SyncRepository
) -> list[SourceStatus]:
    """Return every configured or stored source, by name, without thread attachments."""
    sources = {item.name: item for item in await corpus.list_sources(workspace) if item.kind != ATTACHMENTS}
    states = {item.source: item for item in await syncs.list_states(workspace)}
    specs = {spec.name: spec for spec in configured if spec.workspace == workspace}
    good, failed = Counter[str](), Counter[str]()
    for document in await corpus.list_documents(workspace):
        (good if document.failed_reason is None else failed)[document.source] += 1
    found = []
    for name in sorted({*sources, *specs}):
        spec, stored, state = specs.get(name), sources.get(name), states.get(name)
        status = SourceStatus(
            name=name,
            kind=spec.kind if spec else stored.kind if stored else "",
            location=str(spec.origin) if spec else stored.location if stored else "",
            spec=spec,
            state=state,
            documents=good[name],
            failed=failed[name],
            readers=stored.readers if stored else None,
            is_orphan=spec is None and state is not None,
        )
        found.append(status)
    return found


def state_json(state: SyncState) -> dict[str, object]:
    """A sync's outcome; times in ISO 8601."""
    return {
        "result": state.result.value,
        "started_at": state.started_at.isoformat(),
        "ended_at": state.ended_at.isoformat(),
        "good_at": state.good_at.isoformat() if state.good_at else None,
        "failing_since": state.failing_since.isoformat() if state.failing_since else None,
        "error": state.error,
        "warnings": list(state.warnings),
        "job": state.job_id,
    }
