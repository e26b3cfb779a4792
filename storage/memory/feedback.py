"""Ratings of answers in memory."""

from core.domain.features import Feedback
from core.errors import NotFound
from core.ports import ConversationRepository
from storage.storable import to_storable, to_storable_value


class MemoryFeedbackRepository:
    """FeedbackRepository that forgets everything with the process; ratings go with the conversations' messages."""

    def __init__(self, conversations: ConversationRepository, workspace: str = "local") -> None:
        self._conversations = conversations
        self._workspace = workspace
        self._feedback: dict[tuple[str, str], Feedback] = {}

    async def save(self, feedback: Feedback) -> None:
        known = [
            message.id
            for conversation in await self._conversations.list_conversations(self._workspace)
            for message in await self._conversations.list_messages(conversation.id)
        ]
        feedback = to_storable_value(feedback)
        if feedback.message_id not in known:
            raise NotFound(f"There is no message {feedback.message_id!r} to rate: it was deleted.")
        self._feedback[feedback.message_id, feedback.author] = feedback

    async def remove(self, message_id: str, author: str) -> None:
        self._feedback.pop((message_id, to_storable(author)), None)

    async def list_feedback(self, conversation_id: str) -> list[Feedback]:
        order = [message.id for message in await self._conversations.list_messages(conversation_id)]
        found = [item for item in self._feedback.values() if item.message_id in order]
        return sorted(found, key=lambda item: (order.index(item.message_id), item.author))
