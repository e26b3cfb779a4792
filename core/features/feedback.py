"""Thumbs up and down: each person has one for each answer, and may change or take it back."""

from collections.abc import Mapping

from core.domain.conversation import Conversation, Role
from core.domain.features import Feedback, FeedbackReason, Rating
from core.errors import NotFound
from core.ports import Clock
from core.ports.service import FeedbackRepository
from core.work.conversations import Conversations

REASONS: Mapping[FeedbackReason, str] = {
    FeedbackReason.SOURCE: "Wrong source",
    FeedbackReason.OUTDATED: "Out of date",
    FeedbackReason.MISSED: "Missed something",
    FeedbackReason.OTHER: "Other",
}


class Feedbacks:
    def __init__(self, repository: FeedbackRepository, conversations: Conversations, clock: Clock) -> None:
        self._repository = repository
        self._conversations = conversations
        self._clock = clock

    async def rate(
        self,
        conversation: Conversation,
        message_id: str,
        author: str,
        rating: Rating | None,
        reason: FeedbackReason | None = None,
    ) -> None:
        """Store a rating; None deletes it. NotFound if the message is not an answer of the conversation."""
        _, messages = await self._conversations.show(conversation.id, conversation.address.workspace)
        if all(message.id != message_id or message.role is not Role.ASSISTANT for message in messages):
            raise NotFound(f"There is no answer {message_id!r} in this conversation.")
        if rating is None:
            await self._repository.remove(message_id, author)
            return
        await self._repository.save(
            Feedback(message_id=message_id, author=author, rating=rating, created_at=self._clock.now(), reason=reason)
        )

    async def ratings_by(self, author: str, conversation: Conversation) -> Mapping[str, Rating]:
        """Return one person's ratings of a conversation, by message ID."""
        found = await self._repository.list_feedback(conversation.id)
        return {item.message_id: item.rating for item in found if item.author == author}
