"""A cassette: all that one answer was made from, enough to make it again without a network, a model or the library."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from core.domain.answer import Answer, Evidence, Reference
from core.domain.chat import (
    Capabilities,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ToolDefinition,
    ToolInvocation,
    ToolResult,
)
from core.domain.conversation import IncomingMessage
from core.domain.corpus import Page
from core.domain.listed import ListedFacts


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
    """What a run's tools were, what they gave, and all that had been shown at its end."""

    definitions: tuple[ToolDefinition, ...] = ()
    opening: tuple[ChatMessage, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)  # what was wrong with a call, by its id
    listed: ListedFacts | None = None  # rows that were listed without a model
    calls: tuple[RecordedCall, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """One run. `answer` is what came of it, without the ids, times and jobs that every run has of its own."""

    strategy: str
    provider: str
    capabilities: Capabilities
    question: IncomingMessage
    history: tuple[ChatMessage, ...]
    tools: RecordedTools
    turns: tuple[RecordedTurn, ...]
    pages: Mapping[str, Page]  # those the draft cited, by id, as they were stored
    direct: tuple[Reference, ...]  # what the question refers to
    notes: tuple[str, ...]
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCassette:
    """A cassette as it is kept: packed, under the id of the answer's message."""

    message_id: str
    workspace: str
    question: str  # for lists
    recorded_at: datetime
    document_ids: frozenset[str]  # whose text is in it: it goes with any of them
    data: bytes  # see core/recordings/cassette_text.py
    is_case: bool = False  # kept as a regression case, until somebody drops it
