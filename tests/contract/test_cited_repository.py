"""The contract of CitedRepository, on every database."""

from typing import NamedTuple

import pytest

from bot.presentation.direct_threads import is_direct_thread
from core.domain.conversation import Role
from core.domain.features import CitedIn
from core.domain.incoming import PRIVATE_THREAD, ThreadAddress
from core.ports import ConversationRepository
from core.ports.service import CitedRepository
from storage.database import Database
from storage.database.repositories.connections import SqlCitedRepository
from storage.database.repositories.conversations import SqlConversationRepository
from tests.builders import build_citation, build_conversation, build_message


class Store(NamedTuple):
    conversations: ConversationRepository
    cited: CitedRepository

    async def answer(self, id: str, conversation: str, *documents: str) -> None:
        citations = tuple(build_citation(document) for document in documents)
        await self.conversations.append(
            conversation, [build_message(id, conversation_id=conversation, role=Role.ASSISTANT, citations=citations)]
        )


@pytest.fixture
async def store(database: Database) -> Store:
    made = Store(SqlConversationRepository(database), SqlCitedRepository(database, is_direct_thread))
    await made.conversations.add(build_conversation("c1"))
    await made.conversations.add(build_conversation("c2", thread=f"{PRIVATE_THREAD}ada"))
    return made


def found(conversation: str, document: str, answers: int, *, is_private: bool = False) -> CitedIn:
    return CitedIn(conversation_id=conversation, document_id=document, answers=answers, is_private=is_private)


async def test_answers_are_counted_by_conversation_and_document(store: Store) -> None:
    assert await store.cited.cited("local") == []
    await store.answer("a1", "c1", "d2", "d1", "d1")
    await store.answer("a2", "c1", "d1")
    await store.answer("a3", "c1")
    await store.answer("a4", "c2", "d1")

    assert await store.cited.cited("local") == [
        found("c1", "d1", 2),
        found("c1", "d2", 1),
        found("c2", "d1", 1, is_private=True),
    ]
    assert await store.cited.cited("local", "d2") == [found("c1", "d2", 1)]
    assert await store.cited.cited("elsewhere") == await store.cited.cited("local", "d3") == []


async def test_what_was_deleted_cites_nothing(store: Store) -> None:
    await store.answer("a1", "c1", "d1")
    await store.answer("a2", "c2", "d1")
    await store.conversations.remove_messages("c1", ["a1"])
    await store.conversations.delete("c2")

    assert await store.cited.cited("local") == []


async def test_direct_channels_are_private(store: Store) -> None:
    address = ThreadAddress(platform="slack", workspace="local", channel="D024BE91L", thread="1.2")
    await store.conversations.add(build_conversation("c3", address=address))
    await store.answer("a1", "c3", "d1")

    assert await store.cited.cited("local") == [found("c3", "d1", 1, is_private=True)]
