"""Summaries that were made once and are kept: of what, and of which state of it."""

from dataclasses import dataclass
from enum import StrEnum


class SummaryKind(StrEnum):
    """What a summary is of; its subject is the id of that."""

    DOCUMENT_LINE = "document_line"  # one line for lists, of a document
    SECTION = "section"  # of a page: a journal's section, a chapter
    ROLLING = "rolling"  # of a conversation's earlier turns, for the model
    THREAD = "thread"  # of a conversation, for people


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryKey:
    workspace: str
    kind: SummaryKind
    subject: str  # id of the document, page or conversation
    revision: str  # of what was summarised: a content hash, or the id of the last message
