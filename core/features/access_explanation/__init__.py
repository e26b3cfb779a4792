"""Why people can see a document in a place, or can't: the decisions that scopes are made of, told one by one.

No rule of its own: sources and positions come from scopes.py as `Access.scope` has them, and pages are looked
for within that scope.
"""

from dataclasses import replace

from core.access.positions.named_places import place_of
from core.access.scopes import Access, Bounds, Grounds
from core.domain.corpus import Document, SearchScope
from core.domain.service import PersonAddress, PositionHolder
from core.errors import NotFound
from core.features.access_explanation.messages import changes_of, source_sentence, verdict_sentence
from core.features.access_explanation.values import (
    AccessQuestion,
    Explanation,
    HeldPosition,
    Holder,
    PositionOf,
    SourceReason,
    Verdict,
    VerdictOn,
)
from core.knowledge.library import Library
from core.ports import CorpusRepository

__all__ = ["AccessQuestion", "Explanation", "Explanations"]


class Explanations:
    """For whoever owns the service: names documents that may not be read where it is asked, and never their text."""

    def __init__(self, access: Access, library: Library, corpus: CorpusRepository) -> None:
        self._access = access
        self._library = library
        self._corpus = corpus

    async def of(self, question: AccessQuestion) -> Explanation:
        """Raises BadInput and NotFound for a document as Library.find_document does, in the whole workspace."""
        grounds, bounds = await self._access.decide(
            question.workspace, question.address, question.reader, alone=question.alone
        )
        return Explanation(
            question=question,
            alone=bounds.own_first or question.alone,
            sources=tuple(
                SourceReason(
                    name=source.name,
                    kind=source.kind,
                    ground=ground,
                    sentence=source_sentence(ground, question, grounds.settings),
                )
                for source, ground in grounds.sources
            ),
            positions=await self._positions(grounds, bounds),
            document=await self._verdict(question, grounds, bounds),
        )

    async def _positions(self, grounds: Grounds, bounds: Bounds) -> tuple[PositionOf, ...]:
        """Of the documents that may be read there, by source name, then path."""
        found = await self._corpus.find_documents([*bounds.deciding], grounds.scope())
        books = (position for document in found if (position := _position(document, bounds)) is not None)
        return tuple(sorted(books, key=lambda item: (item.document.source, item.document.path)))

    async def _verdict(self, question: AccessQuestion, grounds: Grounds, bounds: Bounds) -> VerdictOn | None:
        if question.document is None:
            return None
        everything = grounds.everything()
        document = await self._library.find_document(question.document, everything)
        ground = next((ground for source, ground in grounds.sources if source.id == document.source_id), None)
        if ground is None:
            raise NotFound(f"{document.path!r} has just been removed: look at `footnote documents`.")
        position = _position(document, bounds)
        scope = grounds.scope(bounds.positions)
        verdict, chapter = await self._look(document, position, scope, everything)
        told = VerdictOn(document=document, verdict=verdict, ground=ground, position=position, chapter=chapter)
        return replace(
            told,
            sentence=verdict_sentence(told, question, grounds.settings),
            changes=changes_of(told, question, grounds, own_first=bounds.own_first),
        )

    async def _look(
        self, document: Document, position: PositionOf | None, scope: SearchScope, everything: SearchScope
    ) -> tuple[Verdict, str]:
        """How much may be read, and the chapter where it ends."""
        if document.revision is None or not scope.allows(document):
            return Verdict.NOTHING, ""
        if position is None:
            return Verdict.WHOLE, ""
        pages = await self._corpus.list_pages(document.id, everything)
        shown = [page for page in pages if scope.allows(document, page.number)]
        if len(shown) == len(pages):
            return Verdict.WHOLE, ""
        return (Verdict.UP_TO, place_of(shown[-1].number, shown)) if shown else (Verdict.NOTHING, "")


def _position(document: Document, bounds: Bounds) -> PositionOf | None:
    deciding = bounds.deciding.get(document.id)
    if deciding is None:
        return None
    held = tuple(
        HeldPosition(holder=_holder(holder), last_page=positions[document.id])
        for holder, positions in bounds.held
        if document.id in positions
    )
    holder, positions = bounds.held[deciding]
    return PositionOf(document=document, holder=_holder(holder), last_page=positions[document.id], held=held)


def _holder(holder: PositionHolder) -> Holder:
    if not isinstance(holder, PersonAddress):
        return Holder.CHANNEL
    return Holder.LIFTED if holder.alone else Holder.PERSON
