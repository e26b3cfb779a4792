"""Documents that a question names by [[links]] or files, and their text, which the model gets before it searches."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz, process

from core.domain.answer import Reference, ReferenceType
from core.domain.chat import ChatMessage, ChatRole, NumberedPassage, ToolInvocation, ToolResult
from core.domain.corpus import Document, Page, SearchScope, SourcedPassage
from core.domain.incoming import IncomingMessage
from core.domain.passages import Span
from core.knowledge.library import Library
from core.knowledge.links import WikiLink, find_links
from core.knowledge.references.document_lines import DocumentLines
from core.knowledge.search.documents import Linked, qualified
from core.ports import CorpusRepository
from core.work.steps import Step

NEAR = 60.0  # of rapidfuzz's 100 points: minimum of a proposed heading
PROPOSED = 3
BLOCK = "^"

_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class PagePart:
    page: Page
    span: Span


def find_section(pages: Sequence[Page], heading: str) -> list[PagePart]:
    """Find the text below a heading, up to the next heading that isn't below it; empty for an unknown heading.

    Case and signs don't count, so `#how-to-row` finds it, too; "A#B" means B below A, and "^id" a block. The first
    match counts. A page is found by its title, together with the pages below it.
    """
    if heading.startswith(BLOCK):
        return _block(pages, heading)
    wanted = [_form(part) for part in heading.split("#") if _form(part)]
    if not wanted:
        return []
    for page in pages:
        for title, span, titles_above in _parts(page):
            above = map(_form, titles_above)
            if _form(title) == wanted[-1] and all(outer in above for outer in wanted[:-1]):  # in their order
                below = [other for other in pages if other.number > page.number and title in other.heading_path]
                return [PagePart(page, span), *(PagePart(other, _whole(other)) for other in below)]
    return []


def near_headings(pages: Sequence[Page], heading: str) -> tuple[str, ...]:
    """Return headings similar to an unknown one, the nearest first."""
    titles = list(dict.fromkeys(title for page in pages for title, _, _ in _parts(page) if title))
    found = process.extract(
        _form(heading.rpartition("#")[2]),
        titles,
        scorer=fuzz.ratio,
        processor=_form,
        limit=PROPOSED,
        score_cutoff=NEAR,
    )
    return tuple(title for title, _, _ in found)


def _parts(page: Page) -> Iterator[tuple[str, Span, Sequence[str]]]:
    """Yield title, span and the titles above of a page's sections, in order; the first is the whole page."""
    above_page = [*page.heading_path]
    titles = {heading.title for heading in page.headings[:1]}
    if page.title and page.title not in titles:
        yield page.title, _whole(page), [*above_page]
        above_page.append(page.title)
    above: list[tuple[int, str]] = []
    for place, heading in enumerate(page.headings):
        while above and above[-1][0] >= heading.level:
            above.pop()
        end = next(
            (later.start for later in page.headings[place + 1 :] if later.level <= heading.level), len(page.text)
        )
        yield heading.title, Span(heading.start, end), [*above_page, *(title for _, title in above)]
        above.append((heading.level, heading.title))


def _block(pages: Sequence[Page], name: str) -> list[PagePart]:
    for page in pages:
        for anchor, place in page.anchors:
            if anchor.lstrip(BLOCK).casefold() == name.lstrip(BLOCK).casefold():
                place = min(place, max(0, len(page.text) - 1))
                return [PagePart(page, Span(place, min(place + 1, len(page.text))))]
    return []


def _whole(page: Page) -> Span:
    return Span(0, len(page.text))


def _form(title: str) -> str:
    return _SIGNS.sub(" ", title).strip().casefold()


# Its name in the history, in the form of a tool call.
OPENED = "open_references"
# Documents whose text is included; with more, each would get a line or two.
MOST_INCLUDED = 10
MOST_PAGES = 5  # at a document's beginning
BYTES_PER_TOKEN = 4  # UTF-8, as core/answering/context counts


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedContext:
    """The documents that a question names: a text about them, and passages to quote, in reading order."""

    text: str
    links: tuple[str, ...]  # as they are written
    passages: tuple[SourcedPassage, ...] = ()


async def passages_of(
    document: Document, parts: Sequence[PagePart], corpus: CorpusRepository, scope: SearchScope
) -> list[SourcedPassage]:
    """Return the passages of a section, or of the document's beginning if no section is given."""
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


def fit_to_budget(documents: Sequence[Sequence[SourcedPassage]], budget_tokens: int) -> list[SourcedPassage]:
    """Return passages of several documents in reading order; the documents take turns until the budget is used."""
    left = budget_tokens * BYTES_PER_TOKEN
    taken = [0 for _ in documents]
    open_ones = list(range(len(documents)))
    while open_ones:
        for number in [*open_ones]:
            rest = documents[number][taken[number] :]
            size = len(rest[0].passage.text.encode()) if rest else left + 1
            if size > left:
                open_ones.remove(number)  # stop at the first that doesn't fit: a gap would look like continuous text
            else:
                taken[number] += 1
                left -= size
    first = (item for passages, count in zip(documents, taken, strict=True) for item in passages[:count])
    return list({item.passage.id: item for item in first}.values())


