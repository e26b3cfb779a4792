"""Replies of a model: cited text, tool calls and the tokens they took. One form for all providers."""

from dataclasses import dataclass, field
from enum import StrEnum

from core.domain.chat import ToolInvocation
from core.domain.passages import Span


class StopReason(StrEnum):
    """The reason why a model stopped. Vendors' other reasons are ProviderErrors."""

    END = "end"
    TOOLS = "tools"  # it waits for tool results
    MAX_TOKENS = "max_tokens"  # cut off: the text is partial
    PAUSED = "paused"  # send the same messages again to continue


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

    @property
    def total(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens

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
    cost_micros: int | None = None  # millionths of a dollar; None: unknown
    native: object | None = None

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)
