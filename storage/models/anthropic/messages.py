"""Translation between our chat types and Anthropic's Messages API. Pure.

Cache breakpoints (the API takes at most four) : the last tool, the system prompt, and the ends of the last two user
turns, so that each step of a run reads the cache of the step before. A request that no later one
repeats has none, as a write costs more than plain input.

A passage is sent as a `search_result` with one block for each sentence, the smallest unit of a citation. Neighbours
under the same headings share one, whose `source` is the first of them. A citation names its passages by `source` and a
range of blocks; its index over the request shifts when history is trimmed, so it is ignored.
"""

import base64
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict, cast

from core.domain.chat import (
    ChatMessage,
    ChatRequest,
    ChatRole,
    NumberedPassage,
    PageImage,
    Repeats,
    ToolChoice,
    ToolDefinition,
    ToolInvocation,
    ToolResult,
    shown_once,
)
from core.domain.corpus import SourcedPassage
from core.domain.passages import Passage, Span
from core.domain.replies import ChatResponse, CitedText, PassageCitation, StopReason, Usage
from core.errors import ContextOverflow, ProviderError, ProviderRefused

if TYPE_CHECKING:
    from anthropic.types import (
        CacheControlEphemeralParam,
        ContentBlock,
        ContentBlockParam,
        ImageBlockParam,
        Message,
        MessageParam,
        OutputConfigParam,
        SearchResultBlockParam,
        TextBlockParam,
        TextCitation,
        ToolChoiceParam,
        ToolParam,
        ToolResultBlockParam,
    )
    from anthropic.types import Usage as VendorUsage

CACHED_USER_TURNS = 2  # with tools and system this makes the API's four breakpoints
# The vendor's stop reason -> StopReason, or an error. A test compares it with the SDK's Literal.
STOP_REASONS: Mapping[str, StopReason | type[ProviderError]] = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "tool_use": StopReason.TOOLS,
    "max_tokens": StopReason.MAX_TOKENS,
    "pause_turn": StopReason.PAUSED,
    "refusal": ProviderRefused,
    "model_context_window_exceeded": ContextOverflow,
}
_TOOL_CHOICES: Mapping[ToolChoice, "ToolChoiceParam"] = {
    ToolChoice.AUTO: {"type": "auto"},
    ToolChoice.ANY: {"type": "any"},
    ToolChoice.NONE: {"type": "none"},
}
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")  # ids of history may come from another provider; the API takes only these


class TurnParams(TypedDict):
    """Keyword arguments of the SDK's `messages.stream`."""

    model: str
    max_tokens: int
    messages: "list[MessageParam]"
    system: NotRequired["list[TextBlockParam]"]
    tools: NotRequired["list[ToolParam]"]
    tool_choice: NotRequired["ToolChoiceParam"]
    output_config: NotRequired["OutputConfigParam"]


def to_params(request: ChatRequest, *, model: str, max_tokens: int) -> TurnParams:
    """Return a request in the vendor's form: roles merged, no empty texts, cache breakpoints set.

    The API refuses citations and a schema for the reply in one request: with a schema, passages are plain text under
    their numbers.
    """
    turns = _to_turns(shown_once(request.messages), cites=request.output_schema is None)
    params: TurnParams = {"model": model, "max_tokens": max_tokens, "messages": turns}
    if request.output_schema is not None:
        params["output_config"] = {"format": {"type": "json_schema", "schema": dict(request.output_schema)}}
    if request.system.strip():
        params["system"] = [{"type": "text", "text": request.system}]
    if request.tools:
        params["tools"] = [_to_tool(tool) for tool in request.tools]
        params["tool_choice"] = _TOOL_CHOICES[request.tool_choice]
    if request.repeats is not Repeats.NOTHING:
        for blocks in (params.get("tools"), params.get("system")):
            if blocks:
                blocks[-1]["cache_control"] = _breakpoint()
    if request.repeats is Repeats.MESSAGES:
        _mark_last_turns(params)
    return params


def _mark_last_turns(params: TurnParams) -> None:
    users = [cast("list[ContentBlockParam]", turn["content"]) for turn in params["messages"] if turn["role"] == "user"]
    for turn in users[-CACHED_USER_TURNS:]:
        turn[-1] = cast("ContentBlockParam", {**turn[-1], "cache_control": _breakpoint()})


