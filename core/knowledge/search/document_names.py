"""The tables of names of whole workspaces, kept until a document changes: ten thousand are read once, not each time."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from core.knowledge.search.documents import DocumentNames
from core.ports import CorpusRepository

KEPT = 8  # workspaces in memory; ten thousand documents take some 20 MB


@dataclass(frozen=True, slots=True)
class _Kept:
    version: str
    names: DocumentNames


class NamesOfWorkspaces:
    def __init__(self, corpus: CorpusRepository) -> None:
        self._corpus = corpus
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._making = asyncio.Lock()  # one table at a time: who waits finds it made

    async def of(self, workspace: str) -> DocumentNames:
        """The names of all documents of a workspace, as they are now."""
        async with self._making:
            version = await self._corpus.version(workspace)  # before they are read: what comes between is read anew
            kept = self._kept.get(workspace)
            if kept is None or kept.version != version:
                documents = await self._corpus.list_documents(workspace)
                kept = _Kept(version, await asyncio.to_thread(DocumentNames, documents, is_lasting=True))
            self._kept[workspace] = kept
            self._kept.move_to_end(workspace)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return kept.names
