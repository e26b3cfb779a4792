"""Direct references: the documents that a question names by [[links]], and the files that came with it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain.answer import Reference, ReferenceType
from core.domain.conversation import IncomingMessage
from core.domain.corpus import Document, Page, SearchScope
from core.knowledge.library import Library
from core.knowledge.references.lines import DocumentLines
from core.knowledge.references.linked_context import MOST_OFFERED, Offer, passages_of, share
from core.knowledge.references.links import WikiLink, find_links
from core.knowledge.references.sections import PagePart, find_section, near_headings
from core.knowledge.search.documents import Linked, qualified
from core.ports import CorpusRepository

MOST_NEAR = 3  # documents proposed for a broken link


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What one link, or one file, names."""

    reference: Reference
    document: Document | None
    parts: tuple[PagePart, ...] = ()  # of the section that is meant; empty: the whole document


async def find_named(
    message: IncomingMessage, *, library: Library, corpus: CorpusRepository, lines: DocumentLines, scope: SearchScope
) -> list[Named]:
    """What a question names, in order: its links and those of the message it is about, then its files.

    A document is named once, however often it is linked; with two headings of it, once for each.
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
    return await _with_lines([*named.values()], lines, scope)


async def make_offer(
    named: Sequence[Named], *, corpus: CorpusRepository, scope: SearchScope, budget_tokens: int
) -> Offer | None:
    """What the model is told of what is named: the text of each, as far as it fits."""
    if not named:
        return None
    readable = [(item.document, item.parts) for item in named if item.document is not None][:MOST_OFFERED]
    found = await asyncio.gather(*(passages_of(document, parts, corpus, scope) for document, parts in readable))
    return Offer(
        text="\n".join(["What the question names:", *(_told(item.reference) for item in named)]),
        links=tuple(item.reference.label for item in named),
        passages=tuple(share(found, budget_tokens)),
    )


async def _pages_of(
    links: Sequence[WikiLink], led: Sequence[Linked], corpus: CorpusRepository, scope: SearchScope
) -> Mapping[str, Sequence[Page]]:
    """The pages of the documents that are linked with a heading, by document id."""
    ids = {found.document.id: None for link, found in zip(links, led, strict=False) if link.heading and found.document}
    listed = await asyncio.gather(*(corpus.list_pages(id, scope) for id in ids))
    return dict(zip(ids, listed, strict=True))


def _named(link: WikiLink, found: Linked, pages: Mapping[str, Sequence[Page]]) -> Named | None:
    document = found.document
    label = link.label if link.label == link.target else str(link)
    reference = Reference(type=ReferenceType.DIRECT, label=label, document=None)
    if document is None:
        if label == link.label:
            return None  # a file that could not be read: that is said already
        near = tuple(f"[[{_name(item, found.near)}]]" for item in found.near[:MOST_NEAR])
        return Named(
            reference=replace(reference, broken=True, near=near, summary=_broken(found)),
            document=None,
        )
    reference = replace(reference, document=document.path, document_id=document.id)
    if not link.heading:
        return Named(reference=reference, document=document)
    parts = find_section(pages.get(document.id, ()), link.heading)
    if not parts:
        near = tuple(f"[[{link.target}#{title}]]" for title in near_headings(pages.get(document.id, ()), link.heading))
        return Named(reference=replace(reference, near=near), document=document)
    return Named(reference=replace(reference, heading=link.heading), document=document, parts=tuple(parts))


def _broken(found: Linked) -> str:
    return f"{len(found.near)} documents are called so" if found.is_ambiguous else "no document is called so"


def _name(document: Document, others: Sequence[Document]) -> str:
    """What a link to it is best called: its title, where no other has that."""
    same = [item for item in others if item.title.casefold() == document.title.casefold()]
    return document.title if len(same) == 1 else qualified(document)


async def _with_lines(named: Sequence[Named], lines: DocumentLines, scope: SearchScope) -> list[Named]:
    shown = [item.document for item in named if item.document is not None][:MOST_OFFERED]
    about = await lines.of(shown, scope)
    return [
        replace(item, reference=replace(item.reference, summary=about.get(item.document.id, "")))
        if item.document is not None
        else item
        for item in named
    ]


def _told(reference: Reference) -> str:
    """`- [[House]] is house.md, section Keys: what it is about`."""
    if reference.broken:
        near = f"; near it are {', '.join(reference.near)}" if reference.near else ""
        return f"- {reference.label}: {reference.summary}{near}"
    section = f", section {reference.heading}" if reference.heading else ""
    lost = "" if reference.heading or not reference.near else f" (the nearest headings: {', '.join(reference.near)})"
    about = f": {reference.summary}" if reference.summary else ""
    return f"- {reference.label} is {reference.document}{section}{lost}{about}"
