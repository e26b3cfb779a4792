"""The one command table: what people can do beside asking. Adapters bind it; the use cases are here."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from core.access import scope_for
from core.conversations import Conversations
from core.domain.conversation import Conversation, Message, Role
from core.domain.corpus import SearchQuery, SearchScope
from core.errors import BadInput
from core.export import FORMATS, footnote_label, to_json, to_markdown
from core.jobs import Jobs
from core.library import Library
from core.ports import CorpusRepository
from core.texts import collapse, shorten

LISTED = 20  # rows of a list in a chat; more is a wall
SEARCH_LIMIT = 5
PAGE_CHARACTERS = 3_000  # of a page shown in a chat


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """A command as somebody gave it, and where."""

    name: str
    argument: str
    workspace: str
    conversation: Conversation | None  # the thread it was given in; None: none is open yet


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """Markdown to show, and what the adapter does then."""

    text: str
    open_conversation: Conversation | None = None  # go on in this one
    start_new: bool = False  # the next question begins a conversation
    file_name: str | None = None  # `text` is a file's content, to hand over under this name


Handler = Callable[[CommandCall], Awaitable[CommandResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    name: str
    usage: str  # its argument, as help shows it
    help: str
    run: Handler
    control: bool = False  # answered at once, never queued behind a running question


class Commands:
    """The table, bound to the use cases."""

    def __init__(self, *, library: Library, corpus: CorpusRepository, conversations: Conversations, jobs: Jobs) -> None:
        self._library = library
        self._corpus = corpus
        self._conversations = conversations
        self._jobs = jobs
        table = (
            Command(name="threads", usage="", help="list conversations", run=self._threads),
            Command(name="open", usage="ID or number", help="go on in another conversation", run=self._open),
            Command(name="new", usage="", help="start a new conversation", run=self._new),
            Command(name="rename", usage="TITLE", help="rename this conversation", run=self._rename),
            Command(name="delete", usage="", help="delete this conversation", run=self._delete),
            Command(name="export", usage="[markdown|json]", help="this conversation as a file", run=self._export),
            Command(name="sources", usage="", help="what can be read here", run=self._sources),
            Command(name="search", usage="WORDS", help="search pages", run=self._search),
            Command(name="page", usage="DOCUMENT NUMBER", help="read a page", run=self._page),
            Command(name="source", usage="N", help="the passage behind footnote N", run=self._source),
            Command(name="jobs", usage="", help="how the last answer was made", run=self._how, control=True),
            Command(name="help", usage="", help="this list", run=self._help, control=True),
        )
        self.table: Mapping[str, Command] = {command.name: command for command in table}

    async def run(self, call: CommandCall) -> CommandResult:
        """BadInput for an unknown command, naming the nearest ones; other errors as the use cases raise them."""
        command = self.table.get(call.name)
        if command is None:
            near = [name for name in self.table if name.startswith(call.name[:1])] or ["help"]
            raise BadInput(f"There is no command /{call.name}: did you mean {' or '.join(f'/{n}' for n in near)}?")
        return await command.run(call)

    async def _help(self, call: CommandCall) -> CommandResult:
        rows = [f"- `{f'/{item.name} {item.usage}'.strip()}`: {item.help}" for item in self.table.values()]
        return CommandResult(text="\n".join(rows))

    async def _threads(self, call: CommandCall) -> CommandResult:
        found = await self._listed(call)
        rows = [
            f"{number}. {item.title or '(no title)'} ({item.address.platform}, {item.message_count} messages, "
            f"`{item.id}`)"
            for number, item in enumerate(found[:LISTED], start=1)
        ]
        return CommandResult(text="\n".join(rows) or "There are no conversations yet: ask something.")

    async def _open(self, call: CommandCall) -> CommandResult:
        found = await self._listed(call)
        wanted = call.argument.strip()
        if wanted.isdigit() and 1 <= int(wanted) <= len(found):
            conversation = found[int(wanted) - 1]
        else:
            conversation, _ = await self._conversations.show(wanted, call.workspace)
        return CommandResult(text=f"Going on in “{conversation.title}”.", open_conversation=conversation)

    async def _listed(self, call: CommandCall) -> list[Conversation]:
        found = await self._conversations.list_conversations(call.workspace)
        return [item for item in found if not item.is_channel_talk]

    async def _new(self, call: CommandCall) -> CommandResult:
        return CommandResult(text="Your next question starts a new conversation.", start_new=True)

    async def _rename(self, call: CommandCall) -> CommandResult:
        current = _current(call)
        renamed = await self._conversations.rename(current.id, call.workspace, call.argument)
        return CommandResult(text=f"Renamed to “{renamed.title}”.", open_conversation=renamed)

    async def _delete(self, call: CommandCall) -> CommandResult:
        current = _current(call)
        await self._conversations.delete(current.id, call.workspace)
        return CommandResult(text=f"Deleted “{current.title}” with its messages.", start_new=True)

    async def _export(self, call: CommandCall) -> CommandResult:
        conversation, messages = await self._conversations.show(_current(call).id, call.workspace)
        wanted = call.argument.strip().lower() or "markdown"
        if wanted not in FORMATS:
            raise BadInput(f"There is no export format {wanted!r}: use {' or '.join(FORMATS)}.")
        text = to_json(conversation, messages) if wanted == "json" else to_markdown(conversation, messages)
        return CommandResult(text=text, file_name=f"conversation-{conversation.id[:8]}{FORMATS[wanted]}")

    async def _sources(self, call: CommandCall) -> CommandResult:
        scope = await self._scope(call)
        documents = await self._corpus.list_documents(call.workspace, scope.sources)
        rows = []
        for source in await self._corpus.list_sources(call.workspace):
            own = [item for item in documents if item.source_id == source.id]
            failed = [item for item in own if item.failed_reason]
            rows.append(f"- **{source.name}**: {len(own) - len(failed)} documents, {len(failed)} could not be read")
            rows += [f"  - {item.path}: {item.failed_reason}" for item in failed[:LISTED]]
        return CommandResult(text="\n".join(rows) or "The library is empty: add documents with `footnote ingest PATH`.")

    async def _search(self, call: CommandCall) -> CommandResult:
        query = SearchQuery(text=_argument(call, "what to search for"), limit=SEARCH_LIMIT)
        hits = await self._library.search(query, await self._scope(call))
        rows = [
            f"{number}. **{hit.document.title}**, {' > '.join([f'page {hit.page_number}', *hit.heading_path])}\n"
            f"   {shorten(hit.passages[0].passage.text, 160)}"
            for number, hit in enumerate(hits, start=1)
        ]
        return CommandResult(text="\n".join(rows) or "Nothing found. Try other words.")

    async def _page(self, call: CommandCall) -> CommandResult:
        name, _, number = _argument(call, "a document and a page number").rpartition(" ")
        if not name or not number.isdigit():
            raise BadInput("Write the document and the page number: /page handbook.md 2")
        found = await self._library.page_by_number(name, int(number), await self._scope(call))
        text = found.page.text[:PAGE_CHARACTERS]
        more = "" if len(found.page.text) <= PAGE_CHARACTERS else "\n\n… (the page goes on)"
        return CommandResult(text=f"**{found.document.title}**, page {found.page.number}\n\n{text}{more}")

    async def _source(self, call: CommandCall) -> CommandResult:
        wanted = call.argument.strip().strip("[]")
        last = await self._last_answer(call)
        citation = next((item for item in last.citations if str(item.number) == wanted), None)
        if citation is None:
            numbers = ", ".join(str(item.number) for item in last.citations) or "none"
            raise BadInput(f"The last answer has no footnote {wanted!r}; it has {numbers}.")
        page = await self._corpus.get_page(citation.page_id, await self._scope(call))
        before = collapse(page.text[max(0, citation.span.start - 300) : citation.span.start])
        after = collapse(page.text[citation.span.end : citation.span.end + 300])
        return CommandResult(text=f"{footnote_label(citation)}\n\n… {before} **{collapse(citation.quote)}** {after} …")

    async def _how(self, call: CommandCall) -> CommandResult:
        last = await self._last_answer(call)
        if last.job_id is None:
            return CommandResult(text="No steps were recorded for the last answer.")
        depth: dict[str, int] = {}
        rows = []
        for job in await self._jobs.tree(last.job_id, call.workspace):
            depth[job.id] = depth.get(job.parent_id or "", -1) + 1
            took = f", {job.duration_ms:.0f} ms" if job.duration_ms is not None else ""
            asked = job.input.get("query") or job.input.get("question") or ""
            rows.append(f"{'  ' * depth[job.id]}- {job.name}: {job.status.value}{took} {asked}".rstrip())
        return CommandResult(text="\n".join(rows))

    async def _last_answer(self, call: CommandCall) -> Message:
        _, messages = await self._conversations.show(_current(call).id, call.workspace)
        answers = [message for message in messages if message.role is Role.ASSISTANT]
        if not answers:
            raise BadInput("There is no answer in this conversation yet.")
        return answers[-1]

    async def _scope(self, call: CommandCall) -> SearchScope:
        return await scope_for(call.workspace, self._corpus)


def _current(call: CommandCall) -> Conversation:
    if call.conversation is None:
        raise BadInput(f"/{call.name} needs a conversation: ask something first, or /open one.")
    return call.conversation


def _argument(call: CommandCall, what: str) -> str:
    if not call.argument.strip():
        raise BadInput(f"/{call.name} needs {what} behind it.")
    return call.argument.strip()
