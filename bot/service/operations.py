"""Operations of the commands, run in the command's process or by the running service (calls.py)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bot.service.calls import OnProgress, OperationContext, Progress, operation, workspaces_of
from bot.web import queries
from bot.web.queries import ExtractsRequest, ExtractsResult, FactsRequest, PageResult, SearchRequest, SearchResult
from core.access.bindings import BoundTeam
from core.answering.redaction import Histories
from core.domain.conversation import Conversation, Message
from core.domain.corpus import Document, Source
from core.domain.features import ExportedFile, StaleAnswer, Statistics
from core.domain.incoming import IncomingMessage
from core.domain.ingest_report import ExtractionReport, IngestProgress, IngestReport, ProgressCallback, RepairReport
from core.domain.jobs import Job, JobTree
from core.domain.readers import MEMBERS_ONLY
from core.errors import BadInput, InvalidState
from core.features.access_explanation import AccessQuestion, Explanation, Explanations
from core.features.export import export_conversation
from core.features.maintenance import StorageStatus
from core.features.syncing import SourceStatus, SyncReport
from core.features.workspaces import WorkspaceState
from core.knowledge.facts import FoundFacts, Ontology
from core.knowledge.library import Removal
from core.work.commands import CommandCall, CommandResult

if TYPE_CHECKING:
    from core.service.commands.table import Commands


def report_ingest(progress: ProgressCallback) -> OnProgress:
    """Return a listener that passes ingest progress on."""

    def report(change: Progress) -> None:
        if isinstance(change, IngestProgress):
            progress(change)

    return report


# Jobs


@operation
async def list_jobs(context: OperationContext, request: None) -> list[list[Job]]:
    return await context.parts.jobs.recent(context.workspace)


@operation
async def show_job(context: OperationContext, request: str) -> JobTree:
    tree = await context.parts.jobs.tree(request, context.workspace)
    histories = Histories(context.parts.conversations, context.parts.stores.corpus)
    return await histories.show_jobs(tree, await context.scope())


# Conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationView:
    conversation: Conversation
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewConversation:
    first: IncomingMessage
    title: str
    pinned_document_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    conversation_id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    conversation_id: str
    format: str


@operation
async def cancel_job(context: OperationContext, request: str) -> list[Job]:
    """Cancel a job and return its tree. The owner of the service may stop the questions of others."""
    jobs = context.parts.jobs
    if context.service is not None:
        tree = await jobs.tree(request, context.workspace)
        key = str(tree[0].input.get("message_key", ""))
        if key and (entries := await context.parts.inbox_store.find_open(key)):
            await context.service.stop_answer(key, entries[0].incoming.author)
            return tree
    return await jobs.cancel(request, context.workspace)


@operation
async def list_conversations(context: OperationContext, request: str | None) -> list[Conversation]:
    """List all conversations, or those about a document (its path, title or alias)."""
    document_id = (await context.find_document(request)).id if request else None
    return await context.parts.conversations.list_conversations(context.workspace, document_id)


@operation
async def open_conversation(context: OperationContext, request: str) -> Conversation:
    """Return a conversation without its messages."""
    return (await context.parts.conversations.show(request, context.workspace))[0]


@operation
async def show_conversation(context: OperationContext, request: str) -> ConversationView:
    """Return a conversation with its messages, redacted beyond the reader's positions."""
    found, messages = await _show(context, request)
    return ConversationView(conversation=found, messages=messages)


async def _show(context: OperationContext, conversation_id: str) -> tuple[Conversation, list[Message]]:
    histories = Histories(context.parts.conversations, context.parts.stores.corpus)
    return await histories.show(conversation_id, context.workspace, await context.scope())


@operation
async def create_conversation(context: OperationContext, request: NewConversation) -> Conversation:
    return await context.parts.conversations.create(
        request.first, title=request.title, pinned_document_id=request.pinned_document_id
    )


@operation
async def rename_conversation(context: OperationContext, request: Renaming) -> Conversation:
    return await context.parts.conversations.rename(request.conversation_id, context.workspace, request.title)


@operation
async def delete_conversation(context: OperationContext, request: str) -> None:
    await context.parts.conversations.delete(request, context.workspace, by=context.reader)


@operation
async def export(context: OperationContext, request: ExportRequest) -> ExportedFile:
    found, messages = await _show(context, request.conversation_id)
    return await export_conversation(found, messages, request.format)


