"""Recorded runs in memory."""

from dataclasses import replace
from datetime import datetime

from core.domain.features import StoredCassette
from storage.database.cassette_ids import the_one, unknown
from storage.memory.conversations import MemoryConversationRepository
from storage.memory.corpus import MemoryCorpusRepository
from storage.storable import to_storable, to_storable_value


class MemoryCassetteRepository:
    """CassetteRepository that forgets everything with the process, over the twins of what the runs hold."""

    def __init__(self, conversations: MemoryConversationRepository, corpus: MemoryCorpusRepository) -> None:
        self._conversations = conversations
        self._corpus = corpus
        self._kept: dict[str, StoredCassette] = {}

    async def save(self, cassette: StoredCassette) -> None:
        stored = to_storable_value(cassette)
        if await self._is_whole(stored):
            self._kept[stored.message_id] = stored

    async def find(self, message_id: str, workspace: str) -> StoredCassette:
        wanted = to_storable(message_id)
        alike = [item for item in await self._whole(workspace) if item.message_id.startswith(wanted)]
        return replace(the_one(message_id, alike), document_ids=frozenset())

    async def list_cassettes(
        self, workspace: str, *, cases_only: bool = False, limit: int = 50
    ) -> list[StoredCassette]:
        found = [item for item in await self._whole(workspace) if item.is_case or not cases_only]
        found.sort(key=lambda item: item.message_id)
        found.sort(key=lambda item: item.recorded_at, reverse=True)
        return [replace(item, document_ids=frozenset(), data=b"") for item in found[:limit]]

    async def mark_case(self, message_id: str, *, is_case: bool) -> None:
        if message_id not in self._kept or not await self._is_whole(self._kept[message_id]):
            raise unknown(message_id)
        self._kept[message_id] = replace(self._kept[message_id], is_case=is_case)

    async def purge(self, before: datetime) -> int:
        gone = [
            key
            for key, item in self._kept.items()
            if (item.recorded_at < before and not item.is_case) or not await self._has_documents(item)
        ]
        for key in gone:
            del self._kept[key]
        return len(gone)

    async def _whole(self, workspace: str) -> list[StoredCassette]:
        wanted = to_storable(workspace)
        return [item for item in self._kept.values() if item.workspace == wanted and await self._is_whole(item)]

    async def _is_whole(self, cassette: StoredCassette) -> bool:
        message = await self._conversations.find_message(cassette.message_id)
        return message is not None and await self._has_documents(cassette)

    async def _has_documents(self, cassette: StoredCassette) -> bool:
        there = {document.id for document in await self._corpus.list_documents(cassette.workspace)}
        return cassette.document_ids <= there
