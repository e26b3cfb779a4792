"""How every source stands: what the configuration, the library and the last sync say of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.access.scopes import ATTACHMENTS
from core.domain.corpus import Source
from core.domain.sources import SourceSpec, SyncState
from core.ports import CorpusRepository
from core.ports.documents import SyncRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceStatus:
    """A source of the configuration, of the library, or of both, with its last sync."""

    name: str
    kind: str
    location: str  # for people: an address, a folder
    spec: SourceSpec | None  # None: not (or no longer) in the configuration
    state: SyncState | None
    documents: int = 0
    failed: int = 0
    is_stored: bool = False
    is_orphan: bool = False  # it was synced once and is no longer configured: `footnote sources remove` takes it away

    def to_json(self) -> dict[str, object]:
        """As `footnote sources --json` shows it; times in ISO 8601."""
        return {
            "source": self.name,
            "kind": self.kind,
            "location": self.location,
            "documents": self.documents,
            "failed": self.failed,
            "configured": self.spec is not None,
            "enabled": self.spec.enabled if self.spec else None,
            "orphan": self.is_orphan,
            "last_sync": state_json(self.state) if self.state else None,
        }


async def list_status(
    workspace: str, configured: Sequence[SourceSpec], corpus: CorpusRepository, syncs: SyncRepository
) -> list[SourceStatus]:
    """Every source of the configuration and of the library, by name; without what was attached to questions."""
    sources = {item.name: item for item in await corpus.list_sources(workspace) if item.kind != ATTACHMENTS}
    states = {item.source: item for item in await syncs.list_states(workspace)}
    specs = {spec.name: spec for spec in configured if spec.workspace == workspace}
    good, failed = Counter[str](), Counter[str]()
    for document in await corpus.list_documents(workspace):
        (good if document.failed_reason is None else failed)[document.source] += 1
    return [
        _status(name, specs.get(name), sources.get(name), states.get(name), (good[name], failed[name]))
        for name in sorted({*sources, *specs})
    ]


def state_json(state: SyncState) -> dict[str, object]:
    """A sync's outcome; times in ISO 8601."""
    return {
        "result": state.result.value,
        "started_at": state.started_at.isoformat(),
        "ended_at": state.ended_at.isoformat(),
        "good_at": state.good_at.isoformat() if state.good_at else None,
        "failing_since": state.failing_since.isoformat() if state.failing_since else None,
        "error": state.error,
        "warnings": list(state.warnings),
        "job": state.job_id,
    }


def _status(
    name: str, spec: SourceSpec | None, stored: Source | None, state: SyncState | None, counts: tuple[int, int]
) -> SourceStatus:
    kind = spec.kind if spec else stored.kind if stored else ""
    return SourceStatus(
        name=name,
        kind=kind,
        location=str(spec.origin) if spec else stored.location if stored else "",
        spec=spec,
        state=state,
        documents=counts[0],
        failed=counts[1],
        is_stored=stored is not None,
        is_orphan=spec is None and state is not None,
    )
