"""Maintenance of storage: status, checks, backups, and rebuilding the search index."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.domain.ingest_report import IndexState, ProgressCallback, RepairReport
from core.ports import CorpusRepository, SearchIndex
from core.ports.service import DatabaseFacts, DatabaseMaintenance

REINDEX = "`footnote db reindex`"


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageStatus:
    """Database and index side by side."""

    database: DatabaseFacts
    indexed: int  # passages in the search index
    expected: int  # that it has to hold

    def to_json(self) -> dict[str, object]:
        """As `footnote db status --json` shows it."""
        facts = self.database
        return {
            "database": {"name": facts.name, "kind": facts.kind, "schema": facts.schema, "bytes": facts.bytes},
            "rows": dict(facts.rows),
            "index": {"passages": self.indexed, "expected": self.expected},
        }


class Maintenance:
    """The use cases of `footnote db`. None of them changes the library's content."""

    def __init__(
        self,
        *,
        database: DatabaseMaintenance,
        corpus: CorpusRepository,
        index: SearchIndex,
        compare: Callable[[], Awaitable[IndexState]],
        repair: Callable[[ProgressCallback], Awaitable[RepairReport]],
    ) -> None:
        """`compare` and `repair` come from storage/documents/index_repair.py, holding the index lock."""
        self.database = database
        self._corpus = corpus
        self._index = index
        self._compare = compare
        self._repair = repair

    async def status(self) -> StorageStatus:
        """Raises StorageError when database or index can't be read."""
        facts, live = await self.database.describe(), await self._corpus.live_revisions()
        return StorageStatus(database=facts, indexed=await self._index.count(), expected=sum(live.values()))

    async def check(self) -> list[str]:
        """Return one sentence for each problem, with its fix; an empty list if all is well."""
        faults = await self.database.check_integrity()
        state = await self._compare()
        if state.lacking:
            faults.append(lacking(state.lacking, state.expected))
        if state.left_over:
            faults.append(
                f"The search index has {len(state.left_over)} old revisions of documents, which are never shown: the "
                f"next ingest removes them, and so does {REINDEX}."
            )
        return faults

    async def reindex(self, progress: ProgressCallback) -> RepairReport:
        """Bring the index in line with the database. Raises StorageError and ModelMissing."""
        return await self._repair(progress)


def lacking(count: int, expected: int) -> str:
    return (
        f"The search index lacks {count} of {expected} passages, which no search finds: build it again from the "
        f"database with {REINDEX}."
    )