def to_response(message: "Message", shown: Mapping[str, Sequence[Passage]]) -> ChatResponse:
    """Return a complete message as ChatResponse. `shown` are the request's passages by `source`.

    Raises ProviderRefused, ContextOverflow, or ProviderError for a stop reason not known.
    """
    stop = _stop_reason(message)
    calls = [block for block in message.content if block.type == "tool_use" and stop is StopReason.TOOLS]
    invocations = tuple(ToolInvocation(id=call.id, name=call.name, arguments=call.input) for call in calls)
    return ChatResponse(
        segments=_segments(message.content, shown),
        tool_invocations=invocations,
        stop_reason=StopReason.END if stop is StopReason.TOOLS and not invocations else stop,
        usage=to_usage(message.usage),
        model=message.model,
        native=_native(message, keep_tool_calls=bool(invocations)),
    )


def to_usage(usage: "VendorUsage") -> Usage:
    """Tokens; the vendor counts cached ones apart from `input_tokens`, we count them in."""
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    return Usage(
        input_tokens=usage.input_tokens + read + written,
        output_tokens=usage.output_tokens,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _breakpoint() -> "CacheControlEphemeralParam":
    return {"type": "ephemeral"}


def _to_tool(tool: ToolDefinition) -> "ToolParam":
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}


def _to_turns(messages: Iterable[ChatMessage], *, cites: bool) -> "list[MessageParam]":
    turns: list[tuple[str, list[ContentBlockParam]]] = []
    for message in messages:
        role = "assistant" if message.role is ChatRole.ASSISTANT else "user"
        blocks = _to_blocks(message, cites=cites)
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, blocks))
    users = [blocks for role, blocks in turns if role == "user"]
    for blocks in users:
        blocks.sort(key=lambda block: block["type"] != "tool_result")  # the API wants results before any text
    if turns and turns[-1][0] == "assistant" and (last := turns[-1][1])[-1]["type"] == "text":
        # A turn to be continued must not end with white space.
        last[-1] = {**last[-1], "text": last[-1]["text"].rstrip()}
    return [cast("MessageParam", {"role": role, "content": blocks}) for role, blocks in turns]


def _to_blocks(message: ChatMessage, *, cites: bool) -> "list[ContentBlockParam]":
    if message.role is ChatRole.ASSISTANT:
        return _assistant_blocks(message)
    blocks: list[ContentBlockParam] = [_to_tool_result(result, cites=cites) for result in message.tool_results]
    if text := message.text.strip():
        spoken = f"{message.speaker}: {text}" if message.speaker else text
        blocks.append({"type": "text", "text": spoken})
    return blocks


def _assistant_blocks(message: ChatMessage) -> "list[ContentBlockParam]":
    if message.native is not None:
        return list(cast("Sequence[ContentBlockParam]", message.native))
    blocks: list[ContentBlockParam] = []
    if message.text.strip():
        blocks.append({"type": "text", "text": message.text})
    for call in message.tool_invocations:
        arguments = dict(call.arguments)
        blocks.append({"type": "tool_use", "id": _to_id(call.id), "name": call.name, "input": arguments})
    return blocks


def _to_id(invocation_id: str) -> str:
    return _NOT_IN_IDS.sub("_", invocation_id)


def _to_tool_result(result: ToolResult, *, cites: bool) -> "ToolResultBlockParam":
    block: ToolResultBlockParam = {"type": "tool_result", "tool_use_id": _to_id(result.invocation_id)}
    content: list[TextBlockParam | ImageBlockParam | SearchResultBlockParam] = []
    if text := result.text.strip():
        content.append({"type": "text", "text": text})
    if result.is_error:
        block["is_error"] = True  # an error's content may be text only
    elif not cites:
        content.extend({"type": "text", "text": to_numbered_text(item)} for item in result.passages)
    else:
        content.extend(map(to_search_result, _neighbours(result.passages)))
    if result.shown_before:
        content.append({"type": "text", "text": _shown_before(result.shown_before, cites=cites)})
    if not result.is_error:
        for image in result.images:
            content += [{"type": "text", "text": f"Picture of {image.label}:"}, _to_image(image)]
    if content:
        block["content"] = content
    return block


def _shown_before(passages: Iterable[NumberedPassage], *, cites: bool) -> str:
    """Name passages by document and page, as titles of search results do, or by number where numbers are sent."""
    if not cites:
        return f"Found as well, and shown above: {', '.join(f'[{item.number}]' for item in passages)}"
    pages: dict[str, dict[int, None]] = {}
    for item in passages:
        pages.setdefault(_name_of(item.source), {})[item.source.passage.page_number] = None
    names = (f"{name}, p. {', '.join(map(str, numbers))}" for name, numbers in pages.items())
    return f"Found as well, and shown above: {'; '.join(names)}"


