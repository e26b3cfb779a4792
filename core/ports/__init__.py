"""What core needs from outside, as small protocols. Each docstring is the contract its implementations are tested on.

Everything is async: an implementation that blocks (SQLite, embedding, parsing) does so in a thread or a child process.
Read methods that hand out document text take a SearchScope and apply it inside the query.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from core.domain.answer import (
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    Draft,
    Evidence,
    ListedFacts,
    PageImage,
    ToolDefinition,
    ToolInvocation,
    ToolResult,
)
from core.domain.conversation import ChannelAddress, Conversation, Focus, IncomingMessage, Message, ThreadAddress
from core.domain.corpus import (
    Document,
    FileStamp,
    IndexEntry,
    IndexHit,
    Page,
    Passage,
    ScoredSpan,
    SearchQuery,
    SearchScope,
    Source,
    SourcedPassage,
)
from core.domain.jobs import Job


class Clock(Protocol):
    def now(self) -> datetime:
        """Aware UTC time."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; for durations only."""


class ChatProvider(Protocol):
    """A model. Errors are ProviderError or UnsupportedFeature, never a vendor's."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    async def complete(self, request: ChatRequest, on_text: Callable[[str], None] | None = None) -> ChatResponse:
        """One turn. `on_text` gets pieces of `response.text` as they arrive (none, some or all), never tool input.

        Retries what is worth it by itself; raises ProviderError at the end of its patience.
        """

    async def close(self) -> None:
        """Release connections; safe to repeat."""


class ProgressSink(Protocol):
    """Where a running answer shows itself. Calls never fail and never block."""

    def text(self, piece: str) -> None:
        """A piece of the draft, to be shown without footnote links."""

    def reset(self) -> None:
        """Forget the pieces so far: they stood before a tool call."""

    def step(self, job: Job) -> None:
        """A job of this answer began or ended."""


class Tools(Protocol):
    """The tools of one question, bound to its scope: the model can neither widen nor see it."""

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]: ...

    @property
    def evidence(self) -> Evidence:
        """All passages shown so far, adopted ones included, and what was searched for in this run."""

    def adopt(self, history: Sequence[ChatMessage]) -> None:
        """Take over the passages of earlier turns under the numbers they bear there; new ones get higher numbers.

        Called before the first `invoke` (again with the same history changes nothing): an answer may cite what an
        earlier question found.
        """

    def opening(self) -> tuple[ChatMessage, ...]:
        """The turns that stand behind the question before its first request, after `adopt`; mostly none.

        What the question refers to, read already: citable, and new in the history. Safe to repeat.
        """

    def problem(self, invocation: ToolInvocation) -> str | None:
        """What a model did wrong with a call, in a sentence, before anything is run; None: it can be run."""

    async def invoke(self, invocation: ToolInvocation, key: str | None = None) -> ToolResult:
        """Never raises for what a model can do wrong: unknown tool, bad arguments, ToolError become error results.

        `key` is that of the job that was queued for it (core/work/steps.py), where one was.
        """

    async def list_facts(self, question: str) -> ListedFacts | None:
        """The extracted rows that a question clearly asks for (list_intent.py); None where it asks for something
        else, or no row fits. Their passages are evidence, as those of an `invoke` are.
        """


class RetrievalStrategy(Protocol):
    @property
    def name(self) -> str: ...

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        """Bounded in steps, tokens and seconds: at a bound the draft is `partial`. Raises ProviderError."""


class ContextStrategy(Protocol):
    async def select(self, messages: Sequence[Message], scope: SearchScope, budget_tokens: int) -> list[ChatMessage]:
        """Prompt turns for a history (oldest first): whole turns, at most about `budget_tokens`, newest kept.

        Every tool result keeps its invocation. Passages are read anew within `scope`.
        """


class SearchIndex(Protocol):
    """Hybrid search over passages: text and scope in, hits out; vectors stay inside. Ids make `add` safe to repeat."""

    async def add(self, entries: Sequence[IndexEntry]) -> None:
        """Embed and store; an entry of the same passage id is replaced. Durable when it returns."""

    async def search(self, query: SearchQuery, scope: SearchScope) -> list[IndexHit]:
        """At most `query.limit` hits, best first, none outside `scope` (an empty `scope.sources` finds nothing).

        Hits of one score come by passage id, the same each time. A query without any letter or digit finds nothing.
        """

    async def remove_revision(self, document_id: str, revision: str) -> None:
        """Forget the passages of one revision; unknown ones are ignored."""

    async def remove_document(self, document_id: str) -> None:
        """Forget all revisions of a document; unknown ones are ignored."""

    async def revisions(self) -> dict[tuple[str, str], int]:
        """How many passages are stored of each (document id, revision), over all workspaces: to compare with the
        library's `live_revisions`.
        """

    async def count(self) -> int:
        """Passages stored."""

    async def optimise(self) -> None:
        """Called once after a batch of writes: fit statistics (BM25 length), compact. May be a no-op."""

    async def close(self) -> None: ...


class CorpusRepository(Protocol):
    """Sources, documents, pages and passages. A document's switch to a new revision is one commit."""

    async def save_source(self, source: Source) -> None:
        """Insert or replace by id. InvalidState when another source of the workspace has the name."""

    async def find_source(self, workspace: str, name: str) -> Source | None: ...

    async def list_sources(self, workspace: str) -> list[Source]:
        """By name."""

    async def remove_source(self, source_id: str) -> None:
        """With all its documents, pages and passages; unknown ids are ignored."""

    async def list_documents(self, workspace: str, source_ids: frozenset[str] | None = None) -> list[Document]:
        """By source name, then path; failed ones included. None: all sources. They count all their pages."""

    async def list_readable(self, scope: SearchScope) -> list[Document]:
        """The same within a scope: pages and passages are counted up to the reading positions."""

    async def version(self, workspace: str) -> str:
        """Another one after every change of a source or a document: what was read at the same version is still so.
        Failures and stamps of files may not change it. Costs milliseconds, whatever there is.
        """

    async def get_document(self, document_id: str, scope: SearchScope) -> Document:
        """NotFound outside the scope. Pages and passages are counted up to the reading position."""

    async def find_documents(self, document_ids: Sequence[str], scope: SearchScope) -> list[Document]:
        """As `get_document`, of all in one go, in the order asked for; what is outside the scope is left out."""

    async def switch_revision(self, document: Document, pages: Sequence[Page], passages: Sequence[Passage]) -> None:
        """Make `document.revision` the only one: in one commit, with its pages and passages; old ones go.

        The stored counts are those of `pages` and `passages`. NotFound when the workspace has no such source.
        ValueError, a bug of the caller: a part is of another revision, or a passage is not `page.text[span]`.
        """

    async def save_failure(self, document: Document) -> None:
        """Record `failed_reason` and stamp; pages of the last good revision stay readable.

        NotFound when the workspace has no such source.
        """

    async def touch(self, document_id: str, stamp: FileStamp) -> None:
        """The file's stamp changed, its content did not."""

    async def remove_document(self, document_id: str) -> None:
        """With pages and passages; unknown ids are ignored."""

    async def live_revisions(self) -> dict[tuple[str, str], int]:
        """How many passages there are of each (document id, revision) that can be read, over all workspaces: what the
        search index has to hold.
        """

    async def list_live_passages(self, document_id: str) -> list[SourcedPassage]:
        """All of a document's live revision, in text order; empty for unknown ids.

        Without a scope: for building the index, never for what is shown.
        """

    async def get_page(self, page_id: str, scope: SearchScope) -> Page:
        """NotFound for unknown ids, old revisions, and pages outside the scope."""

    async def find_page(self, document_id: str, number: int, scope: SearchScope) -> Page | None: ...

    async def find_pages(self, document_id: str, numbers: Sequence[int], scope: SearchScope) -> list[Page]:
        """Those that are there, in the order asked for."""

    async def list_pages(self, document_id: str, scope: SearchScope) -> list[Page]:
        """In page order; empty outside the scope."""

    async def list_passages(self, passage_ids: Sequence[str], scope: SearchScope) -> list[SourcedPassage]:
        """In the order asked for; ids that are unknown, not live, or outside the scope are left out."""

    async def list_page_passages(self, page_id: str, scope: SearchScope) -> list[SourcedPassage]:
        """In text order; empty outside the scope."""


