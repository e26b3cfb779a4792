"""The `query_journal` tool: a question, a summary or an extraction about one journal, named or found."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Literal

from pydantic import Field

from core.access.positions.places import NAMED, kind_of, numbered, sections_of, titles_of, to_number
from core.answering.tools.base import Arguments, Finding, ToolContext, within
from core.answering.tools.search import DEFAULT_LIMIT, MAX_LIMIT, find_pages, to_finding
from core.answering.tools.section_notes import Purpose, SectionReader, read_sections, to_lines
from core.domain.corpus import Document, Heading, Page, PageHit, SearchQuery, SourcedPassage
from core.domain.passages import Span
from core.errors import Ambiguous, NotFound, ProviderError, ToolFailed, ToolRetry
from core.knowledge.search.documents import JOURNAL_KIND, find_by_name, only_journals, qualified
from core.text.words import STOPWORDS, collapse, content_words, words
from core.work.steps import Step

# About 6,000 tokens: most journal chapters fit whole, and three such calls still fit a small model's window.
READ_CHARACTERS = 24_000
# Of a model's window, the share that a summary reads at once. Reading a long text once costs about half as much as
# its sections one by one: their notes are written, at the price of output, and then read with their passages.
WINDOW_SHARE = 8
CHARACTERS_PER_TOKEN = 4
# The best journal is taken without asking when no other comes this near to its score (a share of it): closer scores
# order pages of two journals about the same things by chance.
CLEAR_LEAD = 0.15
MAX_CHOICES = 25  # a menu of Discord
MAX_NAMED = 200  # ids in one search; the journals of a larger library are searched by their kind
MAX_OUTLINE = 60  # lines


class QueryJournalArguments(Arguments):
    query: str = Field(description="The question or request, understandable without the conversation.")
    query_type: Literal["question", "summary", "extraction"] = Field(
        default="question",
        description="question: find passages; summary: read the journal, or the chapter that the query names; "
        "extraction: the same, to list all things of a kind.",
    )
    journal_name: str | None = Field(
        default=None, description="Its title, when the reader named one; not always exact."
    )


class QueryJournalTool:
    name = "query_journal"
    description = (
        "Ask one journal (an adventure, a campaign book), sum it up, or list its places, people or treasure. Without "
        "journal_name, the one that the conversation is about, or that fits best, is taken."
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
    journals = _named_journals(journals, arguments.query) or journals
    if len(journals) == 1:
        return journals[0]
    about = context.focus.document_id if context.focus is not None else None
    focused = next((journal for journal in journals if journal.id == about), None)
    return focused or await _by_search(arguments, journals, context)


def _named_journals(journals: Sequence[Document], query: str) -> list[Document]:
    """Return those whose titles the query names, without a title that is only a part of another one of them."""
    named = [journal for journal in journals if is_named(journal.title, query)]
    said = {journal.id: f" {' '.join(words(journal.title))} " for journal in named}
    return [
        journal
        for journal in named
        if not any(said[journal.id] in text and said[journal.id] != text for text in said.values())
    ]


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
        by_path = {qualified(journal): journal for journal in journals}
        return _ask([by_path[path] for path in error.candidates if path in by_path])
    except NotFound as error:
        titles = "; ".join(item.title for item in journals[:MAX_OUTLINE])
        raise ToolRetry(f"There is no journal {name!r}. There are: {titles}.") from error


async def _by_search(
    arguments: QueryJournalArguments, journals: Sequence[Document], context: ToolContext
) -> Document | Finding:
    """Return the journal whose best page is clearly ahead; else the reader chooses among all equal ones, best first."""
    known = frozenset(journal.id for journal in journals)
    is_part = len(known) <= MAX_NAMED
    kind = JOURNAL_KIND if not is_part and all(journal.kind == JOURNAL_KIND for journal in journals) else None
    within = known if is_part else context.document_ids
    query = SearchQuery(text=arguments.query, limit=MAX_LIMIT, kind=kind, document_ids=within)
    best: dict[str, PageHit] = {}
    for hit in await context.library.search(query, context.scope):
        if hit.document.id in known:
            best.setdefault(hit.document.id, hit)
    ranked = sorted(best.values(), key=lambda hit: -hit.score)
    if not ranked:
        by_title = sorted(journals, key=lambda item: -len(content_words(item.title) & content_words(arguments.query)))
        return to_finding(query, []) if arguments.query_type == "question" else _ask(by_title)
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
        most = max(READ_CHARACTERS, context.window_tokens // WINDOW_SHARE * CHARACTERS_PER_TOKEN)
    else:
        order = {hit.page_id: rank for rank, hit in enumerate(hits)}
        matching = sorted(everything, key=lambda item: order.get(item.passage.page_id, len(order)))
        wanted, complete, most = [*named, *matching], everything, READ_CHARACTERS
    long = sum(len(item.passage.text) for item in complete) > most
    if long and context.sections is not None:
        keep = {item.passage.id for item in complete}
        sections = [
            (page, [item for item in own if item.passage.id in keep]) for page, own in zip(pages, by_page, strict=True)
        ]
        return await _read_in_sections(journal, arguments, sections, context.sections, context.call)
    shown = sorted(_take(wanted, most), key=lambda item: item.passage.ordinal)
    rest = _left_out(shown, complete)
    part = "whole" if complete is everything else "the part that is named"
    lines = ["its sections in order:", *_outline(pages), *rest] if rest else [f"{part}, in order:"]
    text = "\n".join([f'"{journal.title}" ({journal.path}), {lines[0]}', *lines[1:]])
    return Finding(text=text, passages=tuple(shown), searches=(arguments.query,))


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
    named = named_titles(pages, request)
    for page, passages in zip(pages, by_page, strict=True):
        spans = named_spans(page, named)
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


_APPENDIX = re.compile(r"\b(appendix|level|area|room)\s+(\w+)(?![.]\d)", re.IGNORECASE)
_DECIMAL = re.compile(r"\W*\d+[.]\d")  # "1.2 The Hall" is no chapter 1
_PREFIX = re.compile(r"^\W*(?:\w+\s+)?(?:\d+|[ivxlc]+|\w)\s*[.:)–—-](?!\d)\s*", re.IGNORECASE)
_ALIKE = frozenset({"chapter", "part"})  # people call the one the other


def is_named(title: str, request: str) -> bool:
    """Whether `request` names a title: by its words, its kind and number, or just a number ("2. The Hall")."""
    return _is_said(title, request) or any(_is_alike(*label, title) for label in _labels(request))


def named_titles(pages: Sequence[Page], request: str) -> frozenset[str]:
    """Return the titles and headings that `request` names.

    "Chapter 2" is the one so called. Without one, it is Part 2; then a title of this number at the outermost level that
    has one: "2. The Hall", "II".
    """
    sections = sections_of(pages)
    titles = {section.title for section in sections}.union(*(titles_of(page) for page in pages))
    if named := {title for title in titles if _is_said(title, request)}:
        return frozenset(named)
    for label in _labels(request):
        alike = [section for section in sections if _is_alike(*label, section.title)]
        kinds = [section for section in alike if section.kind]
        outermost = min((section.depth for section in alike), default=0)
        named |= {section.title for section in kinds or alike if kinds or section.depth == outermost}
    return frozenset(named)


def named_spans(page: Page, named: Container[str]) -> list[Span]:
    """Return the parts of a page under these titles, in text order: all of it if a title above is named."""
    if any(title in named for title in titles_of(page)):
        return [Span(0, len(page.text))]
    return [
        Span(heading.start, _section_end(index, page.headings, len(page.text)))
        for index, heading in enumerate(page.headings)
        if collapse(heading.title) in named
    ]


def _section_end(index: int, headings: Sequence[Heading], length: int) -> int:
    """Return the place of the next heading of the same or a higher level."""
    level = headings[index].level
    return next((heading.start for heading in headings[index + 1 :] if heading.level <= level), length)


def _is_said(title: str, request: str) -> bool:
    """Whether a request has the words of a title, or of the part after "Chapter 2:", or its kind and number."""
    if _labels(request) & _labels(title):
        return True
    asked = f" {' '.join(words(request))} "
    for variant in {title, _PREFIX.sub("", title)}:
        said = words(variant)
        has_name = not _is_bare(title) and any(any(map(str.isalpha, word)) for word in set(said) - STOPWORDS)
        is_whole_number = variant == title and not _is_bare(title)
        if (has_name or is_whole_number) and set(said) - STOPWORDS and f" {' '.join(said)} " in asked:
            return True
    return False


def _is_bare(title: str) -> bool:
    """Whether a title is nothing but a number: "2", "II."."""
    return to_number(title.strip(" .:)–—-")) is not None and numbered(title)[1] is not None


def _is_alike(kind: str, number: str, title: str) -> bool:
    """Whether a title may be meant by a kind and number: of a like kind, or of none."""
    own, found = numbered(title) if not _DECIMAL.match(title) else ("", None)
    if found is None or str(found) != number:
        return False
    return kind in (_ALIKE | {"section"}) if not own else kind in _ALIKE and own in _ALIKE


def _labels(text: str) -> set[tuple[str, str]]:
    """Return the kinds and numbers that a text names, in one spelling: ("chapter", "2") for "Chapter II"."""
    found = {
        (kind_of(match[1]), str(number))
        for match in NAMED.finditer(text)
        if (number := to_number(match[2])) is not None and not text[match.end() :][:2].startswith(tuple(_POINTS))
    }
    for kind, value in _APPENDIX.findall(text):
        number = to_number(value) if len(value) > 1 or value.isdigit() else None
        if number is not None or len(value) == 1:
            found.add((kind.lower(), str(number) if number is not None else value.lower()))
    return found


_POINTS = [f".{digit}" for digit in range(10)]  # "section 1.2" is not section 1
