"""A chat with a model: messages, tools, requests and replies. One form for all providers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.domain.corpus import SourcedPassage
from core.domain.passages import Span


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
