"""The use cases over extracts: rows that fit a question, each with its proved footnote, and what kinds there are."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.answering.citations import cite
from core.domain.answer import Citation
from core.domain.corpus import Document, Page, PageHit, SearchScope, SourcedPassage, Span
from core.domain.extracts import Extract, ExtractQuery, ExtractType
from core.knowledge.facts.aliases import Naming
from core.knowledge.facts.following import Direction, follow, named_things
from core.knowledge.facts.matching import Aliases, Fit, fit, names_of, same_fact, stem
from core.knowledge.facts.ontology import Ontology, build_ontology
from core.knowledge.facts.query import DEFAULT_ROWS, Comparison, FactQuery
from core.knowledge.facts.reading import read_query
from core.knowledge.facts.rows import EXTRACT_TYPES, Fact, to_facts
from core.knowledge.search.documents import find_by_name
from core.ports import Clock, CorpusRepository
from core.ports.documents import ExtractRepository
from core.text.words import words

MOST_READ = 50_000  # extracts that one question looks at
QUOTE_CHARACTERS = 600  # of a footnote: what goes on longer (a table, a whole meeting) is quoted by its beginning


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedFact:
    """A row with its footnote: `citation.quote` stands at its place in the live page."""

    fact: Fact
    citation: Citation


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFacts:
    """The rows that fit, in the order of document and place, numbered from 1; at most `query.limit`."""

    query: FactQuery
    rows: tuple[CitedFact, ...]
    total: int  # rows that fit, those beyond the limit included
    unknown: int  # that would fit, had they a date or number to be compared


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Trouble:
    """Why an extractor gave nothing of a document, or not all."""

    document: str  # path relative to its source
    extractor: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRelations:
    """Relations of one thing; `known` are the names of all things that relations were found of."""

    rows: tuple[CitedFact, ...]
    total: int
    known: tuple[str, ...]


class Facts:
    """Every read takes the scope it may see."""

    def __init__(self, *, extracts: ExtractRepository, corpus: CorpusRepository, clock: Clock) -> None:
        self._extracts = extracts
        self._corpus = corpus
        self._clock = clock
        self._naming = Naming(extracts=extracts, corpus=corpus, clock=clock)

    def read(self, text: str, limit: int = DEFAULT_ROWS) -> FactQuery:
        """The query that a text stands for today (see reading.py). BadInput as `read_query` raises it."""
        return read_query(text, self._clock.now().date(), limit=limit)

    async def ask(self, text: str, scope: SearchScope, limit: int = DEFAULT_ROWS) -> FoundFacts:
        """As `find`, of a text."""
        return await self.find(self.read(text, limit), scope)

    async def find(
        self,
        query: FactQuery,
        scope: SearchScope,
        document_ids: frozenset[str] = frozenset(),
        *,
        distinct: bool = False,
    ) -> FoundFacts:
        """What fits the query; of these documents alone, where any are given. `distinct`: each row that says the same
        as another (a copy of the minutes, a thing by another of its names) is given and counted once.

        Raises NotFound and BadInput for a document that is not there or not clear, as Library.find_document does.
        """
        documents = await self._corpus.list_readable(scope)
        if query.document:
            document_ids = frozenset({find_by_name(query.document, documents).id}) & (
                document_ids or frozenset(document.id for document in documents)
            )
            if not document_ids:
                return FoundFacts(query=query, rows=(), total=0, unknown=0)
        aliases = await self._names(documents, scope) if query.words or query.conditions or distinct else {}
        fitting, unknown = list[Fact](), list[Fact]()
        about = {document.id: f"{document.title} {document.path}" for document in documents}
        for extract in await self._candidates(query, scope, document_ids, documents, aliases):
            for fact in to_facts(extract):
                fits = fit(fact, query, aliases, about.get(extract.document_id, ""))
                if fits is not Fit.NO:
                    (fitting if fits is Fit.YES else unknown).append(fact)
        if distinct:
            fitting, unknown = (_each_once(facts, aliases) for facts in (fitting, unknown))
        rows = await self.cite(fitting[: query.limit], scope, documents)
        return FoundFacts(query=query, rows=rows, total=len(fitting), unknown=len(unknown))

    async def list_extracts(self, query: ExtractQuery, scope: SearchScope) -> list[Extract]:
        """As ExtractRepository gives them."""
        return await self._extracts.list_extracts(query, scope)

    async def troubles(self, scope: SearchScope, document_ids: frozenset[str] = frozenset()) -> list[Trouble]:
        """What extractors failed at, refused or left out, by document and extractor; of these alone, where given.

        Reasons quote pages: of documents with a reading position there are none.
        """
        documents = await self._corpus.list_documents(scope.workspace, scope.sources)
        wanted = [item for item in documents if item.id not in scope.positions]
        paths = {item.id: item.path for item in wanted if not document_ids or item.id in document_ids}
        return sorted(
            Trouble(document=paths[run.document_id], extractor=run.extractor, reason=reason)
            for run in await self._extracts.extractions(scope.workspace)
            for reason in (run.error, run.warning)
            if reason is not None and run.document_id in paths
        )

    async def of_pages(
        self, page_ids: Iterable[str], scope: SearchScope, kind: ExtractType | None = None
    ) -> list[Extract]:
        """What begins on these pages."""
        wanted = ExtractQuery(type=kind, page_ids=frozenset(page_ids), limit=MOST_READ)
        return await self._extracts.list_extracts(wanted, scope) if wanted.page_ids else []

    async def summaries(self, hits: Iterable[PageHit], scope: SearchScope) -> list[Extract]:
        """Summary and topics of the pages that a search found, where they were extracted."""
        return await self.of_pages([hit.page_id for hit in hits], scope, ExtractType.PAGE)

    async def follow(
        self,
        name: str,
        scope: SearchScope,
        *,
        kind: str | None = None,
        direction: Direction = Direction.BOTH,
        document_ids: frozenset[str] = frozenset(),
        limit: int = DEFAULT_ROWS,
    ) -> FoundRelations:
        """The relations of a thing, by its name or an alias (see core/knowledge/facts/following.py)."""
        wanted = ExtractQuery(type=ExtractType.RELATION, document_ids=document_ids, limit=MOST_READ)
        relations = [fact for item in await self._extracts.list_extracts(wanted, scope) for fact in to_facts(item)]
        documents = await self._corpus.list_readable(scope)
        names = await self._names(documents, scope)
        fitting = follow(relations, name, names, kind=kind, direction=direction)
        rows = await self.cite(fitting[:limit], scope, documents)
        return FoundRelations(rows=rows, total=len(fitting), known=tuple(named_things(relations)))

    async def main_names(self, text: str, scope: SearchScope) -> tuple[str, ...]:
        """Names of things that a text names by an alias alone (see core/knowledge/facts/aliases.py)."""
        return await self._naming.main_names(text, scope)

    async def ontology(self, scope: SearchScope) -> Ontology:
        """Kinds of entities and relations, aliases, and counts of all extracts that may be read."""
        entities, relations, counts, documents = await asyncio.gather(
            self._extracts.list_extracts(ExtractQuery(type=ExtractType.ENTITY, limit=MOST_READ), scope),
            self._extracts.list_extracts(ExtractQuery(type=ExtractType.RELATION, limit=MOST_READ), scope),
            self._extracts.counts(scope),
            self._corpus.list_readable(scope),
        )
        return build_ontology(entities, relations, documents, counts)

    async def counts(self, scope: SearchScope) -> Mapping[ExtractType, int]:
        """How many extracts there are of each type."""
        return await self._extracts.counts(scope)

    async def cite(
        self, facts: Iterable[Fact], scope: SearchScope, documents: Sequence[Document] | None = None
    ) -> tuple[CitedFact, ...]:
        """Footnotes 1, 2, ... for rows, proved against the pages as they are now; what is not proved is left out."""
        if documents is None:
            documents = await self._corpus.list_readable(scope)
        by_id = {document.id: document for document in documents}
        pages: dict[tuple[str, int], Page | None] = {}
        cited: list[CitedFact] = []
        for fact in facts:
            key = fact.extract.document_id, fact.page_number
            if key not in pages:
                pages[key] = await self._corpus.find_page(*key, scope)
            page, document = pages[key], by_id.get(key[0])
            if page is None or document is None or page.revision != fact.extract.revision:
                continue  # read anew meanwhile: its extracts come with the next run
            citation = cite(len(cited) + 1, document, page, quoted(fact.span, page.text))
            if citation.proved:
                cited.append(CitedFact(fact=fact, citation=citation))
        return tuple(cited)

    async def passages(self, rows: Iterable[CitedFact], scope: SearchScope) -> list[SourcedPassage]:
        """The stored passages that hold the rows' quotes, in their order: what others cite them by."""
        by_page: dict[str, list[SourcedPassage]] = {}
        found: dict[str, SourcedPassage] = {}
        for row in rows:
            citation = row.citation
            if citation.page_id not in by_page:
                by_page[citation.page_id] = await self._corpus.list_page_passages(citation.page_id, scope)
            for item in by_page[citation.page_id]:
                at = item.passage.span
                if at.start < citation.span.end and citation.span.start < at.end:
                    found.setdefault(item.passage.id, item)
        return list(found.values())

    async def _names(self, documents: Sequence[Document], scope: SearchScope) -> Aliases:
        """Other names of things, as the ontology has them."""
        wanted = ExtractQuery(type=ExtractType.ENTITY, with_aliases=True, limit=MOST_READ)
        entities = await self._extracts.list_extracts(wanted, scope)
        return build_ontology(entities, (), documents, {}).names()

    async def _candidates(
        self,
        query: FactQuery,
        scope: SearchScope,
        document_ids: frozenset[str],
        documents: Sequence[Document],
        aliases: Aliases,
    ) -> list[Extract]:
        kinds: list[ExtractType | None] = [*sorted({EXTRACT_TYPES[kind] for kind in query.types})] or [None]
        found: list[Extract] = []
        for kind in kinds:
            heavy = kind in (None, ExtractType.TABLE)  # many, and large: the database looks for the words first
            text = " ".join(_certain_words(query, documents, aliases)) if heavy else ""
            wanted = ExtractQuery(type=kind, document_ids=document_ids, text=text, limit=MOST_READ)
            found += await self._extracts.list_extracts(wanted, scope)
        return found