class ConversationRepository(Protocol):
    """Conversations own their messages: deleting one deletes them."""

    async def add(self, conversation: Conversation, messages: Sequence[Message] = ()) -> None:
        """With its first messages, in one commit (`message_count` is ignored).

        InvalidState when its id, its thread address or the id of a message is taken.
        """

    async def get(self, conversation_id: str, workspace: str) -> Conversation:
        """NotFound for unknown ids and for other workspaces' conversations."""

    async def find_by_address(self, address: ThreadAddress) -> Conversation | None: ...

    async def read(self, conversation_id: str, workspace: str) -> tuple[Conversation, list[Message]]:
        """`get` and `list_messages` of one moment, in one go."""

    async def read_thread(self, address: ThreadAddress) -> tuple[Conversation, list[Message]] | None:
        """As `read`; None where the thread has no conversation."""

    async def list_conversations(
        self,
        workspace: str,
        document_id: str | None = None,
        *,
        owner: str | None = None,
        channel: ChannelAddress | None = None,
    ) -> list[Conversation]:
        """Most recently used first, where all filters fit. A document's: pinned to it, focused on it, citing it."""

    async def rename(self, conversation_id: str, title: str) -> None:
        """NotFound for an unknown conversation."""

    async def delete(self, conversation_id: str) -> None:
        """With its messages; unknown ids are ignored."""

    async def append(self, conversation_id: str, messages: Sequence[Message], *, focus: Focus | None = None) -> None:
        """In this order, in one commit; `last_message_at` moves on, never back. With a focus, that is set, too.

        NotFound for an unknown conversation, InvalidState when a message id is taken.
        """

    async def list_messages(self, conversation_id: str) -> list[Message]:
        """Oldest first."""

    async def find_message(self, message_id: str) -> Message | None: ...

    async def remove_messages(self, conversation_id: str, message_ids: Collection[str]) -> None:
        """Unknown ids, and those of other conversations, are ignored; what is appended later still comes last."""

    async def forget_document(self, document_id: str) -> int:
        """Unpin and unfocus it everywhere and mark messages that cite it stale; returns how many conversations."""


