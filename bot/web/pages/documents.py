"""Documents of the library: sources with their status, failures with their next step, a list to filter and sort."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from aiohttp import web
from aiohttp_jinja2 import render_template

from bot.web.pages.samples import SAMPLES
from bot.web.pages.source import marked_path
from bot.web.pages.uploads import KINDS, UPLOADS, add_uploads, can_change, reader_choices, require_admin, upload_readers
from bot.web.parts import PARTS, WebParts
from bot.web.requests import author_of, turn_to, visit
from core.domain.corpus import Document, PageHit, SearchQuery, SearchScope, Source
from core.domain.ingest_report import failure_words
from core.domain.jobs import Job, JobKind, JobStatus
from core.domain.readers import READER_FORMS
from core.domain.sources import Cron, Every, SourceSpec, SyncResult
from core.errors import BadInput, FootnoteError
from core.features.additions import Additions
from core.features.syncing import Syncs
from core.features.upload_files import size_words
from core.features.uploads import UPLOADS as UPLOADED
from core.features.uploads import UploadState
from core.knowledge.library import removal_effect
from core.ports.service import CitedRepository
from core.text.markup import preview
from core.text.words import collapse

ROWS = 50  # documents on one page of the list
FAILURES = 100  # shown with reasons; the command line lists all
HITS = 20  # pages that a search shows
LONGEST_QUERY = 1_000  # characters
RECENT_JOBS = 20  # looked through for syncs that run
NEW = timedelta(days=1)
_SNIPPET = 280  # characters
_ORIGINS = {
    UPLOADED: "Added by hand", "folder": "Folder", "file": "Files", "files": "Files", "git": "Git repository",
    "url_list": "Web pages", "sitemap": "Web pages", "github": "GitHub", "confluence": "Confluence space",
    "foundry_world": "Foundry world",
}  # fmt: skip
_KINDS = {
    "markdown": "Notes", "org": "Notes", "rst": "Notes", "canvas": "Notes", "text": "Text", "pdf": "PDF",
    "docx": "Word", "odt": "Word", "rtf": "Word", "pptx": "Slides", "spreadsheet": "Sheets", "csv": "Sheets",
    "html": "Web pages", "epub": "Books", "mail": "Mail", "channel": "Chats", "foundry": "Foundry",
    "openapi": "APIs", "notebook": "Notebooks", "kept": "Kept answers",
}  # fmt: skip
SORTS = {"newest": "Newest", "title": "Title", "cited": "Most cited", "pages": "Pages"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class LibraryTools:
    """Parts with which the person at this machine changes the library."""

    additions: Additions
    syncs: Syncs
    cited: CitedRepository
    _running: set["asyncio.Task[object]"] = field(default_factory=set)

    def start(self, work: Coroutine[Any, Any, object], name: str) -> None:
        """Run `work` in the background; its errors are in the log, and in the source's status."""

        async def run() -> None:
            try:
                await work
            except FootnoteError as error:
                _log.warning("%s: %s", name, error)

        task: asyncio.Task[object] = asyncio.create_task(run())
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def stop(self, app: web.Application) -> None:
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(set(self._running))


TOOLS = web.AppKey("library_tools", LibraryTools)


def add_library(app: web.Application, parts: WebParts, tools: LibraryTools) -> None:
    """Add the routes that change the library (a WebAddition)."""
    app[TOOLS] = tools
    add_uploads(app, parts, tools.additions)
    app.router.add_post("/library/remove", remove)
    app.router.add_post("/library/again", read_again)
    app.router.add_post("/library/sync", sync)
    app.on_shutdown.append(tools.stop)


