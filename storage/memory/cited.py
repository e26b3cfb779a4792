"""Which documents answers cite, in memory."""

from collections import Counter
from collections.abc import Callable

from core.domain.conversation import ThreadAddress, is_private_thread
from core.domain.features import CitedIn
from storage.memory.conversations import MemoryConversationRepository
from storage.storable import to_storable


class MemoryCitedRepository:
    """CitedRepository over the twin of the conversations."""

    def __init__(
        self,
        conversations: MemoryConversationRepository,
        is_private: Callable[[ThreadAddress], bool] = is_private_thread,
    ) -> None:
        self._conversations = conversations
        self._is_private = is_private

    async def cited(self, workspace: str) -> list[CitedIn]:
        wanted = to_storable(workspace)
        answers: Counter[tuple[str, str]] = Counter()
        private: dict[str, bool] = {}
        for conversation, message in self._conversations.every_message():
            if conversation.address.workspace == wanted:
                private[conversation.id] = self._is_private(conversation.address)
                answers.update({(conversation.id, citation.document_id) for citation in message.citations})
        return [
            CitedIn(conversation_id=key[0], document_id=key[1], answers=count, is_private=private[key[0]])
            for key, count in sorted(answers.items())
        ]
