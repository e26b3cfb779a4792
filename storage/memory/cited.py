"""Which documents answers cite, in memory."""

from collections import Counter

from core.domain.connections import CitedIn
from storage.memory.conversations import MemoryConversationRepository
from storage.storable import to_storable


class MemoryCitedRepository:
    """CitedRepository over the twin of the conversations."""

    def __init__(self, conversations: MemoryConversationRepository) -> None:
        self._conversations = conversations

    async def cited(self, workspace: str) -> list[CitedIn]:
        wanted = to_storable(workspace)
        answers: Counter[tuple[str, str]] = Counter()
        private: dict[str, bool] = {}
        for conversation, message in self._conversations.every_message():
            if conversation.address.workspace == wanted:
                private[conversation.id] = conversation.address.private_to is not None
                answers.update({(conversation.id, citation.document_id) for citation in message.citations})
        return [
            CitedIn(conversation_id=key[0], document_id=key[1], answers=count, is_private=private[key[0]])
            for key, count in sorted(answers.items())
        ]
