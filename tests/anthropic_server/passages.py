"""Passages for requests to the server."""

import re

from core.domain.chat import ChatMessage, ChatRole, NumberedPassage, ToolDefinition, ToolInvocation, ToolResult
from core.domain.corpus import Document, SourcedPassage
from core.domain.passages import Passage, Span

SEARCH = ToolDefinition(
    name="search",
    description="Searches the library.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
PAGE = "# Rules\n\nThe gate opens at nine. It closes at five.\n\nNobody enters  after dark! Ask Ann."


def passage(text: str = PAGE, *, passage_id: str = "p1", start: int = 0, end: int | None = None) -> Passage:
    """A passage of a page: sentences by their full stops, headings left out, as a chunker gives them."""
    span = Span(start, len(text) if end is None else end)
    found = re.finditer(r"(?!#)\S[^.!?\n]*[.!?]", text)
    return Passage(
        id=passage_id,
        document_id="d1",
        page_id="pg1",
        page_number=3,
        revision="r1",
        ordinal=0,
        span=span,
        text=span.of(text),
        heading_path=("Rules",),
        sentences=tuple(s for m in found if span.contains(s := Span(m.start(), m.end()))),
    )


def numbered(item: Passage, number: int = 1) -> NumberedPassage:
    document = Document(
        id="d1",
        workspace="local",
        source_id="s1",
        source="docs",
        path="castle.md",
        title="The Castle",
        kind="markdown",
        revision=item.revision,
    )
    return NumberedPassage(number=number, source=SourcedPassage(passage=item, document=document, page_title="Rules"))


def user(text: str, speaker: str | None = None) -> ChatMessage:
    return ChatMessage(role=ChatRole.USER, text=text, speaker=speaker)


def calls(*invocations: ToolInvocation, text: str = "", native: object | None = None) -> ChatMessage:
    return ChatMessage(role=ChatRole.ASSISTANT, text=text, tool_invocations=invocations, native=native)


def results(*found: ToolResult) -> ChatMessage:
    return ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=found)


def found(invocation_id: str, *items: Passage, text: str = "", is_error: bool = False) -> ToolResult:
    return ToolResult(
        invocation_id=invocation_id,
        name="search",
        text=text,
        passages=tuple(numbered(item, number) for number, item in enumerate(items, 1)),
        is_error=is_error,
    )
