"""Answers whose sources have changed since: which quotes were lost, and what of it people are still to be told."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.domain.conversation import Conversation, Message

OUT = ""  # the revision of a document that is not there, or never was read


class Fate(StrEnum):
    """What became of a footnote's quote that its document does not have any more."""

    CHANGED = "changed"  # the document says something else now
    GONE = "gone"  # the document was taken out


@dataclass(frozen=True, slots=True, kw_only=True)
class LostQuote:
    number: int  # of the footnote
    fate: Fate


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked:
    """An answer and a document that it cites, which was not compared yet with what the document says now."""

    conversation_id: str
    message_id: str
    document_id: str
    checked_revision: str | None  # the one it was compared with last; None: with none yet
    live_revision: str  # OUT where the document is not there
    is_old: bool = False  # stored before answers were compared at all: what it has lost until now is no news


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a comparison found. `was` is the `checked_revision` it began from."""

    message_id: str
    document_id: str
    was: str | None
    revision: str
    lost: tuple[LostQuote, ...] = ()  # by number
    is_old: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveTexts:
    """What a document says now, for comparing and never for showing: it knows no scope."""

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
    """An answer with footnotes that are lost, and what was asked."""

    conversation: Conversation
    message: Message
    lost: tuple[LostQuote, ...]  # by number; empty where the answer was marked before its quotes were compared
    question: str = ""  # "" where the history has it no more
