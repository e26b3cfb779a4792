"""What a model said of a piece of a page, kept so that no piece is paid for twice; and what asking it has cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from core.domain.corpus import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """As much of a page as a model reads at once. `text` is what stands at `span` of the page."""

    page_number: int
    span: Span
    text: str

    @property
    def key(self) -> str:
        """The same for the same text, wherever it stands and in whichever revision."""
        return sha256(self.text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReading:
    """What a model gave of one piece for one extractor: items as it wrote them, to be proved before they are used."""

    document_id: str
    piece: str  # Piece.key
    extractor: str
    version: int
    read_at: datetime
    said: tuple[Mapping[str, object], ...] = ()
    error: str | None = None  # why there is nothing of this piece, or not all, in one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfPiece:
    """A piece with what was said of it for one extractor."""

    piece: Piece
    said: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What was asked of a model: requests and tokens, those in and those out."""

    requests: int = 0
    tokens: int = 0

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(requests=self.requests + other.requests, tokens=self.tokens + other.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """For how much extractors may ask a model. Days are those of UTC."""

    tokens_per_run: int
    tokens_per_day: int
    max_output_tokens: int = field(default=4_096)  # of one answer; kept free in the budgets before it is asked for