def quoted(span: Span, text: str) -> Span:
    """The part of a place that a footnote quotes: without space around it, and a long one to the end of a line."""
    quote = span.of(text)
    if len(quote) > QUOTE_CHARACTERS:
        end = quote.rfind("\n", 1, QUOTE_CHARACTERS)
        quote = quote[: end if end > 0 else QUOTE_CHARACTERS]
    start = span.start + len(quote) - len(quote.lstrip())
    return Span(start, start + len(quote.strip()))


def _each_once(facts: Iterable[Fact], aliases: Aliases) -> list[Fact]:
    """The first of those that say the same, in their order."""
    first: dict[tuple[str, ...], Fact] = {}
    for fact in facts:
        first.setdefault(same_fact(fact, aliases), fact)
    return list(first.values())


def _certain_words(query: FactQuery, documents: Sequence[Document], aliases: Aliases) -> list[str]:
    """Words that the data of every row that fits has to hold, as they are written."""
    about = " ".join(f"{document.title} {document.path}" for document in documents).casefold()
    free = [word for word in query.words if stem(word.casefold()) not in about]
    held = [item.value for item in query.conditions if item.comparison is Comparison.HOLDS]
    certain = [phrase for phrase in (*free, *held) if len(names_of(phrase, aliases)) == 1]
    said = [word for phrase in certain for word in words(phrase)]
    return [stem(word).removesuffix("y") for word in said if word.isascii() and word.isalpha()]
