"""How a workspace's library is used: counts, and what its documents do not say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from core.domain.answer import AnswerStatus
from core.domain.chat import Usage
from core.domain.corpus import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question that was answered, in whatever way."""

    text: str
    status: AnswerStatus
    asked_at: datetime
    is_private: bool  # in a thread of one person alone: counted, never shown
    document_ids: frozenset[str] = frozenset()  # that its answer cites
    usage: Usage = field(default_factory=Usage)
    helpful: int = 0  # thumbs
    not_helpful: int = 0


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
    usage: Usage
    documents: int  # that can be read
    most_cited: tuple[CitedDocument, ...]
    never_cited: tuple[Document, ...]
    never_cited_count: int
    gaps: tuple[CoverageGap, ...]

    @property
    def cache_hit_rate(self) -> float | None:
        """The share of input tokens that the provider had cached; None where no model was asked."""
        total = self.usage.input_tokens
        return self.usage.cache_read_tokens / total if total else None
