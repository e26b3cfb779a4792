"""Look-ups in extracts: rows that fit a query, each with its proved footnote; relations and the ontology."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from core.domain.answer import Citation, ListedFact
from core.domain.corpus import Document, Page, PageHit, SearchScope, SourcedPassage
from core.domain.extracts import Extract, ExtractQuery, ExtractType, Table
from core.domain.footnotes import cite
from core.domain.passages import Span
from core.domain.replies import PassageCitation
from core.knowledge.facts.aliases import AliasResolver
from core.knowledge.facts.list_intent import ListIntent
from core.knowledge.facts.matching import (
    Aliases,
    Direction,
    Match,
    follow,
    held_words,
    match,
    named_things,
    names_of,
    same_fact,
    stem,
)
from core.knowledge.facts.ontology import Ontology, build_ontology
from core.knowledge.facts.query import DEFAULT_ROWS, MOST_ROWS, Comparison, FactQuery, read_query
from core.knowledge.facts.rows import EXTRACT_TYPES, Fact, FactType, to_facts
from core.knowledge.facts.table_grids import Grid
from core.knowledge.facts.table_questions import compute
from core.knowledge.facts.table_results import Computed
from core.knowledge.facts.table_shapes import SAID_OF, WEIGHT, find_statement, reshape
from core.knowledge.facts.table_words import TableQuestion, stems
from core.knowledge.search.documents import find_by_name
from core.ports import Clock, CorpusRepository
from core.ports.documents import ExtractRepository
from core.text.markup import readable
from core.text.words import collapse, shorten, words

MOST_READ = 50_000  # extracts read for one question
QUOTE_CHARACTERS = 600  # of a footnote: a longer table or meeting is quoted from its beginning
MOST_LISTED = MOST_ROWS  # a longer list is hard to read, in chat and elsewhere
MOST_CHARACTERS = 6_000  # of all rows of a list
SHOWN_CHARACTERS = 300  # of one row
MOST_DOCUMENTS = 8  # whose tables are tried for one question
MOST_LETTERS = 3  # of words too short to name a document
MOST_NAMED = 3  # documents that a word of the question names
MOST_CITED = 10  # rows shown below a sum
# A long document carries a name if its first pages have it, and this share of all its pages.
LONG_PAGES = 20
FIRST_PAGES = 3
CARRIED = 0.2
MOST_LOOKED_AT = 2  # documents that are looked through for a name
KEPT = 64  # documents whose names stay in memory
PAGE_HEAD = 300  # characters of a page that tell whose accounts it has
_OF_GROUP = re.compile(r"\bconsolidated\b", re.IGNORECASE)
_PARENT = frozenset({"company", "parent"})
_CAPITALISED = re.compile(r"\b[A-Z][\w’'-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedFact:
    """A row with its footnote, which quotes the live page."""

    fact: Fact
    citation: Citation


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFacts:
    """Rows in the order of document and place, numbered from 1; at most `query.limit`."""

    query: FactQuery
    rows: tuple[CitedFact, ...]
    total: int  # all rows that fit, beyond the limit, too
    unknown: int  # rows that might fit, but have no date or number to compare


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Trouble:
    """The reason why an extractor's results for a document are missing or incomplete."""

    document: str  # path relative to its source
    extractor: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRelations:
    """Relations of one thing; `known` are the names of all things in relations."""

    rows: tuple[CitedFact, ...]
    total: int
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Rows to quote, each with its passage; `total` and `unknown` as in FoundFacts."""

    rows: tuple[tuple[ListedFact, SourcedPassage], ...]
    total: int
    unknown: int
    is_whole: bool = True  # the documents were read to the end: only then is the number of rows known


Tables = list[tuple[Grid, list[Fact]]]  # whole tables with their rows


class Facts:
    """The use cases over extracts. Every read takes the scope it may see."""

    def __init__(self, *, extracts: ExtractRepository, corpus: CorpusRepository, clock: Clock) -> None:
        self._extracts = extracts
        self._corpus = corpus
        self._clock = clock
        self.aliases = AliasResolver(extracts=extracts, corpus=corpus, clock=clock)
        self._carried: OrderedDict[tuple[str, str | None, int | None], frozenset[str]] = OrderedDict()
        self.list_extracts = extracts.list_extracts
        self.counts = extracts.counts

    @property
    def now(self) -> datetime:
        """The time in this machine's zone."""
        return self._clock.now().astimezone()

    @property
    def today(self) -> date:
        return self.now.date()

    def read(self, text: str, limit: int = DEFAULT_ROWS) -> FactQuery:
        """Read a text as a query, relative to today. Raises BadInput as `read_query` does."""
        return read_query(text, self.today, limit=limit)

    async def ask(self, text: str, scope: SearchScope, limit: int = DEFAULT_ROWS) -> FoundFacts:
        """Find the rows that fit a text."""
        return await self.find(self.read(text, limit), scope)

    async def find(
        self,
        query: FactQuery,
        scope: SearchScope,
        document_ids: frozenset[str] = frozenset(),
        *,
        distinct: bool = False,
        ranks: bool = False,
    ) -> FoundFacts:
        """Find the rows that fit a query, only in these documents if there are any.

        With `distinct`, equal rows (from a copy of the minutes, or a thing under two names) count once. With `ranks`,
        rows don't need all words of the query: those with most of them are meant. Raises NotFound
        and BadInput for an unknown or unclear document, as Library.find_document does.
        """
        documents = await self._corpus.list_readable(scope)
        if query.document:
            document_ids = frozenset({find_by_name(query.document, documents).id}) & (
                document_ids or frozenset(document.id for document in documents)
            )
            if not document_ids:
                return FoundFacts(query=query, rows=(), total=0, unknown=0)
        aliases = await self._names(documents, scope) if query.words or query.conditions or distinct else {}
        found: dict[Match, list[Fact]] = {Match.YES: [], Match.UNKNOWN: [], Match.NO: []}
        about = {document.id: f"{document.title} {document.path}" for document in documents}
        asked = [re.sub("['’]s$", "", word) for word in query.words]
        query = replace(query, words=()) if ranks else query
        for extract in await self._candidates(query, scope, document_ids, documents, aliases):
            for fact in to_facts(extract):
                found[match(fact, query, aliases, about.get(extract.document_id, ""))].append(fact)
        fitting, unknown = found[Match.YES], found[Match.UNKNOWN]
        if ranks and asked:
            held = [held_words(fact, asked, aliases, about.get(fact.extract.document_id, "")) for fact in fitting]
            fitting = _with_most(fitting, held, len(asked))
        if distinct:
            fitting, unknown = (_each_once(facts, aliases) for facts in (fitting, unknown))
        rows = await self.cite(fitting[: query.limit], scope, documents)
        return FoundFacts(query=query, rows=rows, total=len(fitting), unknown=len(unknown))

    async def list_rows(
        self, intent: ListIntent, scope: SearchScope, document_ids: frozenset[str] = frozenset()
    ) -> Listing:
        """List the rows that a question asks for, each once. Rows without a stored passage to quote are left out."""
        query = replace(self.read(intent.query, MOST_LISTED), types=frozenset({intent.type}))
        found = await self.find(query, scope, document_ids, distinct=True, ranks=True)
        passages = await self.passages(found.rows, scope)
        rows = tuple(_within_characters(row for each in found.rows if (row := _to_row(each, passages)) is not None))
        read = frozenset(each.fact.extract.document_id for each in found.rows)
        extractors = {each.fact.extract.extractor for each in found.rows}
        is_whole = not any(each.extractor in extractors for each in await self.troubles(scope, read))
        return Listing(rows=rows, total=found.total, unknown=found.unknown, is_whole=is_whole)

    async def compute(
        self,
        question: TableQuestion,
        pages: Sequence[str],
        scope: SearchScope,
        read: dict[str, Tables] | None = None,
    ) -> tuple[str, Listing] | None:
        """Answer a question from a table of the documents of these pages, with the rows to cite; None if none or
        several do. The first pages count first. `read` keeps the tables of documents for the next reading.
        """
        read = {} if read is None else read
        near = await self.of_pages(pages, scope, ExtractType.TABLE)
        near.sort(key=lambda extract: pages.index(extract.page_id))
        readable = {document.id: document for document in await self._corpus.list_readable(scope)}
        named = _named(question, [*readable.values()])
        found: list[tuple[tuple[int, bool, bool, int], Computed, list[Fact]]] = []
        for place, document_id in enumerate(dict.fromkeys([*named, *(item.document_id for item in near)])):
            if place == MOST_DOCUMENTS or (found and named and document_id not in named):
                break
            if document_id not in read:
                read[document_id] = await self.tables(frozenset({document_id}), scope)
            asked = question
            if question.proper and document_id not in named and place < len(named) + MOST_LOOKED_AT:
                carried = await self._names_carried(readable[document_id], scope)
                asked = replace(question, carried=question.proper & carried)
            for grid, rows in read[document_id]:
                if rows and (computed := compute(asked, grid)) is not None:
                    worth = computed.covered, computed.is_exact, not _is_of_parent(grid, question), grid.weight
                    found.append((worth, computed, [rows[place] for place in computed.rows]))
        if not found:
            return None
        most = max(worth for worth, _, _ in found)
        best = [(computed, rows) for worth, computed, rows in found if worth == most]
        if len({other.figure for other, _ in best}) > 1:
            best = [found for found in best if await self._is_of_group(found[1][0], question, scope)]
        if len({other.figure for other, _ in best}) != 1:
            return None
        for computed, rows in best:
            cited = await self.cite(rows[:MOST_CITED], scope)
            passages = await self.passages(cited, scope)
            listed = [row for each in cited if (row := _to_row(each, passages)) is not None]
            if len(listed) >= min(len(rows), MOST_CITED):  # else a row has no proof
                return computed.text, Listing(rows=tuple(listed), total=len(rows), unknown=0)
        return None

    async def _is_of_group(self, row: Fact, question: TableQuestion, scope: SearchScope) -> bool:
        """Return whether a row's page begins with a group's accounts; with its parent's, if the question names that."""
        page = await self._corpus.find_page(row.extract.document_id, row.page_number, scope)
        is_of_group = page is not None and _OF_GROUP.search(page.text[:PAGE_HEAD]) is not None
        return is_of_group is not bool(_PARENT & {*question.said})

    async def tables(self, document_ids: frozenset[str], scope: SearchScope) -> Tables:
        """List the whole tables of documents, in order, with their rows."""
        readable = {document.id: document for document in await self._corpus.list_readable(scope)}
        found: list[tuple[Grid, list[Fact]]] = []
        for document_id in sorted(document_ids & readable.keys()):
            wanted = ExtractQuery(type=ExtractType.TABLE, document_ids=frozenset({document_id}), limit=MOST_READ)
            found += whole_tables(await self._extracts.list_extracts(wanted, scope), readable[document_id])
        return found

    async def _names_carried(self, document: Document, scope: SearchScope) -> frozenset[str]:
        """Return the names that a document carries, as far as it may be read; kept for the last KEPT documents."""
        key = (document.id, document.revision, scope.positions.get(document.id))
        if key not in self._carried:
            self._carried[key] = carried_names(await self._corpus.list_pages(document.id, scope))
        self._carried.move_to_end(key)
        while len(self._carried) > KEPT:
            self._carried.popitem(last=False)
        return self._carried[key]

    async def troubles(self, scope: SearchScope, document_ids: frozenset[str] = frozenset()) -> list[Trouble]:
        """List the failures, refusals and omissions of extractors, by document and extractor.

        Only of these documents, if there are any. Reasons quote pages, so documents with a reading position have none.
        """
        documents = await self._corpus.list_readable(scope)
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
        """List the extracts that begin on these pages."""
        wanted = ExtractQuery(type=kind, page_ids=frozenset(page_ids), limit=MOST_READ)
        return await self._extracts.list_extracts(wanted, scope) if wanted.page_ids else []

    async def summaries(self, hits: Iterable[PageHit], scope: SearchScope) -> list[Extract]:
        """List the extracted summaries and topics of pages that a search found."""
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
        """Find the relations of a thing by its name or an alias (`matching.follow`)."""
        wanted = ExtractQuery(type=ExtractType.RELATION, document_ids=document_ids, limit=MOST_READ)
        relations = [fact for item in await self._extracts.list_extracts(wanted, scope) for fact in to_facts(item)]
        documents = await self._corpus.list_readable(scope)
        names = await self._names(documents, scope)
        fitting = follow(relations, name, names, kind=kind, direction=direction)
        rows = await self.cite(fitting[:limit], scope, documents)
        return FoundRelations(rows=rows, total=len(fitting), known=tuple(named_things(relations)))

    async def ontology(self, scope: SearchScope) -> Ontology:
        """Return kinds of entities and relations, aliases, and counts of all readable extracts."""
        entities, relations, counts, documents = await asyncio.gather(
            self._extracts.list_extracts(ExtractQuery(type=ExtractType.ENTITY, limit=MOST_READ), scope),
            self._extracts.list_extracts(ExtractQuery(type=ExtractType.RELATION, limit=MOST_READ), scope),
            self._extracts.counts(scope),
            self._corpus.list_readable(scope),
        )
        return build_ontology(entities, relations, documents, counts)

    async def cite(
        self, facts: Iterable[Fact], scope: SearchScope, documents: Sequence[Document] | None = None
    ) -> tuple[CitedFact, ...]:
        """Prove footnotes 1, 2, ... for rows against the live pages. Rows that can't be proved are left out."""
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
                continue  # the document has a new revision, whose extracts come with the next run
            citation = cite(len(cited) + 1, document, page, quoted(fact.span, page.text))
            if citation.proved:
                cited.append(CitedFact(fact=fact, citation=citation))
        return tuple(cited)

    async def passages(self, rows: Iterable[CitedFact], scope: SearchScope) -> list[SourcedPassage]:
        """Return the stored passages that hold the rows' quotes, in the order of the rows."""
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
            heavy = kind in (None, ExtractType.TABLE)  # many and large: the database filters by words first
            text = " ".join(_certain_words(query, documents, aliases)) if heavy else ""
            wanted = ExtractQuery(type=kind, document_ids=document_ids, text=text, limit=MOST_READ)
            found += await self._extracts.list_extracts(wanted, scope)
        return found


