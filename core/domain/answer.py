"""From draft to answer: what a strategy wrote, what it saw, and what is posted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.domain.chat import ChatMessage, CitedText, NumberedPassage, Usage
from core.domain.corpus import Span
from core.domain.jobs import Job


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
    """All passages a run was shown, by passage id, and what was searched for, in order."""

    passages: Mapping[str, NumberedPassage] = field(default_factory=dict)
    searches: tuple[str, ...] = ()

    def by_number(self, number: int) -> NumberedPassage | None:
        return next((item for item in self.passages.values() if item.number == number), None)


DataPath = tuple[str | int, ...]  # ("events", 0, "date"): where a value stands in an answer's data


@dataclass(frozen=True, slots=True, kw_only=True)
class DataItem:
    """A line of a typed answer that stands or falls as one: shown, and kept in the data, only if it is backed."""

    first: int  # its segments in the draft, `last` included
    last: int
    path: DataPath  # what is taken out of the data with it
    strings: Mapping[int, DataPath]  # segment -> the string of the data that it shows
    is_heading: bool = False  # stays as long as an item below its path does
    is_cell: bool = False  # left empty rather than taken out: the places of its neighbours mean something
    needs_footnote: bool = True  # else only where it states something


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a strategy wrote. `segments` may carry provider citations, `[n]` markers (evidence numbers), or both."""

    segments: tuple[CitedText, ...]
    evidence: Evidence
    partial: bool = False  # a bound was reached: the answer is from what was found so far
    choices: tuple[str, ...] = ()  # not empty: the reader has to choose (status clarify)
    suggestions: tuple[str, ...] = ()
    response_type: str = "general"
    data: Mapping[str, object] | None = None  # of the response type's schema; markers in its strings as in the text
    data_items: tuple[DataItem, ...] = ()  # which segments show which part of `data`
    data_gaps: tuple[str, ...] = ()  # what was asked and not found
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
    summary: str = ""  # what the document is about, in one line; of a broken link: why
    snippet: str = ""
    broken: bool = False
    document_id: str | None = None  # None, too, for those of the time before there were ids
    heading: str = ""  # of a direct one: the section that is meant
    near: tuple[str, ...] = ()  # of a broken one: what may have been meant, as it would be written


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgain:
    """What a note about a stale answer offers."""

    message_id: str  # of the answer
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is posted: the same object for every adapter. Markers in `text` equal the citations' numbers."""

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
    read_to: Mapping[str, int] = field(default_factory=dict)  # the reading positions that held; kept, never shown
    conversation_id: str = ""
    message_id: str = ""
    jobs: tuple[Job, ...] = ()
    usage: Usage = field(default_factory=Usage)
    timings_ms: Mapping[str, float] = field(default_factory=dict)  # total, retrieval, model
    model: str = ""
    note_on: tuple[AskAgain, ...] = ()  # it answers nothing: it tells that these answers are stale
