"""A chat with a model: messages, tools and requests. One form for all providers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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


class Repeats(StrEnum):
    """The beginning of a request that later ones share: only there, a provider's cache saves money."""

    MESSAGES = "messages"  # they continue the conversation
    INSTRUCTIONS = "instructions"  # they have the same tools and system prompt, and other messages
    NOTHING = "nothing"


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


class PagePart(StrEnum):
    """The part of a page that a picture shows. A half has twice the detail."""

    WHOLE = "whole"
    TOP = "top half"
    BOTTOM = "bottom half"
    LEFT = "left half"
    RIGHT = "right half"

    @property
    def is_half(self) -> bool:
        return self is not PagePart.WHOLE


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
    shown_before: tuple[NumberedPassage, ...] = ()  # the passages that the request holds further above; see shown_once
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


def shown_once(messages: Iterable[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Return the messages with each passage once; results that find it again have it in `shown_before`."""
    seen: set[str] = set()

    def first_time(result: ToolResult) -> ToolResult:
        if result.is_error:  # providers send only its text
            return result
        new = tuple(item for item in result.passages if item.source.passage.id not in seen)
        seen.update(item.source.passage.id for item in new)
        if len(new) == len(result.passages):
            return result
        return replace(result, passages=new, shown_before=tuple(item for item in result.passages if item not in new))

    return tuple(
        replace(message, tool_results=tuple(map(first_time, message.tool_results))) if message.tool_results else message
        for message in messages
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    system: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolDefinition, ...] = ()
    tool_choice: ToolChoice = ToolChoice.AUTO
    model: str | None = None  # None: the provider's default
    max_output_tokens: int | None = None  # None: the provider's default
    repeats: Repeats = Repeats.MESSAGES
    language: str | None = None  # the asker's, for a quoting provider's own sentences
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