def _named(question: TableQuestion, documents: Sequence[Document]) -> list[str]:
    """Return the few documents whose title or path has a word of the question: "Costco's" of "COSTCO_2020.pdf"."""
    names = {document.id: f"{document.title} {document.path}".casefold() for document in documents}
    said = [word for word in question.needed if len(word) > MOST_LETTERS and not word.isdigit()]
    having = [[id for id, name in names.items() if word in name] for word in said]
    few = [ids for ids in having if 0 < len(ids) <= MOST_NAMED]
    return min(few, key=len, default=[])


def _is_of_parent(grid: Grid, question: TableQuestion) -> bool:
    """Return whether a table is only of a group's parent, and the question doesn't ask for it."""
    return bool(_PARENT & {*words(f"{grid.title} {' '.join(grid.columns)}")}) and not _PARENT & {*question.said}


def carried_names(pages: Sequence[Page]) -> frozenset[str]:
    """Return the capitalised words, as stems, that a long document has on its first pages, and throughout."""
    if len(pages) < LONG_PAGES:
        return frozenset()
    texts = [page.text.casefold() for page in pages]
    first = frozenset(stems(word for page in pages[:FIRST_PAGES] for word in _CAPITALISED.findall(page.text)))
    return frozenset(word for word in first if sum(word in text for text in texts) >= len(texts) * CARRIED)


