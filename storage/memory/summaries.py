"""Kept summaries in memory."""

from collections.abc import Collection, Mapping

from core.domain.service import SummaryKey, SummaryKind
from core.errors import NotFound
from storage.memory.conversations import MemoryConversationRepository
from storage.memory.corpus import MemoryCorpusRepository
from storage.storable import to_storable, to_storable_value

_Subject = tuple[str, SummaryKind, str]  # workspace, kind, id


class MemorySummaryRepository:
    """SummaryRepository that forgets everything with the process, over the twins of what is summarised."""

    def __init__(self, conversations: MemoryConversationRepository, corpus: MemoryCorpusRepository) -> None:
        self._conversations = conversations
        self._corpus = corpus
        self._kept: dict[_Subject, tuple[str, str]] = {}  # revision and text

    async def find(self, keys: Collection[SummaryKey]) -> Mapping[SummaryKey, str]:
        found: dict[SummaryKey, str] = {}
        for key in keys:
            stored = to_storable_value(key)
            revision, text = self._kept.get(_subject(stored), (None, ""))
            if not await self._is_there(stored):
                self._kept.pop(_subject(stored), None)
            elif revision == stored.revision:
                found[key] = text
        return found

    async def save(self, key: SummaryKey, text: str) -> None:
        key = to_storable_value(key)
        if await self._is_there(key):
            self._kept[_subject(key)] = key.revision, to_storable(text)

    async def remove(self, workspace: str, subject: str) -> None:
        for kind in SummaryKind:
            self._kept.pop((to_storable(workspace), kind, to_storable(subject)), None)

    async def _is_there(self, key: SummaryKey) -> bool:
        if key.kind is SummaryKind.DOCUMENT_LINE:
            return self._corpus.has_document(key.subject, key.workspace)
        if key.kind is SummaryKind.SECTION:
            return self._corpus.has_page(key.subject, key.workspace)
        try:
            await self._conversations.get(key.subject, key.workspace)
        except NotFound:
            return False
        return True


def _subject(key: SummaryKey) -> _Subject:
    return key.workspace, key.kind, key.subject
