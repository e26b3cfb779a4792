"""The `query_journal` tool: a question, a summary or an extraction about one journal, named or found."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Literal

from pydantic import Field

from core.answering.tools.base import Arguments, Finding, ToolContext, within
from core.answering.tools.search import DEFAULT_LIMIT, MAX_LIMIT, find_pages, to_finding
from core.answering.tools.section_notes import Purpose, SectionReader, read_sections, to_lines
from core.domain.corpus import Document, Heading, Page, PageHit, SearchQuery, SourcedPassage
from core.domain.passages import Span
from core.errors import Ambiguous, NotFound, ProviderError, ToolFailed, ToolRetry
from core.knowledge.search.documents import JOURNAL_KIND, find_by_name, only_journals
from core.text.words import STOPWORDS, words
from core.work.steps import Step

# About 6,000 tokens: most journal chapters fit whole, and three such calls still fit a small model's window.
READ_CHARACTERS = 24_000
# The best journal is taken without asking when no other comes this near to its score (a share of it): closer scores
# order pages of two journals about the same things by chance.
CLEAR_LEAD = 0.15
MAX_CHOICES = 5  # Discord and Slack show five buttons a row
MAX_OUTLINE = 60  # lines


class QueryJournalArguments(Arguments):
    query: str = Field(description="The question or request, understandable without the conversation.")
    query_type: Literal["question", "summary", "extraction"] = Field(
        default="question",
        description="question: find the passages that answer; summary: read the journal or the chapter named in the "
        "query; extraction: the same, to list all things of a kind.",
    )
    journal_name: str | None = Field(
        default=None, description="The journal's title, when the reader named one; it need not be exact."
    )


class QueryJournalTool:
    name = "query_journal"
    description = (
        "Ask one journal (a module, an adventure, a campaign book): its places, people, treasure, encounters, or a "
        "summary or complete list of them. Leave journal_name out when the reader named none: the journal the "
        "conversation is about, or the one that fits best, is taken."
    )
    arguments = QueryJournalArguments

    async def run(self, arguments: QueryJournalArguments, context: ToolContext) -> Finding:
        journal = await _resolve(arguments, context)
        if isinstance(journal, Finding):
            return journal
        query = _within(journal, arguments.query, context)
        if arguments.query_type == "question":
            return to_finding(query, await find_pages(query, context))
        hits = await find_pages(query, context) if arguments.query_type == "extraction" else []
        return await _read(journal, arguments, hits, context)


def _within(journal: Document, text: str, context: ToolContext) -> SearchQuery:
    return SearchQuery(text=text, limit=DEFAULT_LIMIT, document_ids=frozenset({journal.id}), rerank=context.rerank)


async def _resolve(arguments: QueryJournalArguments, context: ToolContext) -> Document | Finding:
    """The journal that is meant, or a question to the reader. By name, then title in the query, focus, and search."""
    journals = await _journals(context)
    if not journals:
        raise ToolFailed("There is no journal or document to read.")
    if arguments.journal_name is not None:
        return _by_name(arguments.journal_name, journals)
    named = [journal for journal in journals if is_named(journal.title, arguments.query)]
    for only in (journals, named):
        if len(only) == 1:
            return only[0]
    about = context.focus.document_id if context.focus is not None else None
    focused = next((journal for journal in journals if journal.id == about), None)
    return focused or await _by_search(arguments, journals, context)


async def _journals(context: ToolContext) -> list[Document]:
    """Return the journals of the scope; all its documents if it has no journals."""
    documents = [
        document
        for document in await context.corpus.list_readable(context.scope)
        if document.revision is not None and (not context.document_ids or document.id in context.document_ids)
    ]
    return only_journals(documents)


def _by_name(name: str, journals: Sequence[Document]) -> Document | Finding:
    try:
        return find_by_name(name, journals)
    except Ambiguous as error:
        return _ask([item for item in journals if f"{item.source}/{item.path}" in error.candidates])
    except NotFound as error:
        titles = "; ".join(item.title for item in journals[:MAX_OUTLINE])
        raise ToolRetry(f"There is no journal {name!r}. There are: {titles}.") from error


async def _by_search(
    arguments: QueryJournalArguments, journals: Sequence[Document], context: ToolContext
) -> Document | Finding:
    """Return the journal whose best page is clearly ahead; else the reader chooses among equal ones."""
    kind = JOURNAL_KIND if journals[0].kind == JOURNAL_KIND else None
    query = SearchQuery(text=arguments.query, limit=MAX_LIMIT, kind=kind, document_ids=context.document_ids)
    best: dict[str, PageHit] = {}
    for hit in await context.library.search(query, context.scope):
        best.setdefault(hit.document.id, hit)
    ranked = sorted(best.values(), key=lambda hit: -hit.score)
    if not ranked:
        return to_finding(query, []) if arguments.query_type == "question" else _ask(journals)
    lead = CLEAR_LEAD * abs(ranked[0].score)
    close = [hit.document for hit in ranked if ranked[0].score - hit.score <= lead]
    return ranked[0].document if len(close) <= 1 else _ask(close)


def _ask(journals: Sequence[Document]) -> Finding:
    titles = [journal.title for journal in journals]
    choices = [item.title if titles.count(item.title) == 1 else f"{item.title} ({item.path})" for item in journals]
    more = len(choices) - MAX_CHOICES
    return Finding(
        text="Which journal do you mean?" + (f" These fit best of {len(choices)}." if more > 0 else ""),
        choices=tuple(choices[:MAX_CHOICES]),
    )


async def _read(
    journal: Document, arguments: QueryJournalArguments, hits: Sequence[PageHit], context: ToolContext
) -> Finding:
    """Return as much of the journal as fits, in order.

    Chapters and sections that the query names come first, and a summary contains only them. If none is named, a
    summary takes the beginning of every page first, an extraction the matching pages.
    """
    pages = await context.corpus.list_pages(journal.id, context.scope)
    by_page = [await context.corpus.list_page_passages(page.id, context.scope) for page in pages]
    everything = [item for passages in by_page for item in passages]
    named = list(_named(pages, by_page, arguments.query))
    if arguments.query_type == "summary":
        wanted, complete = (named, named) if named else (list(_round_robin(by_page)), everything)
    else:
        order = {hit.page_id: rank for rank, hit in enumerate(hits)}
        matching = sorted(everything, key=lambda item: order.get(item.passage.page_id, len(order)))
        wanted, complete = [*named, *matching], everything
    long = sum(len(item.passage.text) for item in complete) > READ_CHARACTERS
    if long and context.sections is not None:
        keep = {item.passage.id for item in complete}
        sections = [
            (page, [item for item in own if item.passage.id in keep]) for page, own in zip(pages, by_page, strict=True)
        ]
        return await _read_in_sections(journal, arguments, sections, context.sections, context.call)
    shown = sorted(_take(wanted, READ_CHARACTERS), key=lambda item: item.passage.ordinal)
    lines = [
        f'"{journal.title}" ({journal.path}), its sections in order:',
        *_outline(pages),
        *_left_out(shown, complete),
    ]
    return Finding(text="\n".join(lines), passages=tuple(shown), searches=(arguments.query,))


async def _read_in_sections(
    journal: Document,
    arguments: QueryJournalArguments,
    sections: Sequence[tuple[Page, Sequence[SourcedPassage]]],
    reader: SectionReader,
    call: Step,
) -> Finding:
    """All of it, section by section; the passages behind the notes are there to be cited, as many as fit."""
    purpose: Purpose = "extraction" if arguments.query_type == "extraction" else "summary"
    try:
        notes = await read_sections(sections, arguments.query, purpose, reader, call)
    except ProviderError as error:  # only this tool's call fails: the conversation's own request may succeed
        raise ToolFailed(f"{journal.title!r} is too long to be shown whole and could not be read: {error}") from error
    by_id = {item.passage.id: item for _, own in sections for item in own}
    shown = _take((by_id[key] for key in notes.passage_ids if key in by_id), READ_CHARACTERS)
    count = sum(bool(own) for _, own in sections)
    lines = [
        f'"{journal.title}" ({journal.path}) is too long to be shown whole. Its {count} sections were read one by one; '
        "below are the passages that the notes rest on."
    ]
    return Finding(
        text="\n".join([*lines, *to_lines(notes, purpose)]),
        passages=tuple(sorted(shown, key=lambda item: item.passage.ordinal)),
        searches=(arguments.query,),
    )


def _named(
    pages: Sequence[Page], by_page: Sequence[Sequence[SourcedPassage]], request: str
) -> Iterator[SourcedPassage]:
    for page, passages in zip(pages, by_page, strict=True):
        spans = named_spans(page, request)
        for item in passages:
            at = item.passage.span
            if any(at.start < span.end and span.start < at.end for span in spans):
                yield item


def _round_robin(by_page: Sequence[Sequence[SourcedPassage]]) -> Iterator[SourcedPassage]:
    for row in zip_longest(*by_page):
        yield from (item for item in row if item is not None)


def _take(passages: Iterable[SourcedPassage], characters: int) -> tuple[SourcedPassage, ...]:
    """Each passage once, as long as they fit; at least one."""
    return within(list({item.passage.id: item for item in passages}.values()), characters)


def _outline(pages: Sequence[Page]) -> list[str]:
    lines = []
    for page in pages:
        headings = (*page.heading_path, *([page.title] if page.title else []))
        path = " > ".join(title for title, _ in groupby(headings))
        lines.append(f"- page {page.number}: {path or 'no title'} (page_id {page.id})")
    more = len(lines) - MAX_OUTLINE
    return [*lines[:MAX_OUTLINE], f"- and {more} more pages"] if more > 0 else lines


def _left_out(shown: Sequence[SourcedPassage], complete: Sequence[SourcedPassage]) -> list[str]:
    left = len(complete) - len(shown)
    if left <= 0:
        return []
    return [
        f"Shown are {len(shown)} of {len(complete)} passages; {left} did not fit. Say that the answer may be "
        "incomplete, or read the missing pages with get_page or a query that names a section."
    ]


_LABEL = re.compile(r"\b(chapter|part|section|act|book|appendix|session|scene|level)\s+(\w+)", re.IGNORECASE)
_NUMBERED_TITLE = re.compile(r"^\W*(\d+|[IVXLC]+)\s*[.:)–—-]\s*\w")
_PREFIX = re.compile(r"^\W*(?:\w+\s+)?(?:\d+|[ivxlc]+|\w)\s*[.:)–—-]\s*", re.IGNORECASE)
_COUNTING = "one two three four five six seven eight nine ten eleven twelve".split()
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()


def is_named(title: str, request: str) -> bool:
    """Whether `request` names a heading: its whole title, the part after "Chapter 2:", or "chapter 2" by the number."""
    if _labels(request) & (_labels(title) | _numbered(title)):
        return True
    asked = f" {' '.join(words(request))} "
    for variant in {title, _PREFIX.sub("", title)}:
        said = words(variant)
        if set(said) - STOPWORDS and f" {' '.join(said)} " in asked:
            return True
    return False


def named_spans(page: Page, request: str) -> list[Span]:
    """Return the parts of a page that a request names, in text order: all of it if a title above is named."""
    if any(is_named(title, request) for title in (page.title, *page.heading_path) if title):
        return [Span(0, len(page.text))]
    return [
        Span(heading.start, _section_end(index, page.headings, len(page.text)))
        for index, heading in enumerate(page.headings)
        if is_named(heading.title, request)
    ]


def _section_end(index: int, headings: Sequence[Heading], length: int) -> int:
    """Return the place of the next heading of the same or a higher level."""
    level = headings[index].level
    return next((heading.start for heading in headings[index + 1 :] if heading.level <= level), length)


def _labels(text: str) -> set[tuple[str, str]]:
    found = {(kind.lower(), _to_number(value)) for kind, value in _LABEL.findall(text)}
    return {(kind, number) for kind, number in found if number is not None}


def _numbered(title: str) -> set[tuple[str, str]]:
    """A title "2. The Hall" is chapter, part and section 2."""
    match = _NUMBERED_TITLE.match(title)
    number = _to_number(match.group(1)) if match else None
    return {(kind, number) for kind in ("chapter", "part", "section")} if number else set()


def _to_number(value: str) -> str | None:
    """One spelling for 2, two and II; a single letter stays one (appendix B). None: not a number."""
    lower = value.lower()
    if lower.isdigit():
        return str(int(lower))
    for spellings in (_COUNTING, _ROMAN):
        if lower in spellings:
            return str(spellings.index(lower) + 1)
    return lower if len(lower) == 1 and lower.isalpha() else None