def whole_tables(extracts: Iterable[Extract], document: Document) -> Iterator[tuple[Grid, list[Fact]]]:
    """Yield the tables of a document with their rows; parts on several pages are one table.

    Tables whose rows have no places of their own are left out: no footnote could lead to a row.
    """
    about = f"{document.title} {document.path}"
    whole: list[tuple[Grid, list[Fact]]] = []
    for extract in extracts:
        table = Table.model_validate(extract.data)
        rows = [fact for fact in to_facts(extract) if fact.type is FactType.ROW]
        if len(table.row_spans) != len(table.rows):
            continue
        is_part = table.continued or document.kind == "csv"
        title, columns, cells, taken = reshape(table.title, table.columns, table.rows)
        statement = find_statement([row[0] for row in cells])
        if is_part and whole and statement is None and whole[-1][0].columns == columns:
            grid, before = whole[-1]
            whole[-1] = replace(grid, rows=(*grid.rows, *cells)), [*before, *rows[taken:]]
        else:
            said = f"{about} {SAID_OF[statement]}" if statement is not None else about
            weight = WEIGHT[statement] if statement is not None else 0
            grid = Grid(title=title, columns=columns, rows=cells, about=said, weight=weight)
            whole.append((grid, rows[taken:]))
    yield from whole


