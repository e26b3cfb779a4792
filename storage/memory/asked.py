"""Questions with what became of them, in memory."""

from collections.abc import Callable
from datetime import timedelta

from core.domain.answer import AnswerStatus, Usage
from core.domain.conversation import Role, ThreadAddress, is_private_thread
from core.domain.features import AskedQuestion, Rating
from core.ports import Clock
from core.ports.service import FeedbackRepository
from storage.memory.conversations import MemoryConversationRepository
from storage.storable import to_storable


class MemoryAskedRepository:
    """Implements core.features.statistics.AskedRepository over the twins of conversations and ratings."""

    def __init__(
        self,
        conversations: MemoryConversationRepository,
        feedback: FeedbackRepository,
        clock: Clock,
        is_private: Callable[[ThreadAddress], bool] = is_private_thread,
    ) -> None:
        self._is_private = is_private
        self._conversations = conversations
        self._feedback = feedback
        self._clock = clock

    async def asked(self, workspace: str, days: float) -> list[AskedQuestion]:
        since = self._clock.now() - timedelta(days=days)
        found: list[tuple[str, AskedQuestion]] = []
        said: dict[str, str] = {}
        for conversation, message in self._conversations.every_message():
            if message.role is Role.USER:
                said[conversation.id] = message.content
            is_answer = message.status is not None and not message.is_note and message.created_at >= since
            if not is_answer or conversation.id not in said or conversation.address.workspace != to_storable(workspace):
                continue
            ratings = [
                item.rating
                for item in await self._feedback.list_feedback(conversation.id)
                if item.message_id == message.id
            ]
            question = AskedQuestion(
                text=said[conversation.id],
                status=AnswerStatus(message.status or AnswerStatus.ANSWERED),
                asked_at=message.created_at,
                is_private=self._is_private(conversation.address),
                document_ids=frozenset(citation.document_id for citation in message.citations),
                usage=message.outcome.usage if message.outcome else Usage(),
                helpful=ratings.count(Rating.UP),
                not_helpful=ratings.count(Rating.DOWN),
            )
            found.append((message.id, question))
        found.sort(key=lambda item: item[0])
        found.sort(key=lambda item: item[1].asked_at, reverse=True)
        return [question for _, question in found]
