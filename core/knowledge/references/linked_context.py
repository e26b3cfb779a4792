"""The text of the documents that a question names, offered to the model before it looks anything up."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.answer import ChatMessage, ChatRole, NumberedPassage, ToolInvocation, ToolResult
from core.domain.corpus import Document, SearchScope, SourcedPassage
from core.knowledge.references.sections import PagePart
from core.ports import CorpusRepository

# The name under which the history keeps it, beside the calls of tools. It is no tool: nothing has to be called for it.
OPENED = "open_references"
# Documents whose text is offered; behind so many, each would get a line or two.
MOST_OFFERED = 10
# Pages at a document's beginning that are looked at for text.
MOST_PAGES = 5
# As core/answering/context counts: UTF-8 bytes.
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What is told of the documents that a question names, and what can be quoted of them, in reading order."""

    text: str
    links: tuple[str, ...]  # as they are written
    passages: tuple[SourcedPassage, ...] = ()


async def passages_of(
    document: Document, parts: Sequence[PagePart], corpus: CorpusRepository, scope: SearchScope
) -> list[SourcedPassage]:
    """Those of a section; without one, those of the document's beginning."""
    if parts:
        found = await asyncio.gather(*(corpus.list_page_passages(part.page.id, scope) for part in parts))
        return [
            item
            for part, passages in zip(parts, found, strict=True)
            for item in passages
            if item.passage.span.start < part.span.end and part.span.start < item.passage.span.end
        ]
    numbers = range(1, min(document.pages, MOST_PAGES) + 1)
    pages = await corpus.find_pages(document.id, numbers, scope)
    pages = pages or (await corpus.list_pages(document.id, scope))[:MOST_PAGES]
    return [item for page in pages for item in await corpus.list_page_passages(page.id, scope)]


def share(documents: Sequence[Sequence[SourcedPassage]], budget_tokens: int) -> list[SourcedPassage]:
    """Passages of several documents within a budget, in turns: none gets all of it. In reading order."""
    room = budget_tokens * BYTES_PER_TOKEN
    taken: list[set[int]] = [set() for _ in documents]
    open_ones = list(range(len(documents)))
    place = 0
    while open_ones:
        for number in [*open_ones]:
            size = len(documents[number][place].passage.text.encode()) if place < len(documents[number]) else room + 1
            if size > room:
                open_ones.remove(number)  # passages left out in the middle would read as if nothing stood there
            else:
                taken[number].add(place)
                room -= size
        place += 1
    once = {
        item.passage.id: item
        for passages, places in zip(documents, taken, strict=True)
        for place, item in enumerate(passages)
        if place in places
    }
    return list(once.values())


def to_turns(offer: Offer, numbered: Sequence[NumberedPassage]) -> tuple[ChatMessage, ...]:
    """The offer as a round of calls, behind the question: what the history keeps, and every provider knows to show."""
    invocation = ToolInvocation(id=OPENED, name=OPENED, arguments={"documents": list(offer.links)})
    result = ToolResult(invocation_id=OPENED, name=OPENED, text=offer.text, passages=tuple(numbered))
    return (
        ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=(invocation,)),
        ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(result,)),
    )
