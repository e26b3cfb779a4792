"""The conversation aggregate: one thread of a platform, and the messages it owns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.domain.answer import Citation, Provenance, Reference
from core.domain.chat import ToolInvocation
from core.domain.incoming import ThreadAddress
from core.domain.passages import Span
from core.domain.replies import Usage


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "tool_result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """The subject of a conversation, which follow-ups search first until it expires."""

    document_id: str
    document: str  # path
    title: str
    sections: tuple[str, ...] = ()  # page ids last cited, most recent first
    touched_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    id: str
    address: ThreadAddress
    title: str  # "" until the first question gives it one
    owner: str
    created_at: datetime
    last_message_at: datetime
    focus: Focus | None = None
    pinned_document_id: str | None = None  # `chat --document D`: every question of it is about D
    message_count: int = 0  # of people and the bot, without results of tools

    @property
    def is_channel_talk(self) -> bool:
        """People's messages in the channel itself: kept under its name, and in no list of threads."""
        return not self.address.thread and self.title == f"#{self.address.channel}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRecord:
    """A tool call in the history: its arguments and the ids of its passages, as texts are reread each time.

    `said` is the model's text before the calls of its turn, kept with the first of them: a prompt without it differs
    from the one in the provider's cache.
    """

    invocation: ToolInvocation
    text: str  # the result's text without passages, cut to a bound
    passage_ids: tuple[str, ...] = ()
    is_error: bool = False
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The rest of an answer, next to its text and footnotes: enough to show it again as it was posted."""

    partial: bool = False
    grounded: bool = False
    unsupported: tuple[Span, ...] = ()
    choices: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    note_on: tuple[str, ...] = ()  # it is no answer, but a note about these (ids of messages)
    response_type: str = "general"
    data: Mapping[str, object] | None = None
    data_sources: tuple[str, ...] = ()
    data_gaps: tuple[str, ...] = ()
    read_to: Mapping[str, int] = field(default_factory=dict)  # the reading positions that held: document id -> page
    rests_on: Provenance | None = None  # None: only its footnotes, as in answers of earlier versions
    searched: bool = True  # False: nothing could be searched


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One stored message. For role tool_result, `tool_calls` are the calls with their results."""

    id: str
    conversation_id: str
    role: Role
    author: str  # display name; "footnote" for the bot
    content: str
    created_at: datetime
    references: tuple[Reference, ...] = ()
    citations: tuple[Citation, ...] = ()
    tool_calls: tuple[ToolCallRecord, ...] = ()
    job_id: str | None = None  # the request job behind an assistant message
    status: str | None = None  # AnswerStatus of an assistant message
    stale: bool = False
    outcome: Outcome | None = None  # of an assistant message

    @property
    def is_note(self) -> bool:
        """Whether it answers nothing, but tells that earlier answers are stale."""
        return self.outcome is not None and bool(self.outcome.note_on)
