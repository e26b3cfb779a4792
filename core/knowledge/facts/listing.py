"""A list of rows with what to quote for each: the answer to a question that clearly asks for one (see asked.py)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.domain.answer import ListedFact, ListedFacts, PassageCitation, ToolInvocation, ToolResult
from core.domain.corpus import SearchScope, SourcedPassage, Span
from core.knowledge.facts.asking import CitedFact, Facts
from core.knowledge.facts.list_intent import Asked
from core.knowledge.facts.query import MOST_ROWS
from core.knowledge.facts.rows import Fact, FactType
from core.text.readable import readable
from core.text.words import collapse, shorten

MOST_LISTED = MOST_ROWS  # rows of one answer, and their characters in all: more is a wall, in a chat and elsewhere
MOST_CHARACTERS = 6_000
SHOWN_CHARACTERS = 300  # of one row


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRow:
    """`quote` lies in the passage, and is what the footnote quotes."""

    text: str
    document: str  # its title
    source: SourcedPassage
    quote: Span

    @property
    def quote_text(self) -> str:
        passage = self.source.passage
        return passage.text[self.quote.start - passage.span.start : self.quote.end - passage.span.start]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    rows: tuple[ListedRow, ...]
    total: int
    unknown: int


async def list_rows(
    asked: Asked, facts: Facts, scope: SearchScope, document_ids: frozenset[str] = frozenset()
) -> Listing:
    """What fits, each row once; a row without a stored passage to quote is left out."""
    query = replace(facts.read(asked.query, MOST_LISTED), types=frozenset({asked.type}))
    found = await facts.find(query, scope, document_ids, distinct=True)
    passages = await facts.passages(found.rows, scope)
    rows = (row for each in found.rows if (row := _to_row(each, passages)) is not None)
    return Listing(rows=tuple(_within(rows)), total=found.total, unknown=found.unknown)


def _within(rows: Iterable[ListedRow]) -> Iterator[ListedRow]:
    used = 0
    for row in rows:
        used += len(row.text)
        if used > MOST_CHARACTERS:
            return
        yield row


def to_listed(asked: Asked, found: Listing, invocation: ToolInvocation, result: ToolResult) -> ListedFacts:
    """The listing as an answer is written from it."""
    rows = tuple(
        ListedFact(
            text=row.text,
            document=row.document,
            citation=PassageCitation(passage_id=row.source.passage.id, span=row.quote, cited_text=row.quote_text),
        )
        for row in found.rows
    )
    return ListedFacts(
        rows=rows,
        total=found.total,
        unknown=found.unknown,
        noun=asked.noun,
        invocation=invocation,
        result=result,
    )


def _to_row(cited: CitedFact, passages: Iterable[SourcedPassage]) -> ListedRow | None:
    """Quoted from the first passage that holds any of it: a footnote stands in one."""
    citation = cited.citation
    for item in passages:
        at = item.passage.span
        start, end = max(at.start, citation.span.start), min(at.end, citation.span.end)
        if item.passage.page_id == citation.page_id and start < end:
            quote = citation.quote[start - citation.span.start : end - citation.span.start]
            text = shorten(_shown(cited.fact, quote), SHOWN_CHARACTERS)
            return ListedRow(text=text, document=citation.document_title, source=item, quote=Span(start, end))
    return None


def _shown(fact: Fact, quote: str) -> str:
    """The document's own words, where they are more than a name."""
    fields = fact.fields
    if fact.type is FactType.ENTITY:
        return str(fields["name"])
    if fact.type is FactType.ENDPOINT:
        said = " – ".join(str(fields[name]) for name in ("path", "summary") if name in fields)
        return f"{fields.get('method', '')} {said}".strip()
    lines: Sequence[str] = [line for raw in quote.splitlines() if (line := readable(raw))]
    return collapse(" ".join(lines)) or str(fields.get("description") or fields.get("text") or fact.type.value)
