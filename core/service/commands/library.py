"""Commands that read the library: sources, search, pages, and the passage behind a footnote."""

from collections.abc import Mapping, Sequence

from core.access.scopes import ATTACHMENTS, Access
from core.answering.answers.passages import surroundings
from core.domain.conversation import Message, Role, ThreadAddress
from core.domain.corpus import Document, SearchQuery, SearchScope, Source
from core.errors import BadInput, NotFound
from core.features.export import footnote_label
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.text.markup import preview
from core.text.words import collapse, is_number
from core.work.commands import (
    Command,
    CommandCall,
    CommandResult,
    Option,
    OptionKind,
    SourceRow,
    current,
    readable_by,
    required,
)
from core.work.conversations import Conversations

LISTED = 20  # failures of a source in a chat; more is a wall
SEARCH_LIMIT = 5
PAGE_CHARACTERS = 3_000  # of a page shown in a chat

_NUMBER = Option(name="number", help="the page's number, from 1", kind=OptionKind.NUMBER, required=True)


class LibraryCommands:
    """The rows of the table about the library. Every read goes through the scope of where the command was given."""

    def __init__(
        self, library: Library, corpus: CorpusRepository, access: Access, conversations: Conversations
    ) -> None:
        self._library = library
        self._corpus = corpus
        self._access = access
        self._conversations = conversations

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(name="sources", usage="", help="list the sources readable here", run=self._sources),
            Command(
                name="search",
                usage="WORDS",
                help="search pages",
                run=self._search,
                options=(Option(name="words", help="what to search for", required=True),),
            ),
            Command(
                name="page",
                usage="DOCUMENT NUMBER",
                help="read a page",
                run=self._page,
                options=(
                    Option(name="document", help="path, title or alias", kind=OptionKind.DOCUMENT, required=True),
                    _NUMBER,
                ),
                parse=parse_page,
            ),
            Command(
                name="source",
                usage="N",
                help="show the passage behind footnote N",
                run=self._source,
                options=(
                    Option(name="footnote", help="a number of the last answer", kind=OptionKind.NUMBER, required=True),
                ),
            ),
        )

    async def _sources(self, call: CommandCall) -> CommandResult:
        sources = await self._access.sources(call.workspace, call.address)
        documents = await self._corpus.list_documents(call.workspace, frozenset(source.id for source in sources))
        rows = tuple(_to_row(source, documents) for source in sources)
        lines = []
        for row in rows:
            lines.append(f"- **{row.name}**: {_count(row.documents)}, {len(row.failures)} could not be read")
            lines += [f"  - {path}: {reason}" for path, reason in row.failures[:LISTED]]
            if len(row.failures) > LISTED:
                lines.append(f"  - and {len(row.failures) - LISTED} more")
        empty = "Nothing can be read here: add documents with `footnote ingest PATH`, or allow sources with /settings."
        return CommandResult(text="\n".join(lines) or empty, rows=rows)

    async def _search(self, call: CommandCall) -> CommandResult:
        query = SearchQuery(text=required(call, "words", "what to search for"), limit=SEARCH_LIMIT)
        hits = await self._library.search(query, await self._scope(call))
        rows = [
            f"{number}. **{hit.document.title}**, {' > '.join([f'page {hit.page_number}', *hit.heading_path])}\n"
            f"   {preview(hit.passages[0].passage.text, hit.document.kind, 160)}"
            for number, hit in enumerate(hits, start=1)
        ]
        return CommandResult(text="\n".join(rows) or "Nothing found. Try other words.")

    async def _page(self, call: CommandCall) -> CommandResult:
        name, number = required(call, "document", "a document and a page number"), call.option("number")
        if not is_number(number):
            raise BadInput("Add the document and the page number, for example: /page handbook.md 2")
        found = await self._library.page_by_number(name, int(number), await self._scope(call))
        text = found.page.text[:PAGE_CHARACTERS]
        more = "" if len(found.page.text) <= PAGE_CHARACTERS else "\n\n… (the page goes on)"
        return CommandResult(text=f"**{found.document.title}**, page {found.page.number}\n\n{text}{more}")

    async def _source(self, call: CommandCall) -> CommandResult:
        wanted = call.option("footnote").strip("[]")
        last = await last_answer(self._conversations, call)
        citation = next((item for item in last.citations if str(item.number) == wanted), None)
        if citation is None:
            numbers = ", ".join(str(item.number) for item in last.citations) or "none"
            raise BadInput(f"The last answer has no footnote {wanted!r}; it has {numbers}.")
        around = await surroundings(citation, self._corpus, await self._scope(call, _own_thread(call)))
        if not around.quote:
            raise NotFound(around.note)
        citation = around.now or citation
        shown = " ".join(part for part in (around.before, f"**{collapse(around.quote)}**", around.behind) if part)
        return CommandResult(
            text="\n\n".join(part for part in (footnote_label(citation), around.note, shown) if part),
            citation=citation,
        )

    async def _scope(self, call: CommandCall, address: ThreadAddress | None = None) -> SearchScope:
        return await readable_by(call, self._access, address)


def _own_thread(call: CommandCall) -> ThreadAddress | None:
    """Return the caller's private thread, if the conversation continues only there."""
    address = current(call).address
    return address if address.private_to == call.author else None


async def last_answer(conversations: Conversations, call: CommandCall) -> Message:
    """Return the newest answer of the conversation, without notes. BadInput if it has none."""
    _, messages = await conversations.show(current(call).id, call.workspace)
    answers = [message for message in messages if message.role is Role.ASSISTANT and not message.is_note]
    if not answers:
        raise BadInput("This conversation doesn't have an answer yet.")
    return answers[-1]


def parse_page(options: Sequence[Option], argument: str) -> Mapping[str, str]:
    """The number is the last word; the document may have several."""
    name, _, number = argument.strip().rpartition(" ")
    return {"document": name, "number": number} if name else {"document": number}


def _to_row(source: Source, documents: Sequence[Document]) -> SourceRow:
    own = [item for item in documents if item.source_id == source.id]
    failed = tuple((item.path, item.failed_reason) for item in own if item.failed_reason)
    name = source.name if source.kind != ATTACHMENTS else "attached in this thread"
    return SourceRow(name=name, documents=len(own) - len(failed), failures=failed)


def _count(documents: int) -> str:
    return "1 document" if documents == 1 else f"{documents} documents"