@operation
async def list_stale(context: OperationContext, request: str | None) -> list[StaleAnswer]:
    """List the stale answers of the workspace, or of one conversation."""
    return await context.parts.staleness.list_stale(context.workspace, request)


@operation
async def run_command(context: OperationContext, request: CommandCall) -> CommandResult:
    return await _commands(context).run(request)


@operation
async def complete_line(context: OperationContext, request: CommandCall) -> list[str]:
    """Return the lines that continue the one in `argument`, for Tab in a terminal."""
    return await _commands(context).complete_line(request, request.argument)


def _commands(context: OperationContext) -> "Commands":
    from bot.wiring.pipeline import build_commands  # takes long to import

    return context.service.commands if context.service else build_commands(context.parts)


# Library


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRequest:
    paths: Sequence[Path]  # absolute
    source: str | None = None
    kind: str = "auto"
    readers: frozenset[str] = MEMBERS_ONLY  # of new sources
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """A page by its ID, or by document and number."""

    page_id: str | None = None
    document: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRemoval:
    removal: Removal
    is_configured: bool  # the next sync brings it back


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRequest:
    names: Sequence[str] = ()
    force: bool = False
    readers: Mapping[str, frozenset[str]] = field(default_factory=dict)  # of new sources, by name


@operation
async def ingest(context: OperationContext, request: IngestRequest) -> IngestReport:
    report = await context.parts.ingests.add(
        request.paths,
        context.workspace,
        source=request.source,
        kind=request.kind,
        readers=request.readers,
        by=context.reader,
        force=request.force,
        progress=context.emit,
    )
    if context.service is not None:
        context.service.count_ingest(report)
    return report


@operation
async def search(context: OperationContext, request: SearchRequest) -> SearchResult:
    scope = await context.scope()
    if request.kind is not None:
        readable = await context.parts.library.documents(scope)
        kinds = sorted({document.kind for document in readable if document.revision is not None})
        if request.kind not in kinds:
            raise BadInput(f"No document is of kind {request.kind!r}. Available kinds: {', '.join(kinds) or 'none'}.")
    return await queries.search(context.parts, scope, request)


@operation
async def show_page(context: OperationContext, request: PageRequest) -> PageResult:
    scope, library = await context.scope(), context.parts.library
    if request.page_id is not None:
        return await queries.show_page(context.parts, scope, await library.page(request.page_id, scope))
    view = await library.page_by_number(request.document, request.number, scope)
    return await queries.show_page(context.parts, scope, view)


@operation
async def find_document(context: OperationContext, request: str) -> Document:
    return await context.find_document(request)


@operation
async def list_documents(context: OperationContext, request: None) -> list[Document]:
    """List all documents of the workspace, even unreadable ones."""
    readable = {document.id: document for document in await context.parts.library.documents(await context.scope())}
    return [readable.get(item.id, item) for item in await context.parts.stores.corpus.list_documents(context.workspace)]


@operation
async def show_document(context: OperationContext, request: str) -> Document:
    return await context.parts.stores.corpus.get_document(
        (await context.find_document(request)).id, await context.scope()
    )


@operation
async def explain_empty(context: OperationContext, request: None) -> str | None:
    """Return why nothing in the workspace can be searched; None if documents can be."""
    return await context.parts.availability.explain(await context.scope())


@operation
async def remove_document(context: OperationContext, request: str) -> Removal:
    return await context.parts.library.remove_document(request, await context.scope(), by=context.reader)


@operation
async def list_library_sources(context: OperationContext, request: None) -> list[Source]:
    return await context.parts.library.sources(context.workspace)


@operation
async def list_sources(context: OperationContext, request: None) -> list[SourceStatus]:
    return await context.parts.syncs.overview(context.workspace)


@operation
async def remove_source(context: OperationContext, request: str) -> SourceRemoval:
    removal = await context.parts.library.remove_source(context.workspace, request, by=context.reader)
    await context.parts.syncs.forget(context.workspace, request)
    left = await context.parts.syncs.overview(context.workspace)
    return SourceRemoval(removal=removal, is_configured=any(status.name == request for status in left))


@operation
async def find_source(context: OperationContext, request: str) -> Source:
    return await context.parts.library.source(context.workspace, request)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadersChange:
    source: str
    readers: frozenset[str]


