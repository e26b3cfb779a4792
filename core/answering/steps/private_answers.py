"""Answers beyond the reading position of a channel but not of the asker: the asker gets them privately.

The channel gets one sentence without content. The private answer is a question of its own in the inbox, known by its
event key, so a repeat adds none. Content beyond the channel's position never reaches the channel's answer, history or
job tree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from core.access.scopes import Access
from core.answering.pipeline import Question
from core.domain.answer import Answer, AnswerStatus, QueryType
from core.domain.conversation import IncomingMessage
from core.domain.corpus import SearchQuery
from core.domain.service import ACCEPTED
from core.knowledge.library import Library
from core.ports.service import InboxStore
from core.work.questions import check_question

LOOKED_AT = 5  # pages that the asker may see, best first

# A channel's question -> the same in its asker's own thread, private, with keys that follow from its keys.
ToPrivate: TypeAlias = Callable[[IncomingMessage], IncomingMessage]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beyond:
    """The place of the best pages: beyond the channel's position, for an asker who has read further?"""

    best: bool = False
    some: bool = False


class PrivateAnswer:
    """Question of a channel -> a private copy of it in the inbox, if the answer lies beyond the channel's position.

    `decide` looks before the request, and ends the path if the best page lies beyond. `hand_over` runs after a stored
    answer of status not_found, if any page lies beyond. Only questions of platforms in `to_private` are looked at.
    """

    def __init__(
        self, to_private: Mapping[str, ToPrivate], *, access: Access, library: Library, inbox: InboxStore
    ) -> None:
        """`to_private` by platform name."""
        self._to_private = to_private
        self._access = access
        self._library = library
        self._inbox = inbox

    async def decide(self, question: Question) -> Answer | None:
        message = question.message
        private = self._private(message)
        if private is None:
            return None
        beyond = await self._look(message, private)
        if beyond.best and message.query_type is QueryType.QUESTION:  # a summary covers what the channel has read
            await self._inbox.accept(private, ACCEPTED)
            return _elsewhere(message)
        question.private = private if beyond.some else None
        return None

    async def hand_over(self, question: Question) -> None:
        if question.private is None or question.answer.status is not AnswerStatus.NOT_FOUND:
            return
        await self._inbox.accept(question.private, ACCEPTED)
        said = _elsewhere(question.message)
        question.answer = replace(question.answer, status=said.status, text=said.text, references=(), suggestions=())

    def _private(self, message: IncomingMessage) -> IncomingMessage | None:
        """Return None for an asker in private, or one who names a position."""
        make = self._to_private.get(message.address.platform)
        is_alone = message.private or message.is_alone
        return make(message) if make is not None and not is_alone and message.position is None else None

    async def _look(self, message: IncomingMessage, private: IncomingMessage) -> _Beyond:
        """Search, if the asker may read further. Raises BadInput for an invalid question, and errors of the search."""
        workspace = message.address.workspace
        here = await self._access.scope(workspace, message.address, reader=message.author)
        own = await self._access.scope(workspace, private.address, reader=message.author)
        ends = {document: last for document, last in here.positions.items() if last < own.positions.get(document, last)}
        if not ends:
            return _Beyond()
        check_question(message.text)
        only = frozenset[str]()
        if message.document:
            only = frozenset({(await self._library.find_document(message.document, own)).id})
        hits = await self._library.search(SearchQuery(text=message.text, limit=LOOKED_AT, document_ids=only), own)
        beyond = [hit.page_number > ends.get(hit.document.id, hit.page_number) for hit in hits]
        return _Beyond(best=beyond[:1] == [True], some=any(beyond))


def _elsewhere(message: IncomingMessage) -> Answer:
    """Return the answer that the whole channel sees."""
    asker = message.author_name or message.author
    return Answer(
        status=AnswerStatus.ANSWERED,
        text=f"The answer lies beyond this channel's reading position: I send it to {asker} privately.",
    )