async def show_library(request: web.Request) -> web.Response:
    """Show sources, failures and documents; with `?q=`, search hits."""
    parts, scope = await visit(request)
    query = collapse(request.query.get("q", ""))[:LONGEST_QUERY]
    documents = await parts.library.documents(scope)
    hits = await parts.library.search(SearchQuery(text=query, limit=HITS), scope) if query and documents else []
    readable = [document for document in documents if document.pages]
    failed = [document for document in documents if document.failed_reason]
    cited = await _count_citations(request)
    chosen = _choose(request, readable, cited)
    shown, numbers = turn_to(request, chosen, ROWS)
    sources, now = await _sources(request, scope, documents), parts.clock.now()
    context = {
        "query": query,
        "hits": [_to_hit(hit) for hit in hits],
        "sources": sources,
        "live": any(row["is_running"] for row in sources),
        "can_change": can_change(request),
        "sample_name": request.app[SAMPLES].name if SAMPLES in request.app else "",
        "can_sync": can_change(request) and bool(request.app[TOOLS].syncs.specs),
        "documents": [_to_row(item, cited[item.id], now, with_source=len(sources) > 1) for item in shown],
        "marks_new": any(item.crawled_at and now - item.crawled_at >= NEW for item in readable),
        "total": len(readable),
        "chosen": len(chosen),
        "filters": _filters(request, readable, cited),
        "sorts": [(label, _href(request, sort=key), key == _sort_of(request)) for key, label in SORTS.items()],
        "turn": lambda number: _href(request, page=str(number)),
        "failed": len(failed),
        "failures": [_to_failure(document) for document in failed[:FAILURES]],
        "kinds": KINDS,
        "limit": size_words(request.app[UPLOADS].most_bytes) if can_change(request) else "",
        "upload_readers": await upload_readers(request) if can_change(request) else "",
        "reader_choices": reader_choices(request) if can_change(request) else {},
        "reader_forms": READER_FORMS,
        **numbers,
    }
    return render_template("library.html", request, context)


async def remove(request: web.Request) -> web.Response:
    """Ask before the chosen documents are removed; with `confirmed`, remove them."""
    require_admin(request)
    parts, scope = await visit(request)
    form = await request.post()
    ids = frozenset(str(value) for value in form.getall("document", ()))
    if form.get("confirmed"):
        await parts.library.remove_documents(ids, scope, by=author_of(request))
        raise web.HTTPSeeOther("/library")
    documents = [document for document in await parts.library.documents(scope) if document.id in ids]
    if not documents:
        raise BadInput("Choose at least one document to remove.")
    effect = removal_effect(len(documents), await parts.library.count_conversations(documents))
    stays = sorted({item.source for item in documents if item.source_kind != UPLOADED})
    return render_template("remove.html", request, {"documents": documents, "effect": effect, "stays": stays})


async def read_again(request: web.Request) -> web.Response:
    """Read files again that could not be read: the chosen ones, or all."""
    require_admin(request)
    parts, scope = await visit(request)
    form = await request.post()
    ids = frozenset(str(value) for value in form.getall("document", ()))
    failed = [
        item for item in await parts.library.documents(scope) if item.failed_reason and (item.id in ids or not ids)
    ]
    tools = request.app[TOOLS]
    for source in await parts.library.sources(parts.workspace):
        paths = [item.path for item in failed if item.source_id == source.id]
        if source.kind == UPLOADED:
            await tools.additions.uploads.read_again(parts.workspace, paths)
        elif paths:
            tools.start(tools.syncs.read_again(source, paths), f"Source {source.name!r} is not read again")
    raise web.HTTPSeeOther("/library")


async def sync(request: web.Request) -> web.Response:
    """Sync all enabled sources."""
    require_admin(request)
    tools, workspace = request.app[TOOLS], request.app[PARTS].workspace
    tools.start(tools.syncs.sync(workspace), "The sources are not synced")
    raise web.HTTPSeeOther("/library")


async def _count_citations(request: web.Request) -> Counter[str]:
    """Count the answers that cite each document, by its ID."""
    found: Counter[str] = Counter()
    if TOOLS in request.app:
        for item in await request.app[TOOLS].cited.cited(request.app[PARTS].workspace):
            found[item.document_id] += item.answers
    return found