@runtime_checkable
class LearningProvider(Protocol):
    """A ChatProvider whose capabilities are found out by asking."""

    async def learn(self) -> Capabilities:
        """The capabilities, after whatever small requests are needed; asked once and remembered. Raises ProviderError.

        Until then `capabilities` is what is assumed.
        """


@runtime_checkable
class CheckedProvider(Protocol):
    """A ChatProvider that something outside this process has to work for."""

    async def check(self) -> None:
        """One small request or a few. Raises ProviderError with the next step where it can't be used."""


class CapabilityMemory(Protocol):
    """What was found out about models, kept from one run to the next. The key names a server's model."""

    async def find(self, key: str) -> Capabilities | None:
        """None for what was never kept, or so long ago that it is to be found out anew."""

    async def keep(self, key: str, found: Capabilities) -> None:
        """In place of what was kept before. What can't be kept is only found out again: no error."""


class PagePictures(Protocol):
    """Pages as pictures, for models that see."""

    async def picture_of(self, document: Document, page: Page) -> PageImage:
        """Bounded in pixels and bytes, drawn from the file that the page was read from.

        The caller has read both within its scope. Raises NotFound, with the reason, where there is no picture: other
        kinds than PDF, files that are gone or have changed since.
        """


class SentenceRanker(Protocol):
    async def rank(self, question: str, passages: Sequence[SourcedPassage], limit: int = 10) -> list[ScoredSpan]:
        """Sentences of `passages` that may answer `question`, best first, at most `limit`. Empty in, empty out."""


class AnswerJudge(Protocol):
    async def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the question, 0..1, in the order given (a cross-encoder's sigmoid)."""
