"""What a cited page is about, in one line for its source card (core/text/markup.py)."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.domain.answer import Citation
from core.domain.corpus import SearchScope
from core.errors import NotFound
from core.knowledge.references.document_lines import page_summary
from core.ports import CorpusRepository

KEPT = 2_000  # summaries in memory

_Key = tuple[object, ...]


@dataclass(slots=True)
class Summaries:
    """Reads the pages behind citations, each once, within what the readers of a thread may read."""

    corpus: CorpusRepository
    _kept: OrderedDict[_Key, str] = field(default_factory=OrderedDict)

    async def of(self, citations: Iterable[Citation], scope: SearchScope) -> Mapping[str, str]:
        """A line for each page id; "" for a page that is gone, or that may not be read here."""
        wanted = {citation.page_id: citation.document for citation in citations}
        found = await asyncio.gather(*(self._one(page_id, path, scope) for page_id, path in wanted.items()))
        return dict(zip(wanted, found, strict=True))

    async def _one(self, page_id: str, path: str, scope: SearchScope) -> str:
        key = (page_id, scope.workspace, scope.sources, *sorted(scope.positions.items()))
        if key not in self._kept:
            try:
                self._kept[key] = page_summary(await self.corpus.get_page(page_id, scope), path)
            except NotFound:
                return ""
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]
