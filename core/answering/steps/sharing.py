"""Private answers that their readers share with a channel: only content that all its readers may see.

The stored answer is checked again when it is shared; no model is asked.
"""

from dataclasses import replace

from core.access.scopes import Access
from core.answering.answers.passages import surroundings
from core.answering.answers.stored import to_answer
from core.answering.pipeline import Question
from core.domain.answer import Answer, AnswerStatus, Citation
from core.domain.conversation import ThreadAddress
from core.domain.corpus import SearchScope
from core.errors import AccessDenied, BadInput, InvalidState, NotFound
from core.ports import CorpusRepository
from core.work.conversations import Conversations

SHARED = "shared"  # key of a message's metadata: the id of the stored answer that it shares
CANT_SHARE = "This answer can't be shown here:"  # begins every sentence that says why


class Sharing:
    """Checks of an answer to be shared."""

    def __init__(self, *, conversations: Conversations, corpus: CorpusRepository, access: Access) -> None:
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
        if not answer.grounded and _is_beyond(own, here):  # text without a footnote may come from anything in `own`
            raise AccessDenied(f"{CANT_SHARE} you may read more than this channel, and parts of it have no footnote.")
        return replace(answer, references=(), suggestions=(), choices=())

    async def _check_footnotes(self, answer: Answer, here: SearchScope) -> None:
        pairs = [(await surroundings(citation, self._corpus, here), citation) for citation in answer.citations]
        if not all(item.quote for item, _ in pairs):
            raise AccessDenied(f"{CANT_SHARE} not everybody in this channel may read the pages behind it.")
        if any(item.now is None or not _is_same(item.now, citation) for item, citation in pairs):
            raise InvalidState(f"{CANT_SHARE} the pages behind it have changed since: ask again.")


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
    return further or not own.sources <= here.sources
