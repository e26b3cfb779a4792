"""Repair of the search index from the database, which holds everything the index is built from.

An index can be lost (a deleted folder, a restored database, another model): missing passages are embedded from the
database. No file is read, so that attachments and documents without a source come back, too.
"""

from collections.abc import Iterable, Iterator

from core.domain.corpus import Document
from core.domain.ingest_report import IndexState, IngestProgress, ProgressCallback, RepairReport
from core.domain.passages import IndexEntry, Passage
from core.ports import CorpusRepository, SearchIndex

STAGE = "Indexing"
# Passages embedded in one call: small documents share one, which is a write to the index.
BATCH_PASSAGES = 128


async def compare(corpus: CorpusRepository, index: SearchIndex) -> IndexState:
    """Compare index and database by all stored ids: some seconds for a million passages."""
    stored, live = await index.revisions(), await corpus.live_revisions()
    missing = {key: passages - stored.get(key, 0) for key, passages in live.items()}
    return IndexState(
        expected=sum(live.values()),
        lacking=sum(count for count in missing.values() if count > 0),
        incomplete=tuple(sorted(document_id for (document_id, _), count in missing.items() if count > 0)),
        left_over=tuple(sorted(set(stored) - set(live))),
    )


async def repair_index(corpus: CorpusRepository, index: SearchIndex, progress: ProgressCallback) -> RepairReport:
    """Remove old revisions and index missing passages. Safe to repeat and to interrupt.

    Only one run may change the index at a time, or unfinished passages of another would be removed.
    """
    state = await compare(corpus, index)
    for document_id, revision in state.left_over:
        await index.remove_revision(document_id, revision)
    passages = await _add_again(corpus, index, state.incomplete, progress)
    if passages:
        await index.optimise()
    return RepairReport(documents=len(state.incomplete), passages=passages, left_over=len(state.left_over))


async def _add_again(
    corpus: CorpusRepository, index: SearchIndex, document_ids: tuple[str, ...], progress: ProgressCallback
) -> int:
    waiting: list[IndexEntry] = []
    added = 0
    for done, document_id in enumerate(document_ids, start=1):
        found = await corpus.list_live_passages(document_id)
        waiting += [index_entry(item.document, item.passage) for item in found]
        added += len(found)
        if len(waiting) >= BATCH_PASSAGES or done == len(document_ids):
            await index.add(waiting)
            waiting = []
        path = found[0].document.path if found else document_id
        progress(IngestProgress(done=done, total=len(document_ids), path=path, stage=STAGE))
    return added


def index_entries(document: Document, passages: Iterable[Passage]) -> Iterator[IndexEntry]:
    """Yield the index entries of a document."""
    return (index_entry(document, passage) for passage in passages)


def index_entry(document: Document, passage: Passage) -> IndexEntry:
    return IndexEntry(
        passage=passage,
        workspace=document.workspace,
        source_id=document.source_id,
        kind=document.kind,
        title=document.title,
    )
