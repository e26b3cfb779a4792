"""A chat with a model: messages, tools and requests. One form for all providers."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.domain.corpus import SourcedPassage


class ChatRole(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "tool_result"


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
class Capabilities:
    """The abilities of a provider, by which strategies choose."""

    tools: bool = True
    citations: bool = False  # gives PassageCitations itself; else `[n]` markers are asked for
    quotes_only: bool = False  # it quotes rather than writes (extractive)
    structured: bool = False  # honours ChatRequest.output_schema
    images: bool = False  # sees ToolResult.images
    context_tokens: int = 200_000
