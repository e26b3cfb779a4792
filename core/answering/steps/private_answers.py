"""Answers beyond the reading position of a channel but not of the asker: the asker gets them privately.

The channel gets one sentence without content. The private answer is a question of its own in the inbox, known by its
event key, so a repeat adds none. Content beyond the channel's position never reaches the channel's answer, history or
job tree.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from core.access.scopes import Access
from core.answering.answers.passages import surroundings
from core.answering.answers.settled import to_answer
from core.answering.pipeline import Question
from core.answering.redaction import may_show
from core.domain.answer import Answer, AnswerStatus, Citation, QueryType
from core.domain.corpus import SearchQuery, SearchScope
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.service import ACCEPTED
from core.errors import AccessDenied, BadInput, InvalidState, NotFound
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.ports.service import InboxStore
from core.work.conversations import Conversations
from core.work.questions import check_question

LOOKED_AT = 5  # pages that the asker may see, best first

# A channel's question -> the same in its asker's own thread, private, with keys that follow from its keys.
ToPrivate: TypeAlias = Callable[[IncomingMessage], IncomingMessage]


class PrivateAnswer:
    """Question of a channel -> a private copy of it in the inbox, if the answer is beyond the channel's position.

    `decide` looks before the request, and ends the path if the best page is beyond. `hand_over` runs after a stored
    answer of status not_found, if any page is beyond. Only questions of platforms in `to_private` are looked at.
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
        # A summary covers the pages up to the channel's position.
        if beyond and beyond[0] and message.query_type is QueryType.QUESTION:
            await self._inbox.accept(private, ACCEPTED)
            return _elsewhere(message)
        question.private = private if any(beyond) else None
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

    async def _look(self, message: IncomingMessage, private: IncomingMessage) -> list[bool]:
        """Return whether each of the best pages is beyond the channel's position; [] for an asker who is no further.

        Raises BadInput for an invalid question, and errors of the search.
        """
        workspace = message.address.workspace
        here = await self._access.scope(workspace, message.address, reader=message.author)
        own = await self._access.scope(workspace, private.address, reader=message.author)
        ends = {document: last for document, last in here.positions.items() if last < own.positions.get(document, last)}
        if not ends:
            return []
        check_question(message.text, needs_words=False)
        only = frozenset[str]()
        if message.document:
            only = frozenset({(await self._library.find_document(message.document, own)).id})
        hits = await self._library.search(SearchQuery(text=message.text, limit=LOOKED_AT, document_ids=only), own)
        return [hit.page_number > ends.get(hit.document.id, hit.page_number) for hit in hits]


def _elsewhere(message: IncomingMessage) -> Answer:
    """Return the answer that the whole channel sees."""
    asker = message.author_name or message.author
    return Answer(
        status=AnswerStatus.ANSWERED,
        text=f"The answer is beyond this channel's reading position, so I'm sending it to {asker} privately.",
    )


SHARED = "shared"  # key of a message's metadata: the id of the stored answer that it shares
CANT_SHARE = "This answer can't be shown here:"  # begins every sentence that says why


class Sharing:
    """Checks of an answer to be shared."""

    def __init__(self, conversations: Conversations, corpus: CorpusRepository, access: Access) -> None:
        self._conversations = conversations
        self._corpus = corpus
        self._access = access

    async def answer_for(self, address: ThreadAddress, by: str, message_id: str) -> Answer:
        """Return a private answer as all readers at the address may see it; `by` is the person who shares it.

        Its footnotes are on pages that are readable there, up to the channel's reading positions, and unchanged. Its
        other lists (references, suggestions, choices) were found for its reader, and are left out. Raises NotFound,
        AccessDenied, BadInput or InvalidState with a sentence without content.
        """
        try:
            conversation, message = await self._conversations.message(message_id, address.workspace)
        except NotFound:
            raise NotFound(f"{CANT_SHARE} it may have been deleted.") from None
        if conversation.address.private_to != by:
            raise AccessDenied(f"{CANT_SHARE} only who it was for can share it.")
        if message.status != AnswerStatus.ANSWERED.value or not message.citations:
            raise BadInput(f"{CANT_SHARE} only answers with footnotes can be shared.")
        answer = to_answer(message, [])
        here = await self._access.scope(address.workspace, address)
        await self._check_footnotes(answer, here)
        own = await self._access.scope(address.workspace, conversation.address)
        basis = message.outcome.rests_on if message.outcome is not None else None
        if basis is not None and not await may_show(basis, here, self._corpus):  # `own` may have been wider then
            raise AccessDenied(f"{CANT_SHARE} not everyone in this channel may read the pages behind it.")
        if not answer.grounded and _is_beyond(own, here):  # text without a footnote may come from anything in `own`
            raise AccessDenied(f"{CANT_SHARE} you may read more than this channel, and parts of it have no footnote.")
        return replace(answer, references=(), suggestions=(), choices=())

    async def _check_footnotes(self, answer: Answer, here: SearchScope) -> None:
        pairs = [(await surroundings(citation, self._corpus, here), citation) for citation in answer.citations]
        if not all(item.quote for item, _ in pairs):
            raise AccessDenied(f"{CANT_SHARE} not everyone in this channel may read the pages behind it.")
        if any(item.now is None or not _is_same(item.now, citation) for item, citation in pairs):
            raise InvalidState(f"{CANT_SHARE} the pages behind it have changed. Ask again.")


class SharedAnswer:
    """Message that shares (SHARED in its metadata) -> the stored answer, or a refusal without content."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing

    async def __call__(self, question: Question) -> Answer | None:
        message = question.message
        shared = message.metadata.get(SHARED)
        if shared is None:
            return None
        try:
            return await self._sharing.answer_for(message.address, message.author, shared)
        except (NotFound, AccessDenied, BadInput, InvalidState) as error:
            return Answer(status=AnswerStatus.REFUSED, text=str(error))


def _is_same(now: Citation, then: Citation) -> bool:
    """Return whether a footnote kept its place, and wasn't found at another readable place."""
    return (now.page_id, now.span) == (then.page_id, then.span)


def _is_beyond(own: SearchScope, here: SearchScope) -> bool:
    """Whether one scope reads anything that the other does not."""
    further = any(own.positions.get(document, last + 1) > last for document, last in here.positions.items())
    return further or not own.sources <= here.sources or not here.hidden <= own.hidden
