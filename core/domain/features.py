"""Values of the features around answers: feedback, recordings, connections, stale answers, statistics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.domain.answer import Answer, AnswerStatus, Evidence, ListedFacts, Reference
from core.domain.chat import Capabilities, ChatMessage, ChatRequest, ToolDefinition, ToolInvocation, ToolResult
from core.domain.conversation import Conversation, Message
from core.domain.corpus import Document, Page
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.replies import ChatResponse, Usage
from core.domain.spending import SpendingReport
from core.domain.support import Judgement


class Rating(StrEnum):
    UP = "up"
    DOWN = "down"


class FeedbackReason(StrEnum):
    """The fault of an answer, as its reader saw it."""

    SOURCE = "source"  # it cites the wrong document or passage
    OUTDATED = "outdated"
    MISSED = "missed"  # it leaves something out
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """One person's rating of one answer."""

    message_id: str
    author: str
    rating: Rating
    created_at: datetime
    reason: FeedbackReason | None = None  # only of Rating.DOWN, if it was given


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """A request to the model and its reply; forms of a vendor's own are left out of both."""

    request: ChatRequest
    reply: ChatResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A tool call and its result, with the passages it showed."""

    invocation: ToolInvocation
    result: ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTools:
    """The tools of a run, their results, and all passages shown."""

    definitions: tuple[ToolDefinition, ...] = ()
    background: str = ""
    opening: tuple[ChatMessage, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)  # errors of calls, by their ids
    listed: ListedFacts | None = None  # rows that were listed without a model
    calls: tuple[RecordedCall, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """A recorded run, from which its answer can be made again without a network, a model or the library.

    `answer` is without the ids, times and jobs, which differ in every run.
    """

    strategy: str
    provider: str
    capabilities: Capabilities
    question: IncomingMessage
    history: tuple[ChatMessage, ...]
    tools: RecordedTools
    turns: tuple[RecordedTurn, ...]
    pages: Mapping[str, Page]  # those the draft cited, by id, as they were stored
    direct: tuple[Reference, ...]  # references of the question
    notes: tuple[str, ...]
    answer: Answer
    judgements: tuple[Judgement, ...] = ()  # of its sentences, in the order they were asked for
    opinion: str = "off"  # which sentences the model judged, too: [agent] check_support


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The result of playing a cassette. `difference` describes the first difference, or None."""

    answer: Answer
    difference: str | None = None

    @property
    def is_equal(self) -> bool:
        return self.difference is None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCassette:
    """A cassette as it is kept: packed, under the id of the answer's message."""

    message_id: str
    workspace: str
    question: str  # for lists
    recorded_at: datetime
    document_ids: frozenset[str]  # whose text is in it: it goes with any of them
    data: bytes  # see core/features/replay/recording.py
    is_case: bool = False  # kept as a regression case until it is dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedIn:
    """A conversation whose answers cite a document."""

    conversation_id: str
    document_id: str
    answers: int  # that cite it
    is_private: bool  # in a private thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Two related documents, by their ids; it has no direction."""

    first: str
    second: str
    links: int = 0  # from one of them to the other, both ways
    together: int = 0  # conversations that cite both


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A document that is connected with another one."""

    document: Document
    links_to: int = 0  # links that lead to it from the other
    linked_from: int = 0  # links in it that lead to the other
    together: int = 0

    @property
    def weight(self) -> int:
        return self.links_to + self.linked_from + self.together


@dataclass(frozen=True, slots=True, kw_only=True)
class CitingThread:
    conversation: Conversation
    answers: int  # that cite the document


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentConnections:
    """All lists with the strongest first, then by path or by time."""

    document: Document
    links: tuple[Neighbour, ...]  # targets of its links
    backlinks: tuple[Neighbour, ...]  # documents that link to it
    related: tuple[Neighbour, ...]  # both, and documents that are cited together with it
    threads: tuple[CitingThread, ...]  # that cite it


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentGraph:
    """The documents with the most connections, and the connections between them; documents without any are left out."""

    documents: tuple[Document, ...]
    connections: tuple[Connection, ...]
    total: int  # documents with any connection, those left out included


OUT = ""  # the revision of a document that is not there, or never was read


class Fate(StrEnum):
    """The reason why a document lacks a footnote's quote."""

    CHANGED = "changed"  # the document says something else now
    GONE = "gone"  # the document was taken out


@dataclass(frozen=True, slots=True, kw_only=True)
class LostQuote:
    number: int  # of the footnote
    fate: Fate


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked:
    """An answer and a document that it cites, not yet compared with the document's present text."""

    conversation_id: str
    message_id: str
    document_id: str
    checked_revision: str | None  # the one it was compared with last; None: with none yet
    live_revision: str  # OUT where the document is not there
    is_old: bool = False  # stored before comparisons existed: quotes missing by now need no note


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The result of a comparison. `was` is the `checked_revision` before it."""

    message_id: str
    document_id: str
    was: str | None
    revision: str
    lost: tuple[LostQuote, ...] = ()  # by number
    is_old: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTexts:
    """The present texts of a document, for comparison and never for display: they know no scope."""

    revision: str
    texts: Mapping[int, str]  # page number -> text


@dataclass(frozen=True, slots=True, kw_only=True)
class DueNote:
    """A note that a conversation is still to get about answers of it that became stale together."""

    id: str
    conversation: Conversation
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleAnswer:
    """An answer with missing quotes, and its question."""

    conversation: Conversation
    message: Message
    lost: tuple[LostQuote, ...]  # by number; empty where the answer was marked before its quotes were compared
    question: str = ""  # "" if the history lacks it


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question that was answered, with any status."""

    text: str
    status: AnswerStatus
    asked_at: datetime
    is_private: bool  # in a private thread: counted, never shown
    address: ThreadAddress  # of its thread
    document_ids: frozenset[str] = frozenset()  # that its answer cites
    usage: Usage = field(default_factory=Usage)
    helpful: int = 0  # thumbs
    not_helpful: int = 0
    reasons: tuple[FeedbackReason, ...] = ()  # of ratings that are not helpful, as far as they were given


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedDocument:
    """A document, and how many answers cite it."""

    document: Document
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageGap:
    """Questions that mean about the same and found no answer; the newest first."""

    questions: tuple[str, ...]
    count: int
    last_asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Since a day. Lists hold the most important first, cut to a bound; counts are of all."""

    since: datetime
    questions: int
    by_status: Mapping[AnswerStatus, int]
    helpful: int
    not_helpful: int
    reasons: Mapping[FeedbackReason, int]  # most frequent first
    usage: Usage
    spending: SpendingReport  # of all model calls, answers' and others
    documents: int  # that can be read
    most_cited: tuple[CitedDocument, ...]
    never_cited: tuple[Document, ...]
    never_cited_count: int
    gaps: tuple[CoverageGap, ...]
    hidden: int = 0  # unanswered questions that the reader may not see

    @property
    def cache_hit_rate(self) -> float | None:
        """The share of input tokens that the provider had cached; None without any model request."""
        total = self.usage.input_tokens
        return self.usage.cache_read_tokens / total if total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """A file to hand over."""

    name: str
    content_type: str  # without a charset; text is UTF-8
    data: bytes

    @property
    def is_text(self) -> bool:
        return self.content_type != "application/pdf"