def _choose(request: web.Request, documents: Sequence[Document], cited: Mapping[str, int]) -> list[Document]:
    """Return the documents that the filter takes, in the chosen order."""
    wanted = request.query.get("kind", "")
    found = [item for item in documents if _fits(item, wanted, cited)]
    orders: dict[str, Callable[[Document], Any]] = {
        "newest": lambda item: -(item.crawled_at.timestamp() if item.crawled_at else 0),
        "title": lambda item: item.title.casefold(),
        "cited": lambda item: -cited[item.id],
        "pages": lambda item: -item.pages,
    }
    return sorted(found, key=lambda item: (orders[_sort_of(request)](item), item.title.casefold(), item.path))


def _fits(document: Document, wanted: str, cited: Mapping[str, int]) -> bool:
    if wanted == "uncited":
        return not cited[document.id]
    return not wanted or kind_words(document.kind) == wanted


def _sort_of(request: web.Request) -> str:
    sort = request.query.get("sort", "")
    return sort if sort in SORTS else "newest"


def _filters(
    request: web.Request, documents: Sequence[Document], cited: Mapping[str, int]
) -> list[tuple[str, int, str, bool]]:
    """Return (label, count, address, is chosen) of each filter; none if there is nothing to choose."""
    chosen = request.query.get("kind", "")
    kinds = Counter(kind_words(item.kind) for item in documents)
    found = [("All", len(documents), "")] + [(kind, number, kind) for kind, number in kinds.most_common()]
    never = sum(1 for item in documents if not cited[item.id])
    if TOOLS in request.app and 0 < never < len(documents):
        found.append(("Never cited", never, "uncited"))
    if len(found) <= 2 and not chosen:
        return []
    return [(label, number, _href(request, kind=key), key == chosen) for label, number, key in found]


def _href(request: web.Request, **changes: str) -> str:
    """Return the address of the list with some parameters changed; any change but of the page leads to the first."""
    given = {name: request.query.get(name, "") for name in ("kind", "sort")} | changes
    query = urlencode({name: value for name, value in given.items() if value})
    return f"/library?{query}#documents" if query else "/library#documents"


def kind_words(kind: str) -> str:
    return _KINDS.get(kind, kind.capitalize())


def _to_row(document: Document, answers: int, now: datetime, *, with_source: bool) -> dict[str, Any]:
    is_new = document.crawled_at is not None and now - document.crawled_at < NEW
    folders = [*([document.source] if with_source else []), *document.path.split("/")[:-1]]
    note = f"cited {'once' if answers == 1 else f'{answers} times'}" if answers else ""
    return {
        "document": document,
        "href": f"/library/documents/{quote(document.id, safe='')}",
        "folder": "".join(f"{folder}/" for folder in folders),
        "kind": kind_words(document.kind),
        "read": ago(document.crawled_at, now) if document.crawled_at else "",
        "is_new": is_new,
        "note": note,
    }


def ago(moment: datetime, now: datetime) -> str:
    """Return when something was: "4 min ago", "3 h ago", "12 Nov", "12 Nov 2025"."""
    seconds = (now - moment).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 24 * 3600:
        return f"{int(seconds // 3600)} h ago"
    return f"{moment:%-d %b}" if moment.year == now.year else f"{moment:%-d %b %Y}"


def _to_failure(document: Document) -> dict[str, str]:
    return {
        "id": document.id,
        "path": document.path,
        "source": document.source,
        "reason": failure_words(document.path, document.failed_reason or ""),
    }


