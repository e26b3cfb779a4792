"""Alias resolution: a search for an alias ("AC") is widened by the main name of the thing ("air conditioning").

Aliases come from documents, glossaries and the entity extractor, within the scope. They change with the library and not
with the question, so each scope's aliases are read at most once in KEPT_SECONDS.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from core.domain.corpus import SearchScope
from core.domain.extracts import ExtractQuery, ExtractType
from core.knowledge.facts.ontology import Ontology, build_ontology
from core.ports import Clock, CorpusRepository
from core.ports.documents import ExtractRepository
from core.text.words import STOPWORDS, words

MOST_NAMES = 3  # added to one search
MOST_THINGS = 20_000  # with aliases, read from the store
KEPT_SECONDS = 60.0
KEPT_SCOPES = 64
_SHORT = 4  # characters: an alias up to here is an abbreviation, and has to be written like one: "AC", not "ac"
_LONGEST = 6  # words of an alias


# Words of an alias, casefolded -> the alias as it is written, and the name of the thing.
AliasBook = Mapping[tuple[str, ...], Sequence[tuple[str, str]]]


class AliasResolver:
    def __init__(self, *, extracts: ExtractRepository, corpus: CorpusRepository, clock: Clock) -> None:
        self._extracts = extracts
        self._corpus = corpus
        self._clock = clock
        self._books: dict[tuple[object, ...], tuple[float, AliasBook]] = {}

    async def main_names(self, text: str, scope: SearchScope) -> tuple[str, ...]:
        """Return the names of things that the text calls only by an alias, in order, at most MOST_NAMES."""
        key = (scope.workspace, scope.digest)
        now = self._clock.monotonic()
        kept = self._books.get(key)
        if kept is None or now - kept[0] >= KEPT_SECONDS:
            kept = self._books[key] = (now, await self._read_book(scope))
        return find_names(text, kept[1])

    async def _read_book(self, scope: SearchScope) -> AliasBook:
        wanted = ExtractQuery(type=ExtractType.ENTITY, with_aliases=True, limit=MOST_THINGS)
        things = await self._extracts.list_extracts(wanted, scope)
        documents = await self._corpus.list_readable(scope)
        while len(self._books) >= KEPT_SCOPES:
            del self._books[next(iter(self._books))]
        return build_book(build_ontology(things, (), documents, {}))


def build_book(ontology: Ontology) -> AliasBook:
    """Leave out aliases that say too little: stop words, numbers, single letters."""
    book: defaultdict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for name, others in ontology.aliases.items():
        for alias in others:
            said = tuple(words(alias))
            plain = len(said) == 1 and (said[0] in STOPWORDS or len(said[0]) < 2)
            if said and len(said) <= _LONGEST and not plain and any(map(str.isalpha, alias)):
                book[said].append((alias, name))
    return book


def find_names(text: str, book: AliasBook) -> tuple[str, ...]:
    """Return the names behind the text's aliases. Skips ambiguous aliases, and names that the text has already."""
    said = words(text)
    found: dict[str, None] = {}
    for start in range(len(said)):
        for end in range(min(start + _LONGEST, len(said)), start, -1):
            name = _only(book.get(tuple(said[start:end]), ()), text)
            if name is not None and not set(words(name)) <= set(said):
                found.setdefault(name)
    return tuple(found)[:MOST_NAMES]


def _only(names: Iterable[tuple[str, str]], text: str) -> str | None:
    meant = {name.casefold(): name for alias, name in names if len(alias) > _SHORT or alias in text}
    return next(iter(meant.values())) if len(meant) == 1 else None