@operation
async def set_readers(context: OperationContext, request: ReadersChange) -> Source:
    """Replace a source's readers, and return it. Raises InvalidState if the configuration sets them."""
    named = (context.workspace, request.source)
    if any(spec.readers is not None and (spec.workspace, spec.name) == named for spec in context.parts.syncs.specs):
        raise InvalidState(
            f"The configuration sets the readers of {request.source!r}. Change `readers` under its [[sources]] in "
            "config.toml, and run `footnote sync`."
        )
    return await context.parts.library.set_readers(
        context.workspace, request.source, request.readers, by=context.reader
    )


@operation
async def sync(context: OperationContext, request: SyncRequest) -> list[SyncReport]:
    return await context.parts.syncs.sync(
        context.workspace, request.names, force=request.force, readers=request.readers, progress=context.emit
    )


# Workspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A server or team, by name or id, and the workspace that it is to read; None: its own."""

    platform: str
    name: str
    workspace: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The workspace that a server or team reads now, and all workspaces after that."""

    team: BoundTeam
    states: Sequence[WorkspaceState]


@operation
async def list_workspaces(context: OperationContext, request: None) -> list[WorkspaceState]:
    return await workspaces_of(context.parts).list_states()


@operation
async def bind_workspace(context: OperationContext, request: Binding) -> Bound:
    """Bind a server or team, or undo it."""
    bindings = context.parts.bindings
    if request.workspace is None:
        team = await bindings.unbind(request.platform, request.name, by=context.reader)
    else:
        team = await bindings.bind(request.platform, request.name, request.workspace, by=context.reader)
    return Bound(team=team, states=await workspaces_of(context.parts).list_states())


# Extracted data


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRequest:
    document: str | None = None  # path, title or alias
    extractor: str | None = None
    force: bool = False


@operation
async def extract(context: OperationContext, request: ExtractionRequest) -> ExtractionReport:
    ids = [(await context.find_document(request.document)).id] if request.document else None
    return await context.parts.extractions.run(
        context.workspace, document_ids=ids, extractor=request.extractor, force=request.force, progress=context.emit
    )


@operation
async def list_extracts(context: OperationContext, request: ExtractsRequest) -> ExtractsResult:
    return await queries.list_extracts(context.parts, await context.scope(), request)


@operation
async def find_facts(context: OperationContext, request: FactsRequest) -> FoundFacts:
    return await queries.find_facts(context.parts, await context.scope(), request)


@operation
async def show_ontology(context: OperationContext, request: None) -> Ontology:
    return await context.parts.facts.ontology(await context.scope())


# Insights


@operation
async def show_statistics(context: OperationContext, request: float) -> Statistics:
    """Return the usage of that many days."""
    return await context.parts.statistics.of(await context.scope(), request)


@operation
async def explain_access(context: OperationContext, request: AccessQuestion) -> Explanation:
    parts = context.parts
    return await Explanations(parts.access, parts.library, parts.stores.corpus).of(request)


# Storage


@operation
async def show_storage(context: OperationContext, request: None) -> StorageStatus:
    return await context.parts.maintenance.status()


@operation
async def check_storage(context: OperationContext, request: None) -> list[str]:
    return await context.parts.maintenance.check()


@operation
async def reindex(context: OperationContext, request: bool) -> RepairReport:
    """Add missing passages to the search index; with True, rebuild it from scratch."""
    if request and context.service is not None:
        raise InvalidState("The Footnote service is using the search index. Stop it, then repeat the command.")
    if request and context.parts.config.index.url:
        raise InvalidState(
            "The search index is on a Qdrant server, where others may use it: name a new [index] collection, and "
            "build that one with `footnote db reindex`."
        )
    if request:
        await asyncio.to_thread(context.parts.clear_index)
    return await context.parts.maintenance.reindex(context.emit)


@operation
async def back_up(context: OperationContext, request: Path) -> int:
    """Write a backup and return its size in bytes."""
    return await context.parts.maintenance.database.back_up(request)


@operation
async def new_web_link(context: OperationContext, request: bool) -> str:
    """Return a new one-time link to the pages; with True, to set-up. InvalidState without a service."""
    if context.service is None:
        raise InvalidState("The web app needs a running service. Run `footnote serve`.")
    return await context.service.new_web_link(request)
