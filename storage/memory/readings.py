"""What models said of documents, in memory."""

from collections.abc import Collection, Sequence
from datetime import date

from core.domain.extracts import ModelReading, Spending
from storage.memory.corpus import MemoryCorpusRepository
from storage.storable import to_storable_value


class MemoryReadingRepository:
    """ReadingRepository that forgets everything with the process; its documents are those of `corpus`."""

    def __init__(self, corpus: MemoryCorpusRepository) -> None:
        self._corpus = corpus
        self._readings: dict[tuple[str, str, str], ModelReading] = {}
        self._spent: dict[date, Spending] = {}

    async def readings(self, document_id: str) -> list[ModelReading]:
        there = await self._documents()
        return [reading for key, reading in sorted(self._readings.items()) if key[0] == document_id and key[0] in there]

    async def save(self, readings: Sequence[ModelReading], day: date, spent: Spending) -> None:
        self._spent[day] = self._spent.get(day, Spending()) + spent
        there = await self._documents()
        for reading in map(to_storable_value, readings):
            if reading.document_id in there:
                self._readings[reading.document_id, reading.piece, reading.extractor] = reading

    async def keep_only(self, document_id: str, pieces: Collection[str]) -> None:
        gone = [key for key in self._readings if key[0] == document_id and key[1] not in pieces]
        for key in gone:
            del self._readings[key]

    async def spent(self, day: date) -> Spending:
        return self._spent.get(day, Spending())

    async def _documents(self) -> set[str]:
        """Readings of a document that was removed and came back are gone, as with the SQL one's cascade."""
        there = {document_id for document_id, _ in await self._corpus.live_revisions()}
        self._readings = {key: reading for key, reading in self._readings.items() if key[0] in there}
        return there
