"""Interfaces of everything outside core. Each docstring is a contract on which implementations are tested.

Everything is async: an implementation that blocks (SQLite, embedding, parsing) does so in a thread or a child process.
Reads of document text take a SearchScope and apply it inside the query.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from core.domain.answer import Draft, Evidence, ListedFacts
from core.domain.audit import Audit
from core.domain.chat import (
    Capabilities,
    ChatMessage,
    ChatRequest,
    PageImage,
    PagePart,
    ToolDefinition,
    ToolInvocation,
    ToolResult,
)
from core.domain.conversation import Conversation, Focus, Message
from core.domain.corpus import (
    Document,
    FileStamp,
    LibrarySummary,
    Page,
    SearchQuery,
    SearchScope,
    Source,
    SourcedPassage,
)
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.domain.jobs import Job
from core.domain.kept_answers import KeptRule
from core.domain.passages import IndexEntry, IndexHit, Passage, ScoredSpan
from core.domain.readers import Narrowing
from core.domain.replies import ChatResponse
from core.domain.turns import Reading, Turn


class Clock(Protocol):
    def now(self) -> datetime:
        """Return aware UTC time."""

    def monotonic(self) -> float:
        """Return seconds since some fixed moment; for durations only."""


class ChatProvider(Protocol):
    """A model. Raises ProviderError or UnsupportedFeature, never a vendor's errors."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        """Run one turn. `on_text` gets pieces of `response.text` as they arrive (none, some or all), never tool input.

        Retries by itself; raises ProviderError after the last attempt.
        """

    async def close(self) -> None:
        """Release connections; safe to repeat."""


class ProgressSink(Protocol):
    """Display of a running answer. Calls never fail and never block."""

    def text(self, piece: str) -> None:
        """Show a piece of the draft, without footnote links."""

    def reset(self) -> None:
        """Discard the pieces so far: they came before a tool call."""

    def step(self, job: Job) -> None:
        """Report the start or the end of a job of this answer."""


class Tools(Protocol):
    """The tools of one question, bound to its scope: the model can neither widen nor see it."""

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]: ...

    @property
    def evidence(self) -> Evidence:
        """All passages shown so far, adopted ones included, and the searches of this run."""

    def adopt(self, history: Sequence[ChatMessage]) -> None:
        """Take over the passages of earlier turns with their numbers; new passages get higher numbers.

        Called before the first `invoke`; a repeat with the same history changes nothing. An answer may cite passages
        of earlier questions.
        """

    @property
    def background(self) -> str:
        """The day and the library in numbers, which a model reads before the conversation; "" for none."""

    def opening(self) -> tuple[ChatMessage, ...]:
        """Return the turns between the question and its first request, after `adopt`; mostly none.

        They hold the documents that the question refers to: citable, and new in the history. Safe to repeat.
        """

    def problem(self, invocation: ToolInvocation) -> str | None:
        """Return a sentence about a wrong call before it runs; None if it can run."""

    async def invoke(
        self, invocation: ToolInvocation, key: str | None = None, *, uses_models: bool = True
    ) -> ToolResult:
        """Run a call. Errors of the model (unknown tool, bad arguments, ToolError) become error results.

        `key` is the key of the job that was queued for the call (core/work/steps.py), or None. Without `uses_models`
        the tool reads with no model of its own: long texts are cut, with a note.
        """

    async def list_facts(self, question: str, *, computes: bool = False) -> ListedFacts | None:
        """Return the extracted rows that a question clearly asks for (list_intent.py), with their passages as
        evidence; with `computes`, also what one table answers (table_questions.py), with the rows it rests on.

        None for another kind of question, or if no row fits.
        """


class RetrievalStrategy(Protocol):
    @property
    def name(self) -> str: ...

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        """Draft an answer within bounds of steps, tokens and seconds; else it is `partial`. Raises ProviderError."""


class ContextStrategy(Protocol):
    async def select(self, messages: Sequence[Message], scope: SearchScope, budget_tokens: int) -> list[ChatMessage]:
        """Return prompt turns for a history (oldest first): whole turns, at most about `budget_tokens`, newest kept.

        Every tool result keeps its invocation. Passages are reread within `scope`.
        """


class SearchIndex(Protocol):
    """Hybrid search over passages: text and scope in, hits out; vectors stay inside. Ids make `add` safe to repeat."""

    async def add(self, entries: Sequence[IndexEntry]) -> None:
        """Embed and store; an entry of the same passage id is replaced. Durable when it returns."""

    async def search(self, query: SearchQuery, scope: SearchScope) -> list[IndexHit]:
        """Return at most `query.limit` hits, best first, none outside `scope` (an empty `scope.sources` finds
        nothing).

        Equal scores are ordered by passage id. A query without any letter or digit finds nothing.
        """

    async def remove_revision(self, document_id: str, revision: str) -> None:
        """Remove the passages of one revision; unknown ones are ignored."""

    async def remove_document(self, document_id: str) -> None:
        """Remove all revisions of a document; unknown ones are ignored."""

    async def revisions(self) -> dict[tuple[str, str], int]:
        """Count the stored passages of each (document id, revision), over all workspaces.

        Comparable with the library's `live_revisions`.
        """

    async def count(self) -> int:
        """Count the stored passages."""

    async def optimise(self) -> None:
        """Called once after a batch of writes: fit statistics (BM25 length), compact. May do nothing."""

    async def erase(self) -> None:
        """Leave no bytes of removed passages on the disk, if any were removed. Searches may wait meanwhile.

        An index on a server is left to the server.
        """

    async def close(self) -> None: ...


class CorpusRepository(Protocol):
    """Sources, documents, pages and passages. A document switches to a new revision in one commit."""

    async def save_source(self, source: Source, *, audit: Audit = None) -> None:
        """Insert or replace by id; a known source keeps its readers.

        Raises InvalidState if another source of the workspace has the name.
        """

    async def set_readers(self, source_id: str, readers: frozenset[str], *, audit: Audit = None) -> None:
        """Replace a source's readers; unknown ids are ignored. Durable when it returns."""

    async def narrow(self, source_id: str, narrowings: Mapping[str, Narrowing], *, audit: Audit = None) -> None:
        """Replace the limits of documents of a source, by id, in one commit. The documents need not be there yet.

        Limits stay when a document is removed, for its return. Durable when it returns.
        """

    async def narrowed(self, workspace: str) -> Mapping[str, Narrowing]:
        """Map the id of each document with limits of its own to them."""

    async def kept_rules(self, workspace: str) -> list[KeptRule]:
        """Return the readers of the kept answers: a rule for each document of their source, oldest first."""

    async def find_source(self, workspace: str, name: str) -> Source | None: ...

    async def list_sources(self, workspace: str) -> list[Source]:
        """Return sources by name."""

    async def remove_source(self, source_id: str, *, audit: Audit = None) -> None:
        """Remove a source with its documents, as `remove_documents` does; unknown ids are ignored."""

    async def list_documents(self, workspace: str, source_ids: frozenset[str] | None = None) -> list[Document]:
        """Return documents by source name, then path; failed ones, too.

        None: of all sources. They count all their pages.
        """

    async def list_readable(self, scope: SearchScope) -> list[Document]:
        """List documents within a scope: they count pages and passages up to the reading positions."""

    async def summarise(self, scope: SearchScope, newest: int) -> LibrarySummary:
        """Count the documents with text within a scope, and return the `newest` ones of them.

        Costs milliseconds for any library.
        """

    async def count_documents(self, *, except_kind: str) -> Mapping[str, int]:
        """Count the documents with text of each workspace that has a source; sources of one kind don't count."""

    async def has_text(self, scope: SearchScope) -> bool:
        """Return whether any page can be read within a scope. Costs milliseconds for any library."""

    async def version(self, workspace: str) -> str:
        """Return a version that differs after every change of a source or a document.

        Failures and stamps of files may not change it. Costs milliseconds for any library.
        """

    async def get_document(self, document_id: str, scope: SearchScope) -> Document:
        """Raise NotFound outside the scope. Pages and passages are counted up to the reading position."""

    async def find_documents(self, document_ids: Sequence[str], scope: SearchScope) -> list[Document]:
        """Return several documents in the order asked for, without documents outside the scope."""

    async def switch_revision(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
        """Make `document.revision` the only one: in one commit, with its pages and passages; old ones are removed.

        The stored counts are the numbers of `pages` and `passages`. Raises NotFound if the workspace has no such
        source, and ValueError (a bug of the caller) if a part is of another revision, or a passage isn't
        `page.text[span]`.
        """

    async def save_failure(self, document: Document) -> None:
        """Record `failed_reason` and stamp; pages of the last good revision stay readable.

        Raises NotFound if the workspace has no such source.
        """

    async def touch(
        self, document_id: str, stamp: FileStamp, hidden: Sequence[str] | None = None, dated: str | None = None
    ) -> None:
        """Update the stamp of a file with unchanged pages and, unless `hidden` is None, both that and `dated`."""

    async def remove_documents(self, document_ids: Sequence[str], *, by: str = "") -> None:
        """Remove documents with their pages and passages, and empty answers that rest on them; unknown ids are ignored.

        Answers, their steps and recordings lose their texts, and their posts will be replaced, by the same commit. So
        do the focus and the pins of conversations. `by`: the person who removes each, for the audit log.
        """

    async def redact_lost(self) -> int:
        """Empty the answers that rest on removed documents; return their number."""

    async def live_revisions(self) -> dict[tuple[str, str], int]:
        """Count the readable passages of each (document id, revision), over all workspaces.

        The search index has to hold exactly these.
        """

    async def list_live_passages(self, document_id: str) -> list[SourcedPassage]:
        """Return all passages of a document's live revision, in text order; empty for unknown ids.

        It takes no scope: for building the index, never for display.
        """

    async def find_texts(self, workspace: str, texts: Sequence[str]) -> list[tuple[str, int, int]]:
        """Return (document id, page number, place in `texts`) for the pages that hold a text; "_" is any character.

        It takes no scope: to compare documents, never for display. It reads all pages: 26 ms for 16 texts and 2.4 MB.
        """

    async def get_page(self, page_id: str, scope: SearchScope) -> Page:
        """Raise NotFound for unknown ids, old revisions, and pages outside the scope."""

    async def find_page(self, document_id: str, number: int, scope: SearchScope) -> Page | None: ...

    async def find_pages(self, document_id: str, numbers: Sequence[int], scope: SearchScope) -> list[Page]:
        """Return the existing pages, in the order asked for."""

    async def list_pages(self, document_id: str, scope: SearchScope) -> list[Page]:
        """Return pages in order; empty outside the scope."""

    async def list_passages(self, passage_ids: Sequence[str], scope: SearchScope) -> list[SourcedPassage]:
        """Return passages in the order asked for, without unknown, old and unreadable ones."""

    async def list_page_passages(self, page_id: str, scope: SearchScope) -> list[SourcedPassage]:
        """Return passages in text order; empty outside the scope."""


class ConversationRepository(Protocol):
    """Conversations and their messages: deleting a conversation deletes its messages."""

    async def add(self, conversation: Conversation, messages: Sequence[Message] = ()) -> None:
        """Store a conversation with its first messages, in one commit (`message_count` is ignored).

        Raises InvalidState if its id, its thread address or the id of a message is taken.
        """

    async def get(self, conversation_id: str, workspace: str) -> Conversation:
        """Raise NotFound for unknown ids and for other workspaces' conversations."""

    async def find_by_address(self, address: ThreadAddress) -> Conversation | None: ...

    async def find_by_message(self, message_id: str) -> Conversation | None:
        """Return the conversation of a message, whatever its workspace."""

    async def read(self, conversation_id: str, workspace: str) -> tuple[Conversation, list[Message]]:
        """Return `get` and `list_messages` of the same moment."""

    async def read_thread(self, address: ThreadAddress) -> tuple[Conversation, list[Message]] | None:
        """Read the conversation of a thread; None if it has none."""

    async def list_conversations(
        self,
        workspace: str,
        document_id: str | None = None,
        *,
        owner: str | None = None,
        channel: ChannelAddress | None = None,
    ) -> list[Conversation]:
        """Return conversations to which all filters apply, most recently used first.

        A document's conversations are pinned to it, focused on it, or cite it.
        """

    async def rename(self, conversation_id: str, title: str) -> None:
        """Raise NotFound for an unknown conversation."""

    async def delete(self, conversation_id: str, *, audit: Audit = None) -> None:
        """Delete it with its messages, their texts in the inbox and in job trees, and later its posts.

        Durable, in one commit. Unknown ids are ignored.
        """

    async def append(self, conversation_id: str, messages: Sequence[Message], *, focus: Focus | None = None) -> None:
        """Append in this order, in one commit; `last_message_at` moves forward, never back. A focus is set, too.

        Raises NotFound for an unknown conversation, InvalidState if a message id is taken.
        """

    async def list_messages(self, conversation_id: str) -> list[Message]:
        """Return messages, oldest first."""

    async def find_message(self, message_id: str) -> Message | None: ...

    async def remove_messages(self, conversation_id: str, message_ids: Collection[str]) -> None:
        """Ignore unknown ids, and ids of other conversations. Messages appended later still come last."""

    async def count_about(self, documents: Sequence[Document]) -> int:
        """Count the conversations that are pinned to documents, focused on them, or have answers that rest on them."""


@runtime_checkable
class LearningProvider(Protocol):
    """A ChatProvider that has to ask for its capabilities."""

    async def learn(self) -> Capabilities:
        """Return the capabilities after a few small requests; asked once and remembered. Raises ProviderError.

        Until then, `capabilities` holds assumptions.
        """


@runtime_checkable
class CheckedProvider(Protocol):
    """A ChatProvider that depends on something outside this process."""

    async def check(self) -> None:
        """Make one small request or a few. Raises ProviderError with the next step if it can't be used."""


@runtime_checkable
class ModelCatalogue(Protocol):
    """A ChatProvider that can tell which models there are."""

    async def check_model(self, model: str) -> None:
        """Raise ProviderBadRequest if there is no such model; other ProviderErrors if the server can't say."""


class CapabilityMemory(Protocol):
    """Learned capabilities of models, kept between runs. The key names a server's model."""

    async def find(self, key: str) -> Capabilities | None:
        """Return None for an unknown key, or one so old that it has to be learned again."""

    async def keep(self, key: str, found: Capabilities) -> None:
        """Insert or replace. Failures are no error: the capabilities are learned again."""


class PagePictures(Protocol):
    """Pages as images, for models that see."""

    async def picture_of(self, document: Document, page: Page, part: PagePart = PagePart.WHOLE) -> PageImage:
        """Return an image of a part of the page from its file, bounded in pixels and bytes.

        The caller has read both within its scope. Raises NotFound, with the reason, if there is no image: other kinds
        than PDF, missing or changed files.
        """


class SentenceRanker(Protocol):
    async def rank(self, question: str, passages: Sequence[SourcedPassage], limit: int = 10) -> list[ScoredSpan]:
        """Return sentences that may answer `question`, best first, at most `limit`. Empty in, empty out."""


class AnswerJudge(Protocol):
    async def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        """Rate how well each text answers the question, 0..1, in the given order (a cross-encoder's sigmoid)."""


class SupportModel(Protocol):
    async def support(self, sentence: str, quotes: str) -> float:
        """Return the probability that quotes say what a sentence does, 0..1. Raises ModelMissing."""


class TurnModel(Protocol):
    async def read(self, turn: Turn) -> Reading:
        """Return the kind of a message, in milliseconds. Raises ModelMissing."""
