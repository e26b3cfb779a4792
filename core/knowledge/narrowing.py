"""The own readers of documents, as their sources give them: changes in the order that never shows too much.

Before a text comes in, its document has the limits of before and the new ones; afterwards only the new ones. So neither
the old text nor the new one is ever shown to anybody whom one of them is closed to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.domain.audit import AuditNote, Deed
from core.domain.corpus import Source, document_id
from core.domain.readers import UNLIMITED, Narrowing, is_wider, narrowing_label
from core.ports import CorpusRepository
from core.text.notation import join_names

MOST_NAMED = 3  # documents or names in one sentence
BY_SOURCE = "its source"  # who changed the readers, in the audit log

# Names of a source, as it calls its people and groups: a reader has one name of each set.
Limits = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReaders:
    """The limits of a source's documents by path, and the names in them that stand for no reader."""

    by_path: Mapping[str, Narrowing]
    unmapped: Mapping[frozenset[str], int]  # names of a set without a reader -> number of documents that it closes

    @classmethod
    def of(cls, restricted: Mapping[str, Limits], readers: Mapping[str, frozenset[str]]) -> "OwnReaders":
        """Map the names of the source; a set without any mapped name has no reader."""
        found, unmapped = dict[str, Narrowing](), dict[frozenset[str], int]()
        for path, limits in restricted.items():
            sets = [frozenset[str]().union(*(readers.get(name, ()) for name in names)) for names in limits]
            for names, mapped in zip(limits, sets, strict=True):
                if not mapped:
                    unmapped[names] = unmapped.get(names, 0) + 1
            found[path] = frozenset(sets)
        return cls(by_path=found, unmapped=unmapped)

    def warnings(self, source: str) -> list[str]:
        """Return a sentence for people about the documents without readers."""
        closed = [path for path, limits in self.by_path.items() if frozenset() in limits]
        if not closed:
            return []
        names = sorted({name for some in self.unmapped for name in some})
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        nobody = f"Nobody may read {_documents(closed)} in chats: the source lets only some people read"
        if not names:
            return [f"{nobody} them, and doesn't say whom."]
        shown = ", ".join(map(repr, names[:MOST_NAMED])) + more
        return [f"{nobody} them ({shown}). Say who these are under [sources.reader_map] of {source!r}, then sync."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderRules:
    """Rules about the readers of an ingest's files: who the names in them are, and further limits by path."""

    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    limits: Mapping[str, Narrowing] = field(default_factory=dict)


NO_RULES = ReaderRules()


@dataclass(slots=True, kw_only=True)
class Narrower:
    """Changes the limits of one source's documents; notes the paths that more people may read now."""

    corpus: CorpusRepository
    source: Source
    known: dict[str, Narrowing]  # by document id
    widened: list[str] = field(default_factory=list)

    @classmethod
    async def of(cls, corpus: CorpusRepository, source: Source) -> "Narrower":
        return cls(corpus=corpus, source=source, known=dict(await corpus.narrowed(source.workspace)))

    async def close(self, wanted: Mapping[str, Narrowing]) -> None:
        """Add limits by path to the present ones: to be called before the texts come in."""
        await self._set({path: self.limits(path) | limits for path, limits in wanted.items()}, "fewer readers")

    async def open(self, wanted: Mapping[str, Narrowing]) -> None:
        """Let only these limits hold: to be called when the texts are in."""
        wider = [path for path, limits in wanted.items() if is_wider(limits, self.limits(path))]
        await self._set({path: wanted[path] for path in wider}, "more readers")
        await self._set(wanted, "other readers")
        self.widened += wider

    def limits(self, path: str) -> Narrowing:
        return self.known.get(self._id(path), UNLIMITED)

    def warnings(self) -> list[str]:
        """Return a sentence for people about documents that more people may read now."""
        if not self.widened:
            return []
        return [f"More people than before may read {_documents(self.widened)}, as the source says now."]

    async def _set(self, wanted: Mapping[str, Narrowing], what: str) -> None:
        changes = {path: limits for path, limits in wanted.items() if limits != self.limits(path)}
        if not changes:
            return
        told = f" ({narrowing_label(next(iter(changes.values())))})" if len(changes) == 1 else ""
        note = AuditNote(
            workspace=self.source.workspace,
            actor=BY_SOURCE,
            deed=Deed.READERS,
            about=f"{self.source.name}: {what} of {_documents(changes)}{told}",
        )
        by_id = {self._id(path): limits for path, limits in changes.items()}
        await self.corpus.narrow(self.source.id, by_id, audit=note)
        self.known.update(by_id)

    def _id(self, path: str) -> str:
        return document_id(self.source.workspace, self.source.id, path)


def _documents(paths: Iterable[str]) -> str:
    named = sorted(paths)
    if len(named) <= MOST_NAMED:
        return join_names([repr(path) for path in named])
    return f"{len(named)} documents ({', '.join(map(repr, named[:MOST_NAMED]))}, ...)"
