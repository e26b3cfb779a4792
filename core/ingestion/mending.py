"""The search index in line with the database, which holds all that the index is made from.

An index can be lost (a deleted folder, a restored database, another model): whatever it lacks is embedded again from
the stored passages. No file is read for it, so that files of threads and documents whose source is gone come back, too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.domain.corpus import Document, IndexEntry, Passage
from core.ingestion.report import IngestProgress, ProgressCallback
from core.ports import CorpusRepository, SearchIndex

STAGE = "Indexing"
# Passages embedded in one call: small documents share one, which is a write to the index.
BATCH_PASSAGES = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How the index differs from the database, over all workspaces."""

    expected: int  # passages that it has to hold
    lacking: int  # passages of these that it does not
    incomplete: tuple[str, ...]  # ids of the documents that they are of, in order
    left_over: tuple[tuple[str, str], ...]  # (document id, revision) that are no longer live, in order


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """What had to be done to the index."""

    documents: int  # indexed again
    passages: int  # of these documents
    left_over: int  # revisions removed

    def to_json(self) -> dict[str, int]:
        """As `footnote db reindex --json` shows it."""
        return {"documents": self.documents, "passages": self.passages, "left_over": self.left_over}


async def compare(corpus: CorpusRepository, index: SearchIndex) -> IndexState:
    """Reads the ids of all that is stored on both sides: some seconds for a million passages."""
    stored, live = await index.revisions(), await corpus.live_revisions()
    missing = {key: passages - stored.get(key, 0) for key, passages in live.items()}
    return IndexState(
        expected=sum(live.values()),
        lacking=sum(count for count in missing.values() if count > 0),
        incomplete=tuple(sorted(document_id for (document_id, _), count in missing.items() if count > 0)),
        left_over=tuple(sorted(set(stored) - set(live))),
    )


async def mend(corpus: CorpusRepository, index: SearchIndex, progress: ProgressCallback) -> Mended:
    """Take out what is left over, index again what is incomplete. Safe to repeat and to interrupt.

    For one run at a time that changes the index: another's unfinished passages would be left over.
    """
    state = await compare(corpus, index)
    for document_id, revision in state.left_over:
        await index.remove_revision(document_id, revision)
    passages = await _add_again(corpus, index, state.incomplete, progress)
    if passages:
        await index.optimise()
    return Mended(documents=len(state.incomplete), passages=passages, left_over=len(state.left_over))


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
    """What the index is given of a document."""
    return (index_entry(document, passage) for passage in passages)


def index_entry(document: Document, passage: Passage) -> IndexEntry:
    return IndexEntry(
        passage=passage,
        workspace=document.workspace,
        source_id=document.source_id,
        kind=document.kind,
        title=document.title,
    )
