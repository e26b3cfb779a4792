"""From a request to a model to a posted answer: chat messages, tools, drafts, footnotes. One form for all providers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.domain.corpus import Document, Heading, Page, SourcedPassage, Span, page_links
from core.domain.jobs import Job


class ChatRole(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "tool_result"


class StopReason(StrEnum):
    """The reason why a model stopped. Vendors' other reasons are ProviderErrors."""

    END = "end"
    TOOLS = "tools"  # it waits for tool results
    MAX_TOKENS = "max_tokens"  # cut off: the text is partial
    PAUSED = "paused"  # send the same messages again to continue


class ToolChoice(StrEnum):
    AUTO = "auto"
    ANY = "any"  # must call a tool
    NONE = "none"  # must answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    name: str
    description: str
    parameters: Mapping[str, object]  # JSON Schema of an object; no oneOf/anyOf/allOf at its top


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInvocation:
    id: str
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedPassage:
    """A passage a model was shown, under the number it may cite it by: unique within one request."""

    number: int
    source: SourcedPassage


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImage:
    """A page as a picture, for models that see (Capabilities.images). Never evidence: footnotes quote text."""

    label: str  # `"report.pdf", page 3`
    media_type: str  # image/png | image/jpeg | image/webp
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of a tool. Passages carry the text to quote, `text` carries the rest."""

    invocation_id: str
    name: str
    text: str
    passages: tuple[NumberedPassage, ...] = ()
    is_error: bool = False
    choices: tuple[str, ...] = ()  # the tool needs the reader to choose: ends the turn as `clarify`
    images: tuple[PageImage, ...] = ()  # left out by providers without Capabilities.images; never kept in the history


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One turn of the prompt. Every invocation of an assistant turn has its result in the next turn."""

    role: ChatRole
    text: str = ""
    speaker: str | None = None  # who said it, where several people share a thread
    tool_invocations: tuple[ToolInvocation, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    native: object | None = None  # the provider's own form of an assistant turn of this very run, passed back unread


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    system: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: ToolChoice = ToolChoice.AUTO
    model: str | None = None  # None: the provider's default
    max_output_tokens: int | None = None  # None: the provider's default
    # The text of the reply is one JSON object of this schema; needs Capabilities.structured. Providers then give no
    # citations of their own (vendors refuse both in one call): the schema's strings hold markers.
    output_schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageCitation:
    """A provider's claim that a text is in a passage, to be proved in core/answering/citations.py."""

    passage_id: str
    span: Span  # page offsets
    cited_text: str  # as the provider gave it; compared after white-space normalisation


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedText:
    """A run of answer text with its citations, if any."""

    text: str
    citations: tuple[PassageCitation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens. `input_tokens` is the total, cached ones included."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatResponse:
    """A model's turn: text, tool calls, or both. Concatenated segments are the text."""

    segments: tuple[CitedText, ...] = ()
    tool_invocations: tuple[ToolInvocation, ...] = ()
    stop_reason: StopReason = StopReason.END
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    native: object | None = None

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The abilities of a provider, by which strategies choose."""

    tools: bool = True
    citations: bool = False  # gives PassageCitations itself; else `[n]` markers are asked for
    quotes_only: bool = False  # it quotes rather than writes (extractive)
    structured: bool = False  # honours ChatRequest.output_schema
    images: bool = False  # sees ToolResult.images
    context_tokens: int = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFact:
    """A row, in the words of its document where these say it."""

    text: str  # one line, without markup
    document: str  # title of its document
    citation: PassageCitation


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFacts:
    """The rows in the order of document and place, each said once; with the call that found them, for the history."""

    rows: tuple[ListedFact, ...]
    total: int  # rows that fit, those beyond the bound of a list included
    unknown: int  # that would fit, had they a date or number to be compared
    noun: str  # name of the rows for people, in the plural: "open action items"
    invocation: ToolInvocation
    result: ToolResult


class AnswerStatus(StrEnum):
    ANSWERED = "answered"
    NOT_FOUND = "not_found"  # the library does not say
    CLARIFY = "clarify"
    REFUSED = "refused"  # a gate or the provider refused
    STOPPED = "stopped"
    ERROR = "error"


class QueryType(StrEnum):
    QUESTION = "question"
    SUMMARY = "summary"
    EXTRACTION = "extraction"


class ReferenceType(StrEnum):
    DIRECT = "direct"  # a [[wikilink]] in the text, or a file that came with it
    SEARCH = "search"  # a tool found it


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All passages shown in a run, by passage id, and its searches in order."""

    passages: Mapping[str, NumberedPassage] = field(default_factory=dict)
    searches: tuple[str, ...] = ()

    def by_number(self, number: int) -> NumberedPassage | None:
        return next((item for item in self.passages.values() if item.number == number), None)


DataPath = tuple[str | int, ...]  # place of a value in an answer's data: ("events", 0, "date")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataItem:
    """A line of a typed answer that is kept or removed as a whole, in text and data: it stays if it is backed."""

    first: int  # its segments in the draft, `last` included
    last: int
    path: DataPath  # the data removed with it
    strings: Mapping[int, DataPath]  # segment -> the string of the data that it shows
    is_heading: bool = False  # stays as long as an item below its path does
    is_cell: bool = False  # left empty rather than taken out: the places of its neighbours mean something
    needs_footnote: bool = True  # else only if it states something


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The text of a strategy. `segments` may carry provider citations, `[n]` markers (evidence numbers), or both."""

    segments: tuple[CitedText, ...]
    evidence: Evidence
    partial: bool = False  # a bound was reached before the search was complete
    choices: tuple[str, ...] = ()  # not empty: the reader has to choose (status clarify)
    suggestions: tuple[str, ...] = ()
    response_type: str = "general"
    data: Mapping[str, object] | None = None  # of the response type's schema; markers in its strings as in the text
    data_items: tuple[DataItem, ...] = ()  # which segments show which part of `data`
    data_gaps: tuple[str, ...] = ()  # asked for and not found
    unanswerable: str = ""  # not empty: why nothing could be looked up (status not_found)
    notes: tuple[str, ...] = ()  # sentences that people see under the text
    new_messages: tuple[ChatMessage, ...] = ()  # assistant and tool_result turns before the final text, to persist
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A footnote: proved, `quote == page.text[span]` on that revision."""

    number: int  # from 1, in order of first use
    source: str
    document: str  # path relative to its source
    document_id: str
    document_title: str
    page_id: str
    page_number: int
    heading_path: tuple[str, ...]
    quote: str
    span: Span
    revision: str
    url: str | None = None
    deep_link: str | None = None
    proved: bool = False
    passage_id: str = ""
    last_page: int | None = None  # the reading position in its document when it was cited; None: to the end


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A document a message refers to."""

    type: ReferenceType
    label: str
    document: str | None  # path; None when the link leads nowhere
    summary: str = ""  # of the document in one line; of a broken link, the reason
    snippet: str = ""
    broken: bool = False
    document_id: str | None = None  # None also for references stored before there were ids
    heading: str = ""  # of a direct one: the section that is meant
    near: tuple[str, ...] = ()  # of a broken one: similar links


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgain:
    """The question that a note about a stale answer lets people repeat."""

    message_id: str  # of the answer
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to post, the same object for every adapter. Markers in `text` equal the citations' numbers."""

    status: AnswerStatus
    text: str
    citations: tuple[Citation, ...] = ()
    references: tuple[Reference, ...] = ()
    partial: bool = False
    grounded: bool = False  # it has proved footnotes and no unsupported claim
    unsupported: tuple[Span, ...] = ()  # in `text`
    choices: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    response_type: str = "general"
    data: Mapping[str, object] | None = None
    data_sources: tuple[str, ...] = ()
    data_gaps: tuple[str, ...] = ()
    read_to: Mapping[str, int] = field(default_factory=dict)  # the reading positions that applied; kept, never shown
    conversation_id: str = ""
    message_id: str = ""
    jobs: tuple[Job, ...] = ()
    usage: Usage = field(default_factory=Usage)
    timings_ms: Mapping[str, float] = field(default_factory=dict)  # total, retrieval, model
    model: str = ""
    note_on: tuple[AskAgain, ...] = ()  # not empty: a note that these answers are stale


def cite(number: int, document: Document, page: Page, span: Span, passage_id: str = "") -> Citation:
    """Return the footnote of a place in a page; not `proved` if the page has no text there."""
    url, deep_link = page_links(document, page)
    quote = span.of(page.text)
    return Citation(
        number=number,
        source=document.source,
        document=document.path,
        document_id=document.id,
        document_title=document.title,
        page_id=page.id,
        page_number=page.number,
        heading_path=heading_path_at(page, span.start),
        quote=quote,
        span=span,
        revision=page.revision,
        url=url,
        deep_link=deep_link,
        proved=bool(quote),
        passage_id=passage_id,
    )


def heading_path_at(page: Page, place: int) -> tuple[str, ...]:
    """Return the headings above a place of the page, in the form of passages (chunking.py).

    A passage may begin before a heading that is above its quote.
    """
    stack: list[Heading] = []
    for heading in page.headings:
        if heading.start > place:
            break
        while stack and stack[-1].level >= heading.level:
            stack.pop()
        stack.append(heading)
    first = page.headings[0] if page.headings else None
    opens = first is not None and first.title == page.title and not page.text[: first.start].strip()
    inside = tuple(heading.title for heading in stack if heading.title and not (opens and heading is first))
    return (*page.heading_path, *([page.title] if page.title else []), *inside)
