"""The scope of one question: its thread's and its asker's, up to the place that the question itself names."""

from dataclasses import replace

from core.access.positions.reading import lowest, positions_for, split_position
from core.access.scopes import Access
from core.domain.conversation import IncomingMessage
from core.domain.corpus import Document, SearchScope
from core.errors import AccessDenied
from core.knowledge.library import Library
from core.ports import CorpusRepository


class QuestionScopes:
    """Built for each question, because settings may have changed."""

    def __init__(self, access: Access, library: Library, corpus: CorpusRepository) -> None:
        self._access = access
        self._library = library
        self._corpus = corpus

    async def of(self, message: IncomingMessage) -> SearchScope:
        """Return the scope up to the positions of the question's place, or to the end for an asker in private.

        Raises AccessDenied for a question to the end in a shared place.
        """
        address, alone = message.address, message.is_alone
        if message.to_the_end and not alone:
            raise AccessDenied(
                "A question to the end of a book is only answered in private. Ask it in a direct message, or "
                "with --private."
            )
        scope = await self._access.scope(address.workspace, address, reader=message.author, alone=alone)
        return replace(scope, positions={}) if message.to_the_end else scope

    async def up_to(self, message: IncomingMessage, document: Document | None, scope: SearchScope) -> SearchScope:
        """The scope up to the question's own position, too; `document` is the one that it is asked of.

        Raises BadInput and NotFound for a position that is none.
        """
        if not message.position:
            return scope
        name, place = split_position(message.position)
        bounded = await self._library.find_document(name, scope) if name else document
        whole = await self._access.scope_to_the_end(message.address.workspace, message.address)
        asked = await positions_for(place, bounded, self._corpus, whole, scope)
        return replace(scope, positions=lowest(scope.positions, asked))
