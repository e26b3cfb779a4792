"""The contract of AskedRepository (core/features/statistics.py), on every database."""

from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from bot.presentation.direct_threads import is_direct_thread
from core.domain.answer import AnswerStatus
from core.domain.conversation import Outcome, Role
from core.domain.features import Feedback, FeedbackReason, Rating
from core.domain.incoming import PRIVATE_THREAD, ThreadAddress
from core.domain.replies import Usage
from core.features.statistics import AskedRepository
from core.ports import ConversationRepository
from core.ports.service import FeedbackRepository
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.feedback import SqlFeedbackRepository
from storage.database.repositories.statistics import SqlAskedRepository
from tests.builders import NOON, build_citation, build_conversation, build_message
from tests.fakes import ManualClock


class Store(NamedTuple):
    conversations: ConversationRepository
    feedback: FeedbackRepository
    asked: AskedRepository

    async def turn(
        self, number: int, text: str, status: AnswerStatus, *, conversation: str = "c1", **fields: Any
    ) -> None:
        """A question, a tool's turn, and its answer, an hour after the last."""
        at = NOON + timedelta(hours=number)
        await self.conversations.append(
            conversation,
            [
                build_message(f"q{number}", text, conversation_id=conversation, created_at=at),
                build_message(f"t{number}", "", conversation_id=conversation, role=Role.TOOL_RESULT, created_at=at),
                build_message(
                    f"a{number}",
                    "So.",
                    conversation_id=conversation,
                    role=Role.ASSISTANT,
                    status=status.value,
                    created_at=at,
                    **fields,
                ),
            ],
        )


@pytest.fixture
async def store(database: Database) -> Store:
    clock = ManualClock()
    made = Store(
        SqlConversationRepository(database),
        SqlFeedbackRepository(database),
        SqlAskedRepository(database, clock, is_direct_thread),
    )
    await made.conversations.add(build_conversation("c1"))
    await made.conversations.add(build_conversation("c2", thread=f"{PRIVATE_THREAD}ada"))
    return made


async def test_questions_come_newest_first_with_what_became_of_them(store: Store) -> None:
    usage = Usage(input_tokens=100, output_tokens=10, cache_read_tokens=60)
    await store.turn(
        1, "Where?", AnswerStatus.ANSWERED, citations=(build_citation("d1"), build_citation("d1"), build_citation("d2"))
    )
    await store.turn(2, "Why?", AnswerStatus.NOT_FOUND, conversation="c2", outcome=Outcome(usage=usage))
    found = await store.asked.asked("local", 90)

    assert [(item.text, item.status, item.is_private) for item in found] == [
        ("Why?", AnswerStatus.NOT_FOUND, True),
        ("Where?", AnswerStatus.ANSWERED, False),
    ]
    assert found[0].usage == usage
    assert found[1].document_ids == {"d1", "d2"}
    assert found[1].asked_at == NOON + timedelta(hours=1)


async def test_thumbs_are_counted(store: Store) -> None:
    await store.turn(1, "Where?", AnswerStatus.ANSWERED)
    why = FeedbackReason.MISSED
    for author, rating, reason in (("ada", Rating.UP, None), ("ben", Rating.DOWN, why), ("eve", Rating.DOWN, None)):
        given = Feedback(message_id="a1", author=author, rating=rating, created_at=NOON, reason=reason)
        await store.feedback.save(given)
    [found] = await store.asked.asked("local", 90)

    assert (found.helpful, found.not_helpful, found.reasons) == (1, 2, (why,))


async def test_only_the_last_days_and_this_workspace_count(store: Store) -> None:
    await store.turn(1, "Where?", AnswerStatus.ANSWERED)

    assert await store.asked.asked("other", 90) == []
    assert len(await store.asked.asked("local", 1)) == 1
    assert await store.asked.asked("local", -1) == []


async def test_notes_and_what_has_no_answer_yet_are_no_questions(store: Store) -> None:
    await store.conversations.append("c1", [build_message("q0", "Pending?", created_at=NOON)])
    note = Outcome(note_on=("a1",))
    await store.conversations.append(
        "c1",
        [build_message("n1", "It changed.", role=Role.ASSISTANT, status="answered", created_at=NOON, outcome=note)],
    )

    assert await store.asked.asked("local", 90) == []


async def test_what_was_asked_in_a_direct_channel_is_private(store: Store) -> None:
    address = ThreadAddress(platform="discord", workspace="local", channel="81", thread="")
    await store.conversations.add(build_conversation("c3", address=address))
    await store.turn(1, "Am I fired?", AnswerStatus.NOT_FOUND, conversation="c3")
    await store.turn(2, "Where?", AnswerStatus.NOT_FOUND)

    assert [(item.text, item.is_private) for item in await store.asked.asked("local", 90)] == [
        ("Where?", False),
        ("Am I fired?", True),
    ]