def _to_image(image: PageImage) -> "ImageBlockParam":
    data = base64.b64encode(image.data).decode()
    kind = cast('Literal["image/jpeg", "image/png", "image/webp"]', image.media_type)
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _stop_reason(message: "Message") -> StopReason:
    stop = STOP_REASONS.get(message.stop_reason or "")
    if isinstance(stop, StopReason):
        return stop
    if stop is ProviderRefused:
        raise ProviderRefused(_refusal(message))
    if stop is ContextOverflow:
        raise ContextOverflow(
            "The conversation does not fit the model's window. Start a new thread, or ask about less at once."
        )
    raise ProviderError(f"The model stopped for a reason not known here, {message.stop_reason!r}. Try again.")


def _refusal(message: "Message") -> str:
    details = message.stop_details
    reason = (details.explanation or details.category) if details else None
    return f"The model declined to answer{f': {reason}' if reason else '.'}"


def _segments(content: "Sequence[ContentBlock]", shown: Mapping[str, Sequence[Passage]]) -> tuple[CitedText, ...]:
    tags = InlineCiteFilter()
    segments: list[CitedText] = []
    for block in content:
        if block.type != "text":
            continue
        text = tags.feed(block.text) + tags.flush()
        claims = tuple(claim for citation in block.citations or () for claim in to_citations(citation, shown))
        if text:
            segments.append(CitedText(text=text, citations=claims))
    return tuple(segments)


def _native(message: "Message", *, keep_tool_calls: bool) -> tuple[dict[str, object], ...] | None:
    """Return the turn as plain JSON blocks to send back, thinking included; None if our own types hold everything.

    Such a turn is built from its text and calls, which the history keeps: a follow-up begins with the same bytes. Left
    out: blank texts, which the API refuses, and tool calls without a result (cut off by a limit).
    """
    kept = [
        block
        for block in message.content
        if (block.text.strip() if block.type == "text" else keep_tool_calls or block.type != "tool_use")
    ]
    if all(block.type == "tool_use" or (block.type == "text" and not block.citations) for block in kept):
        return None
    return tuple(block.to_dict(mode="json") for block in kept)


logger = logging.getLogger(__name__)

SOURCE_PREFIX = "footnote://passage/"


def passages_shown(messages: Iterable[ChatMessage]) -> dict[str, tuple[Passage, ...]]:
    """All passages a request holds, by the `source` text of their search result."""
    results = (result for message in shown_once(messages) for result in message.tool_results)
    groups = (group for result in results for group in _neighbours(result.passages))
    return {source_of(group[0].source.passage): tuple(item.source.passage for item in group) for group in groups}


def _neighbours(passages: Iterable[NumberedPassage]) -> list[list[NumberedPassage]]:
    """Group passages that follow each other on a page under the same headings; blank ones, which can't be sent, go."""
    groups: list[list[NumberedPassage]] = []
    for item in passages:
        if not block_spans(item.source.passage):
            continue
        if groups and _follows(groups[-1][-1].source.passage, item.source.passage):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _follows(one: Passage, other: Passage) -> bool:
    is_next = (one.page_id, one.revision, one.ordinal + 1) == (other.page_id, other.revision, other.ordinal)
    return is_next and one.heading_path == other.heading_path


def source_of(passage: Passage) -> str:
    return f"{SOURCE_PREFIX}{passage.id}"


def block_spans(passage: Passage) -> tuple[Span, ...]:
    """Page spans of the text blocks of a passage, in order, touching, none blank; empty for a blank passage.

    Each runs from the start of a sentence to the start of the next, white space between included: blocks joined
    without separator are the page's text. Text before the first sentence is a block of its own. The last is trimmed.
    """
    starts = [sentence.start for sentence in passage.sentences]
    bounds = sorted({passage.span.start, *starts, passage.span.end})
    spans: list[Span] = []
    for start, end in pairwise(bounds):
        if _text_of_span(passage, Span(start, end)).strip():
            spans.append(Span(start, end))
        elif spans:
            spans[-1] = Span(spans[-1].start, end)
    return (*spans[:-1], _trimmed(passage, spans[-1])) if spans else ()


def to_search_result(group: Sequence[NumberedPassage]) -> "SearchResultBlockParam":
    """Return the block of a passage, or of neighbours."""
    texts = [_text_of_span(item.source.passage, span) for item in group for span in block_spans(item.source.passage)]
    return {
        "type": "search_result",
        "source": source_of(group[0].source.passage),
        "title": title_of(group[0].source),
        "content": [{"type": "text", "text": text} for text in texts],
        "citations": {"enabled": True},
    }