def to_turns(offer: LinkedContext, numbered: Sequence[NumberedPassage]) -> tuple[ChatMessage, ...]:
    """Return it as a round of tool calls after the question, which the history keeps and every provider can show."""
    invocation = ToolInvocation(id=OPENED, name=OPENED, arguments={"documents": list(offer.links)})
    result = ToolResult(invocation_id=OPENED, name=OPENED, text=offer.text, passages=tuple(numbered))
    return (
        ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=(invocation,)),
        ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(result,)),
    )


MOST_NEAR = 3  # documents proposed for a broken link


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A document that a link or a file names, or a broken link."""

    reference: Reference
    document: Document | None
    parts: tuple[PagePart, ...] = ()  # of the linked section; empty: the whole document


async def find_named(
    message: IncomingMessage,
    *,
    library: Library,
    corpus: CorpusRepository,
    lines: DocumentLines,
    scope: SearchScope,
    parent: Step,
) -> list[Named]:
    """Look up the links of a question and of the message that it is about, then the question's files.

    Each document comes once, or once for each linked heading.
    """
    about = message.about.text if message.about is not None else ""
    links = find_links(message.text, about)
    files = [WikiLink(attachment.name, label=attachment.name) for attachment in message.attachments]
    if not links and not files:
        return []
    led = await library.find_linked([link.target for link in (*links, *files)], scope)
    pages = await _pages_of(links, led, corpus, scope)
    named: dict[tuple[str, str], Named] = {}
    for link, found in zip((*links, *files), led, strict=True):
        item = _named(link, found, pages)
        if item is not None:
            named.setdefault((item.reference.document_id or item.reference.label, item.reference.heading), item)
    return await _with_lines([*named.values()], lines, scope, parent)


async def build_linked_context(
    named: Sequence[Named], *, corpus: CorpusRepository, scope: SearchScope, budget_tokens: int
) -> LinkedContext | None:
    """Build the model's context: a line about each document that is named, and as much of their texts as fits."""
    if not named:
        return None
    readable = [(item.document, item.parts) for item in named if item.document is not None][:MOST_INCLUDED]
    found = await asyncio.gather(*(passages_of(document, parts, corpus, scope) for document, parts in readable))
    return LinkedContext(
        text="\n".join(["What the question names:", *(_told(item.reference) for item in named)]),
        links=tuple(item.reference.label for item in named),
        passages=tuple(fit_to_budget(found, budget_tokens)),
    )


async def _pages_of(
    links: Sequence[WikiLink], led: Sequence[Linked], corpus: CorpusRepository, scope: SearchScope
) -> Mapping[str, Sequence[Page]]:
    ids = {found.document.id: None for link, found in zip(links, led, strict=False) if link.heading and found.document}
    listed = await asyncio.gather(*(corpus.list_pages(id, scope) for id in ids))
    return dict(zip(ids, listed, strict=True))


def _named(link: WikiLink, found: Linked, pages: Mapping[str, Sequence[Page]]) -> Named | None:
    document = found.document
    label = link.label if link.label == link.target else str(link)
    reference = Reference(type=ReferenceType.DIRECT, label=label, document=None)
    if document is None:
        if label == link.label:
            return None  # an unreadable file, which has its own message
        near = tuple(f"[[{_name(item, found.near)}]]" for item in found.near[:MOST_NEAR])
        told = f"{len(found.near)} documents have this name" if found.is_ambiguous else "no document has this name"
        return Named(reference=replace(reference, broken=True, near=near, summary=told), document=None)
    reference = replace(reference, document=document.path, document_id=document.id)
    if not link.heading:
        return Named(reference=reference, document=document)
    parts = find_section(pages.get(document.id, ()), link.heading)
    if not parts:
        near = tuple(f"[[{link.target}#{title}]]" for title in near_headings(pages.get(document.id, ()), link.heading))
        return Named(reference=replace(reference, near=near), document=document)
    return Named(reference=replace(reference, heading=link.heading), document=document, parts=tuple(parts))


def _name(document: Document, others: Sequence[Document]) -> str:
    """Return the best name for a link: the title if no other document has it, else source and path."""
    same = [item for item in others if item.title.casefold() == document.title.casefold()]
    return document.title if len(same) == 1 else qualified(document)


async def _with_lines(named: Sequence[Named], lines: DocumentLines, scope: SearchScope, parent: Step) -> list[Named]:
    shown = [item.document for item in named if item.document is not None][:MOST_INCLUDED]
    about = await lines.of(shown, scope, parent)
    return [
        replace(item, reference=replace(item.reference, summary=about.get(item.document.id, "")))
        if item.document is not None
        else item
        for item in named
    ]


def _told(reference: Reference) -> str:
    """Return a line like `- [[House]] is house.md, section Keys: a summary`."""
    if reference.broken:
        near = f"; near it are {', '.join(reference.near)}" if reference.near else ""
        return f"- {reference.label}: {reference.summary}{near}"
    section = f", section {reference.heading}" if reference.heading else ""
    lost = "" if reference.heading or not reference.near else f" (the nearest headings: {', '.join(reference.near)})"
    about = f": {reference.summary}" if reference.summary else ""
    return f"- {reference.label} is {reference.document}{section}{lost}{about}"
