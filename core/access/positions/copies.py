"""Copies of a book share its position: another edition, or its text in another file, ends where the book does.

Copies are recognised by their text, not by title: a document is one if it contains half of a few phrases from all parts
of the book. Its last readable page is the one before the book's next text, and 0 without any readable text of the book.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from core.domain.corpus import SourcedPassage
from core.domain.service import TO_THE_END
from core.ports import CorpusRepository

COMPARED = 8  # phrases from all parts of a book
SHARED = 0.5  # of them, from which another document is a copy
AROUND = 4  # phrases before and after a position
# Six words in a row: shorter phrases occur in other books. Files that break lines elsewhere differ between the words.
# Scripts without spaces (Thai to Burmese, kana, Han) have eight signs in a row instead.
_PHRASE = re.compile(
    r"(?<!\w)[^\W\d_]+(?:\s[^\W\d_]+){5}(?!\w)|[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{8}"
)


class Copies:
    """Finds the copies of documents; they are looked for again after each change of the library."""

    def __init__(self, corpus: CorpusRepository) -> None:
        self._corpus = corpus
        self._known: dict[tuple[str, str, int], dict[str, int]] = {}
        self._versions: dict[str, str] = {}

    async def share(self, positions: Mapping[str, int], workspace: str) -> dict[str, int]:
        """Return the positions, with one for each copy that has no position of its own."""
        shared: dict[str, int] = {}
        if positions and (version := await self._corpus.version(workspace)) != self._versions.get(workspace):
            self._versions[workspace] = version
            self._known = {key: found for key, found in self._known.items() if key[0] != workspace}
        for document_id, last in positions.items():
            key = (workspace, document_id, last)
            if key not in self._known:
                self._known[key] = await self._of(*key)
            for copy, end in self._known[key].items():
                shared[copy] = min(end, shared.get(copy, end))
        return {**shared, **positions}

    async def _of(self, workspace: str, document_id: str, last: int) -> dict[str, int]:
        """Return copy -> last readable page, for the last readable page of a document."""
        passages = await self._corpus.list_live_passages(document_id)
        compared = [phrase for part in _parts(passages) if (phrase := _first_phrase(part))][:COMPARED]
        shown = [item for item in passages if item.passage.page_number <= last]
        before = _phrases(reversed(shown))
        after = _phrases(passages[len(shown) :])
        pages: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        texts = [*dict.fromkeys((*compared, *before, *after))]
        for found, number, place in await self._corpus.find_texts(workspace, texts):
            if found != document_id:
                pages[found][texts[place]].add(number)
        copies = {copy: held for copy, held in pages.items() if len(held.keys() & set(compared)) >= _enough(compared)}
        if last >= TO_THE_END:
            return dict.fromkeys(copies, TO_THE_END)
        return {copy: _last_page(held, before, after) for copy, held in copies.items()}


def _enough(compared: Sequence[str]) -> float:
    return max(2, SHARED * len(compared))


def _last_page(held: Mapping[str, set[int]], before: Iterable[str], after: Iterable[str]) -> int:
    """Return the page before the first one with hidden text, but none behind the last one with readable text."""
    hidden = [min(held[phrase]) for phrase in after if phrase in held]
    read = [max(held[phrase]) for phrase in before if phrase in held]
    return max(0, min([number - 1 for number in hidden] + [max(read, default=0)]))


def _parts(passages: Sequence[SourcedPassage]) -> Iterable[Sequence[SourcedPassage]]:
    """Return the passages in as many parts of equal length as phrases are compared."""
    ends = [len(passages) * part // COMPARED for part in range(COMPARED + 1)]
    return (passages[begin:end] for begin, end in pairwise(ends) if begin < end)


def _phrases(passages: Iterable[SourcedPassage]) -> list[str]:
    found = (phrase for item in passages if (phrase := _first_phrase([item])))
    return [phrase for _, phrase in zip(range(AROUND), found, strict=False)]


def _first_phrase(passages: Iterable[SourcedPassage]) -> str:
    found = (match for item in passages if (match := _PHRASE.search(item.passage.text)) is not None)
    match = next(found, None)
    return re.sub(r"\s", "_", match.group()) if match is not None else ""
