"""Drafts and answers: their status, text, footnotes and references."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.domain.chat import ChatMessage, NumberedPassage, PagePart, ToolInvocation, ToolResult
from core.domain.corpus import Document
from core.domain.jobs import Job
from core.domain.passages import Span
from core.domain.replies import CitedText, PassageCitation, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFact:
    """A row, in the words of its document where these say it."""

    text: str  # one line, without markup
    document: str  # title of its document
    citation: PassageCitation
    cells: Mapping[str, str] = field(default_factory=dict)  # of a row of a table, by its columns


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFacts:
    """The rows in the order of document and place, each said once; with the call that found them, for the history."""

    rows: tuple[ListedFact, ...]
    total: int  # rows that fit, those beyond the bound of a list included
    unknown: int  # that would fit, had they a date or number to be compared
    noun: str  # name of the rows for people, in the plural: "open action items"
    invocation: ToolInvocation
    result: ToolResult
    is_whole: bool = True  # the documents were read to the end
    heading: str = ""  # computed from the rows by code; "": their number


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
    PICTURE = "picture"  # a page that the model saw as a picture, and the answer rests on


@dataclass(frozen=True, slots=True)
class PicturedPage:
    """A page, or a part of it, that the model saw as a picture. Code can't check its reading."""

    document: Document
    number: int
    part: PagePart = PagePart.WHOLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All passages shown in a run, by passage id, its searches in order, and the pages shown as pictures."""

    passages: Mapping[str, NumberedPassage] = field(default_factory=dict)
    searches: tuple[str, ...] = ()
    pictures: tuple[PicturedPage, ...] = ()

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
    is_numbered: bool = True  # the model was shown the numbers of passages, so that `[n]` in its text are markers
    partial: bool = False  # a bound was reached before the search was complete
    is_cut: bool = False  # the model's longest reply was reached: the text ends in the middle
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
class Provenance:
    """All that an answer rests on, with the answers before it in its thread. Its readers may read all of that.

    `documents` are ids of documents of which it saw passages or a summary. It may tell of any document of `sources`,
    as lists and names do, except those in `hidden`.
    """

    documents: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


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
    rests_on: Provenance | None = None  # kept, never shown; None: on nothing but its footnotes
    searched: bool = True  # False: nothing could be searched, and the text is the reason
    conversation_id: str = ""
    message_id: str = ""
    jobs: tuple[Job, ...] = ()
    usage: Usage = field(default_factory=Usage)
    timings_ms: Mapping[str, float] = field(default_factory=dict)  # total, retrieval, model
    model: str = ""
    note_on: tuple[AskAgain, ...] = ()  # not empty: a note that these answers are stale