def to_numbered_text(item: NumberedPassage) -> str:
    """Return the passage with the number to cite it by, for requests without citations."""
    return f"[{item.number}] {title_of(item.source)}\n{item.source.passage.text}"


def title_of(source: SourcedPassage) -> str:
    """`Document > heading > subheading, p. 3`."""
    path = [_name_of(source), *source.passage.heading_path]
    return f"{' > '.join(path)}, p. {source.passage.page_number}"


def _name_of(source: SourcedPassage) -> str:
    return source.document.title or source.document.path


def to_citations(citation: "TextCitation", shown: Mapping[str, Sequence[Passage]]) -> tuple[PassageCitation, ...]:
    """Return a vendor's citation as claims, one for each passage; none, with a logged warning, if it points nowhere."""
    if citation.type != "search_result_location":
        logger.warning("left out a citation of kind %r: only search results are sent", citation.type)
        return ()
    blocks = [(item, span) for item in shown.get(citation.source, ()) for span in block_spans(item)]
    first, end = citation.start_block_index, citation.end_block_index
    if not 0 <= first < end <= len(blocks):
        logger.warning("left out a citation of %r, blocks %s to %s: not in the request", citation.source, first, end)
        return ()
    cited: dict[str, tuple[Passage, Span]] = {}
    for item, span in blocks[first:end]:
        _, known = cited.get(item.id, (item, span))
        cited[item.id] = item, Span(known.start, span.end)
    claims = [(item, _trimmed(item, span)) for item, span in cited.values()]
    own = "".join(_text_of_span(item, span) for item, span in claims)
    # Blocks may come back joined with their outer white space lost ("One.Two."), which no later comparison that merely
    # collapses white space would take for the page's "One. Two.".
    is_own = "".join(own.split()) == "".join(citation.cited_text.split())
    return tuple(
        PassageCitation(
            passage_id=item.id, span=span, cited_text=_text_of_span(item, span) if is_own else citation.cited_text
        )
        for item, span in claims
    )


def _text_of_span(passage: Passage, span: Span) -> str:
    return passage.text[span.start - passage.span.start : span.end - passage.span.start]


def _trimmed(passage: Passage, span: Span) -> Span:
    return Span(span.start, span.start + len(_text_of_span(passage, span).rstrip()))


# Only a cite with an index attribute is the model's own; a plain `<cite>` may be HTML from a document.
# Lengths are bounded so that a lone "<" can't hold back a page of streamed text.
_OPENING = re.compile(r"<(?:\w{1,10}:)?cite\s(?=[^<>]{0,200}\bindex\s?=)[^<>]{0,200}>")
_CLOSING = re.compile(r"</(?:\w{1,10}:)?cite\s?>")
# Text that may still grow into a tag: held back until more arrives.
_MAY_BECOME_TAG = re.compile(
    r"<(?:/?\w{0,10}|/?\w{1,10}:\w{0,4}|(?:\w{1,10}:)?cite\s[^<>]{0,200}|/(?:\w{1,10}:)?cite\s)\Z"
)


class InlineCiteFilter:
    """A filter for inline `<cite ...>` tags, which some models write instead of citations (anthropic-sdk-python#1060).

    Feed text in pieces of any size; concatenated results are the text without inline cite tags.
    """

    def __init__(self) -> None:
        self._held = ""
        self._open = 0  # opening tags taken out whose closing tag is still to come

    def feed(self, piece: str) -> str:
        """Return the certain text; hold the rest back for the next call."""
        text = self._held + piece
        kept: list[str] = []
        at = 0
        while match := self._next_tag(text, at):
            kept.append(text[at : match.start()])
            at = match.end()
        tail = _MAY_BECOME_TAG.search(text, at)
        end = tail.start() if tail else len(text)
        self._held = text[end:]
        return "".join(kept) + text[at:end]

    def flush(self) -> str:
        """Return the text held back; call it at the end of a text block."""
        text, self._held = self._held, ""
        return text

    def _next_tag(self, text: str, at: int) -> re.Match[str] | None:
        opening = _OPENING.search(text, at)
        closing = _CLOSING.search(text, at, opening.start() if opening else len(text)) if self._open else None
        if closing:
            self._open -= 1
            return closing
        if opening:
            self._open += 1
        return opening
