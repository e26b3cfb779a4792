"""The main names of what a text names by another: whoever searches for an alias searches for the thing.

Aliases are those of documents, of glossaries and of whatever else the entity extractor found, as far as they may be
read. They change with the library, not with the question: they are read at most once in KEPT_SECONDS for each scope.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.domain.corpus import SearchScope
from core.domain.extracts import ExtractQuery, ExtractType
from core.knowledge.facts.ontology import Ontology, build_ontology
from core.ports import Clock, CorpusRepository
from core.ports.documents import ExtractRepository
from core.text.words import STOPWORDS, words

MOST_NAMES = 3  # that one search is widened by
MOST_THINGS = 20_000  # with other names, that are read
KEPT_SECONDS = 60.0
KEPT_SCOPES = 64
# Up to here an alias is an abbreviation, and meant only where it is written as one: "AC", not "ac".
_SHORT = 4
# Words of the longest alias that is looked for.
_LONGEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Name:
    alias: str  # as it is written
    name: str


# Words of an alias, casefolded -> the things it names.
NameBook = Mapping[tuple[str, ...], tuple[_Name, ...]]


class Naming:
    """Knows the other names of things."""

    def __init__(self, *, extracts: ExtractRepository, corpus: CorpusRepository, clock: Clock) -> None:
        self._extracts = extracts
        self._corpus = corpus
        self._clock = clock
        self._books: dict[tuple[object, ...], tuple[float, NameBook]] = {}

    async def main_names(self, text: str, scope: SearchScope) -> tuple[str, ...]:
        """The names of what the text names by an alias alone, in their order, at most MOST_NAMES."""
        return find_names(text, await self._book(scope))

    async def _book(self, scope: SearchScope) -> NameBook:
        key = (scope.workspace, scope.sources, frozenset(scope.positions.items()))
        now = self._clock.monotonic()
        known = self._books.get(key)
        if known is None or now - known[0] >= KEPT_SECONDS:
            wanted = ExtractQuery(type=ExtractType.ENTITY, with_aliases=True, limit=MOST_THINGS)
            things = await self._extracts.list_extracts(wanted, scope)
            documents = await self._corpus.list_documents(scope.workspace, scope.sources)
            while len(self._books) >= KEPT_SCOPES:
                del self._books[next(iter(self._books))]
            known = self._books[key] = (now, build_book(build_ontology(things, (), documents, {})))
        return known[1]


def build_book(ontology: Ontology) -> NameBook:
    """Without aliases that say too little: stop words, numbers, single letters."""
    book: defaultdict[tuple[str, ...], list[_Name]] = defaultdict(list)
    for name, others in ontology.aliases.items():
        for alias in others:
            said = tuple(words(alias))
            plain = len(said) == 1 and (said[0] in STOPWORDS or len(said[0]) < 2)
            if said and len(said) <= _LONGEST and not plain and any(map(str.isalpha, alias)):
                book[said].append(_Name(alias=alias, name=name))
    return {said: tuple(names) for said, names in book.items()}


def find_names(text: str, book: NameBook) -> tuple[str, ...]:
    """What an alias names that is in the text; not where it names several things, or the name is in the text, too."""
    said = words(text)
    found: dict[str, None] = {}
    for start in range(len(said)):
        for end in range(min(start + _LONGEST, len(said)), start, -1):
            name = _only(book.get(tuple(said[start:end]), ()), text)
            if name is not None and not set(words(name)) <= set(said):
                found.setdefault(name)
    return tuple(found)[:MOST_NAMES]


def _only(names: Iterable[_Name], text: str) -> str | None:
    meant = {each.name.casefold(): each.name for each in names if len(each.alias) > _SHORT or each.alias in text}
    return next(iter(meant.values())) if len(meant) == 1 else None