async def _sources(request: web.Request, scope: SearchScope, documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Return a row for each source that is stored and readable, or, for admins, configured and new."""
    parts = request.app[PARTS]
    known = {item.name: item for item in await parts.library.sources(parts.workspace)}
    stored = {name: item for name, item in known.items() if item.id in scope.sources}
    statuses = await request.app[TOOLS].syncs.overview(parts.workspace) if TOOLS in request.app else []
    specs = {status.name: status.spec for status in statuses if status.spec is not None and status.spec.enabled}
    broken = {
        status.name: status.state.error or "The reason isn't known."
        for status in statuses
        if status.state is not None and status.state.result is SyncResult.FAILED
    }
    running = _running_syncs([tree for tree in await parts.jobs.recent(parts.workspace, RECENT_JOBS) if tree])
    rows = []
    new = specs.keys() - known.keys() if can_change(request) else ()
    for name in sorted({*stored, *new}):
        own = [item for item in documents if item.source == name]
        failed = sum(1 for item in own if item.failed_reason)
        status, is_running = _status(request, name, stored.get(name), running, failed)
        if name in broken and not is_running:
            status = ("bad", "Can't be reached")
        elif name not in stored and not is_running:
            status = ("busy", "Waiting")
        row = {
            "name": name,
            "about": _about(stored.get(name), specs.get(name)),
            "documents": sum(1 for item in own if item.pages),
            "pages": sum(item.pages for item in own),
            "status": status,
            "failed": failed,
            "error": broken.get(name, ""),
            "is_running": is_running,
        }
        rows.append(row)
    return rows


def _status(
    request: web.Request, name: str, source: Source | None, running: Mapping[str, str], failed: int
) -> tuple[tuple[str, str], bool]:
    """Return ((colour, words), whether it is being read) of a source."""
    if name in running:
        return ("busy", running[name]), True
    if source is not None and source.kind == UPLOADED and UPLOADS in request.app:
        files = request.app[UPLOADS].files(source.workspace)
        waiting = [file for file in files if not file.state.is_final]
        if waiting:
            batch = [
                file for file in files if file.number >= waiting[0].number and file.state is not UploadState.REFUSED
            ]
            is_read = any(file.state is UploadState.READING for file in waiting)
            done = len(batch) - len(waiting) + 1
            return ("busy", f"Reading {done} of {len(batch)}" if is_read else "Waiting"), True
    if failed:
        return ("bad", f"{failed} could not be read"), False
    return ("good", "Up to date"), False


def _running_syncs(trees: Sequence[Sequence[Job]]) -> dict[str, str]:
    """Return the words of each source that is being synced, by its name."""
    found = {}
    for root, *steps in trees:
        if root.kind is not JobKind.SYNC or root.status is not JobStatus.RUNNING:
            continue
        counts = next((step.output for step in reversed(steps) if step.output.get("total")), {})
        words = f"Reading {counts['done']} of {counts['total']}" if counts else "Reading"
        found[str(root.input.get("source", ""))] = words
    return found


def _about(source: Source | None, spec: SourceSpec | None) -> str:
    """Return how a source's documents come: "Confluence space, checked every hour"."""
    kind = spec.kind if spec is not None else source.kind if source is not None else ""
    words = _ORIGINS.get(kind, kind.replace("_", " ").capitalize())
    if source is not None and source.name == "kept answers":
        words = "Kept by people"
    if spec is not None and spec.watch:
        return f"{words}, watched for changes"
    if spec is not None and isinstance(spec.schedule, Every):
        return f"{words}, checked every {_span(spec.schedule.seconds)}"
    if spec is not None and isinstance(spec.schedule, Cron):
        return f"{words}, checked on a timetable"
    return words


def _span(seconds: float) -> str:
    """Return a span of time in its largest whole unit: "15 minutes", "hour"."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size and seconds % size == 0:
            number = int(seconds // size)
            return unit if number == 1 else f"{number} {unit}s"
    return f"{seconds:g} seconds"


def _to_hit(hit: PageHit) -> dict[str, str]:
    best = hit.passages[0].passage
    return {
        "title": hit.document.title,
        "where": " › ".join([f"page {hit.page_number}", *hit.heading_path]),
        "snippet": preview(best.text, hit.document.kind, _SNIPPET),
        "href": marked_path(hit.page_id, best.span),
    }


ROUTES = (web.get("/library", show_library),)