def quoted(span: Span, text: str) -> Span:
    """Return the part of a place that a footnote quotes: no space around it, a long one up to the end of a line."""
    quote = span.of(text)
    if len(quote) > QUOTE_CHARACTERS:
        end = quote.rfind("\n", 1, QUOTE_CHARACTERS)
        quote = quote[: end if end > 0 else QUOTE_CHARACTERS]
    start = span.start + len(quote) - len(quote.lstrip())
    return Span(start, start + len(quote.strip()))


def _with_most(facts: Sequence[Fact], held: Sequence[Sequence[str]], asked: int) -> list[Fact]:
    """Return the rows that hold most of the words; none if most words are unknown to all rows."""
    known = {word for words_held in held for word in words_held}
    most = max(map(len, held), default=0)
    if len(known) * 2 < asked or not most:
        return []
    return [fact for fact, own in zip(facts, held, strict=True) if len(own) == most]


def _each_once(facts: Iterable[Fact], aliases: Aliases) -> list[Fact]:
    first: dict[tuple[str, ...], Fact] = {}
    for fact in facts:
        first.setdefault(same_fact(fact, aliases), fact)
    return list(first.values())


def _certain_words(query: FactQuery, documents: Sequence[Document], aliases: Aliases) -> list[str]:
    """Return words that the data of every fitting row holds as they are written."""
    about = " ".join(f"{document.title} {document.path}" for document in documents).casefold()
    free = [word for word in query.words if stem(word.casefold()) not in about]
    held = [item.value for item in query.conditions if item.comparison is Comparison.HOLDS]
    certain = [phrase for phrase in (*free, *held) if len(names_of(phrase, aliases)) == 1]
    said = [word for phrase in certain for word in words(phrase)]
    return [stem(word).removesuffix("y") for word in said if word.isascii() and word.isalpha()]


