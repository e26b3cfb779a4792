"""Answers that lie beyond what a channel has read, but not beyond what their asker has: they go to the asker privately.

Stands around the answer service in the same form. The channel's question is answered with one sentence without content;
its answer is a question of its own in the inbox, of the asker's own thread, so that it survives whatever happens like
any other. Both are known by their event keys: a repeat is no second one. Nothing that was found beyond the channel's
position is ever in the channel's answer, history or steps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from core.access.scopes import Access
from core.answering.service import Answering, Attempt, check_question
from core.domain.answer import Answer, AnswerStatus, QueryType
from core.domain.conversation import IncomingMessage
from core.domain.corpus import SearchQuery
from core.knowledge.library import Library
from core.ports import ProgressSink
from core.ports.service import InboxStore
from core.service.inbox import ACCEPTED

LOOKED_AT = 5  # pages that the asker may see, best first

# A channel's question -> the same in its asker's own thread, private, with keys that follow from its keys.
ToPrivate: TypeAlias = Callable[[IncomingMessage], IncomingMessage]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beyond:
    """Where the pages that fit a question best lie: beyond the channel's position, for somebody who has read on?"""

    best: bool = False
    some: bool = False


class PrivateAnswers:
    """Implements Answering. Questions of platforms that `to_private` does not name pass through."""

    def __init__(
        self,
        inner: Answering,
        to_private: Mapping[str, ToPrivate],
        *,
        access: Access,
        library: Library,
        inbox: InboxStore,
    ) -> None:
        """`to_private` by platform name."""
        self._inner = inner
        self._to_private = to_private
        self._access = access
        self._library = library
        self._inbox = inbox

    async def answer(self, message: IncomingMessage, progress: ProgressSink, attempt: Attempt) -> Answer:
        """As AnswerService.answer. What is for the asker alone is in the inbox before the channel is told."""
        private = self._private(message)
        if private is None:
            return await self._inner.answer(message, progress, attempt)
        beyond = await self._look(message, private)
        if beyond.best and message.query_type is QueryType.QUESTION:  # a summary is one as far as the channel has read
            await self._inbox.accept(private, ACCEPTED)
            return await self._inner.settle(message, _elsewhere(message))
        answer = await self._inner.answer(message, progress, attempt)
        if answer.status is not AnswerStatus.NOT_FOUND or not beyond.some:
            return answer
        await self._inbox.accept(private, ACCEPTED)
        said = _elsewhere(message)
        return replace(answer, status=said.status, text=said.text, references=(), suggestions=())

    async def settle(self, message: IncomingMessage, answer: Answer) -> Answer:
        return await self._inner.settle(message, answer)

    def _private(self, message: IncomingMessage) -> IncomingMessage | None:
        """None where the asker reads alone already, or says how far to look."""
        make = self._to_private.get(message.address.platform)
        is_alone = message.private or message.is_alone
        return make(message) if make is not None and not is_alone and message.position is None else None

    async def _look(self, message: IncomingMessage, private: IncomingMessage) -> _Beyond:
        """Looks only where the asker may read on. Raises BadInput for what can't be asked, and what a search raises."""
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
    """What everybody sees."""
    asker = message.author_name or message.author
    return Answer(
        status=AnswerStatus.ANSWERED,
        text=f"The answer lies beyond this channel's reading position: I send it to {asker} privately.",
    )
