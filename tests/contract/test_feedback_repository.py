"""The contract of FeedbackRepository, on every database."""

from dataclasses import dataclass, replace

import pytest

from core.domain.conversation import Role
from core.domain.features import Feedback, FeedbackReason, Rating
from core.errors import NotFound
from core.ports import ConversationRepository
from core.ports.service import FeedbackRepository
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.feedback import SqlFeedbackRepository
from tests.builders import NOON, build_conversation, build_message


@dataclass
class Stores:
    conversations: ConversationRepository
    feedback: FeedbackRepository


@pytest.fixture
async def stores(database: Database) -> Stores:
    found = Stores(SqlConversationRepository(database), SqlFeedbackRepository(database))
    for number in (1, 2):
        await found.conversations.add(build_conversation(f"c{number}"))
        answers = [
            build_message(f"m{number}{letter}", role=Role.ASSISTANT, conversation_id=f"c{number}") for letter in "ba"
        ]
        await found.conversations.append(f"c{number}", answers)
    return found


def rated(message_id: str, author: str = "ada", rating: Rating = Rating.UP) -> Feedback:
    return Feedback(message_id=message_id, author=author, rating=rating, created_at=NOON)


async def test_ratings_come_back_in_the_order_of_messages_and_authors(stores: Stores) -> None:
    given = [rated("m1a"), rated("m1b", "ben", Rating.DOWN), rated("m1b"), rated("m2a")]
    for item in given:
        await stores.feedback.save(item)

    assert await stores.feedback.list_feedback("c1") == [given[2], given[1], given[0]]
    assert await stores.feedback.list_feedback("c2") == [given[3]]


async def test_a_person_has_one_rating_for_an_answer_and_may_take_it_back(stores: Stores) -> None:
    await stores.feedback.save(rated("m1a"))
    await stores.feedback.save(rated("m1a", rating=Rating.DOWN))
    changed = await stores.feedback.list_feedback("c1")
    await stores.feedback.remove("m1a", "ada")
    await stores.feedback.remove("m1a", "nobody")

    assert changed == [rated("m1a", rating=Rating.DOWN)]
    assert await stores.feedback.list_feedback("c1") == []


async def test_a_reason_is_kept_until_the_rating_changes(stores: Stores) -> None:
    because = replace(rated("m1a", rating=Rating.DOWN), reason=FeedbackReason.OUTDATED)
    await stores.feedback.save(because)
    given = await stores.feedback.list_feedback("c1")
    await stores.feedback.save(rated("m1a"))

    assert given == [because]
    assert await stores.feedback.list_feedback("c1") == [rated("m1a")]


async def test_an_unknown_message_cannot_be_rated(stores: Stores) -> None:
    with pytest.raises(NotFound, match="m9"):
        await stores.feedback.save(rated("m9"))


async def test_ratings_go_with_their_conversation(stores: Stores) -> None:
    await stores.feedback.save(rated("m1a"))
    await stores.conversations.delete("c1")

    assert await stores.feedback.list_feedback("c1") == []