def _within_characters(
    rows: Iterable[tuple[ListedFact, SourcedPassage]],
) -> Iterator[tuple[ListedFact, SourcedPassage]]:
    used = 0
    for row, source in rows:
        used += len(row.text)
        if used > MOST_CHARACTERS:
            return
        yield row, source


def _to_row(cited: CitedFact, passages: Iterable[SourcedPassage]) -> tuple[ListedFact, SourcedPassage] | None:
    """Quote the first passage that holds a part of the row's quote: a footnote stays within one passage."""
    citation = cited.citation
    for item in passages:
        at = item.passage.span
        span = Span(max(at.start, citation.span.start), min(at.end, citation.span.end))
        if item.passage.page_id == citation.page_id and span.start < span.end:
            quote = citation.quote[span.start - citation.span.start : span.end - citation.span.start]
            claim = PassageCitation(passage_id=item.passage.id, span=span, cited_text=quote)
            text = shorten(_row_text(cited.fact, quote), SHOWN_CHARACTERS)
            cells = {name: str(value) for name, value in cited.fact.fields.items()}
            row = ListedFact(text=text, document=citation.document_title, citation=claim)
            return replace(row, cells=cells if cited.fact.type is FactType.ROW else {}), item
    return None


def _row_text(fact: Fact, quote: str) -> str:
    fields = fact.fields
    if fact.type is FactType.ENTITY:
        return str(fields["name"])
    if fact.type is FactType.ENDPOINT:
        said = " – ".join(str(fields[name]) for name in ("path", "summary") if name in fields)
        return f"{fields.get('method', '')} {said}".strip()
    lines = [line for raw in quote.splitlines() if (line := readable(raw))]
    return collapse(" ".join(lines)) or str(fields.get("description") or fields.get("text") or fact.type.value)
