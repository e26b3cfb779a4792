"""Commands answered from the library: questions, sources, search, pages, footnotes and extracted rows."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from core.access.availability import Availability
from core.access.scopes import ATTACHMENTS, Access
from core.answering.answers.passages import surroundings
from core.domain.answer import Provenance, QueryType
from core.domain.conversation import Message, Role
from core.domain.corpus import Document, SearchQuery, SearchScope, Source
from core.domain.incoming import ThreadAddress
from core.errors import BadInput, NotFound
from core.features.export import footnote_label
from core.knowledge.facts import CitedFact, FactQuery, Facts, FactType, FoundFacts, Value, read_types
from core.knowledge.library import Library
from core.ports import CorpusRepository
from core.text.markup import preview
from core.text.notation import is_number
from core.text.words import collapse, shorten
from core.work.commands import (
    Command,
    CommandCall,
    CommandResult,
    Option,
    OptionKind,
    Question,
    SourceRow,
    current,
    readable_by,
    required,
)
from core.work.conversations import Conversations
from core.work.questions import DEEP_STRATEGY, to_command

FAILURES_LISTED = 20  # of a source in a chat; more is a wall
ROWS_LISTED = 10
SEARCH_LIMIT = 5
PAGE_CHARACTERS = 3_000  # of a page shown in a chat
FIELD_CHARACTERS = 160
QUOTE_CHARACTERS = 200

_DOCUMENT = Option(name="document", help="answer from this document alone", kind=OptionKind.DOCUMENT)
_JOURNAL = Option(name="journal", help="answer from this journal alone", kind=OptionKind.JOURNAL)
_DEEP = Option(name="deep", help="plan it, look up its parts, answer in a fixed form", kind=OptionKind.FLAG)
_PRIVATE = Option(name="private", help="only you see the answer", kind=OptionKind.FLAG)
_TO_THE_END = Option(
    name="to_the_end", help="with --private: beyond your reading position, this once", kind=OptionKind.FLAG
)
_NUMBER = Option(name="number", help="the page's number, from 1", kind=OptionKind.NUMBER, required=True)
_REFERENCE = re.compile(r"\[(\d{1,3})\]")
_CHATTY = frozenset(FactType) - {FactType.TABLE, FactType.ANCHOR, FactType.PAGE}  # listed for a document

NARROW = "Narrow it down, for example with `owner:Ann`, `due<2026-12-01`, `type:decision` or a word in the row."


class LibraryCommands:
    """The rows of the table about the library. Every read goes through the scope of where the command was given.

    Names are resolved before anything is asked.
    """

    def __init__(
        self,
        library: Library,
        corpus: CorpusRepository,
        access: Access,
        availability: Availability,
        conversations: Conversations,
        facts: Facts | None,
    ) -> None:
        self._library = library
        self._corpus = corpus
        self._access = access
        self._availability = availability
        self._conversations = conversations
        self._facts = facts

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(
                name="ask",
                usage="QUESTION [--document NAME] [--journal NAME] [--deep] [--private [--to_the_end]]",
                help="ask a question, of one document or journal, or privately",
                run=self._ask,
                options=(
                    Option(name="question", help="what you want to know", required=True),
                    _DOCUMENT,
                    _JOURNAL,
                    _DEEP,
                    _PRIVATE,
                    _TO_THE_END,
                ),
            ),
            Command(
                name="summary",
                usage="NAME [--private]",
                help="summarise a document or journal",
                run=self._summary,
                options=(
                    Option(name="name", help="a document or a journal", kind=OptionKind.DOCUMENT, required=True),
                    _PRIVATE,
                ),
            ),
            Command(name="sources", usage="", help="list the sources readable here", run=self._sources),
            Command(
                name="search",
                usage="WORDS",
                help="search pages",
                run=self._search,
                options=(Option(name="words", help="what to search for", required=True),),
            ),
            Command(
                name="page",
                usage="DOCUMENT NUMBER",
                help="read a page",
                run=self._page,
                options=(
                    Option(name="document", help="path, title or alias", kind=OptionKind.DOCUMENT, required=True),
                    _NUMBER,
                ),
                parse=parse_page,
            ),
            Command(
                name="source",
                usage="N",
                help="show the passage behind footnote N",
                run=self._source,
                options=(
                    Option(name="footnote", help="a number of the last answer", kind=OptionKind.NUMBER, required=True),
                ),
            ),
            *(self._rows_of_facts(self._facts) if self._facts is not None else ()),
        )

    def _rows_of_facts(self, facts: Facts) -> tuple[Command, ...]:
        return (
            Command(
                name="facts",
                usage="QUESTION",
                help="decisions, action items, figures, endpoints: “open action items of Ann due before May”",
                run=partial(self._list_facts, facts),
                options=(
                    Option(
                        name="question", help="in English, or owner:Ann due<2026-12-01 type:action_item", required=True
                    ),
                ),
            ),
            Command(
                name="extract",
                usage="[DOCUMENT] [--type TYPE] [--words WORDS]",
                help="show the data extracted from a document, or the totals",
                run=partial(self._extract, facts),
                options=(
                    Option(name="document", help="path, title or alias", kind=OptionKind.DOCUMENT),
                    Option(
                        name="type",
                        help="only this type",
                        kind=OptionKind.CHOICE,
                        choices=tuple(kind.value for kind in FactType),
                    ),
                    Option(name="words", help="as a question to /facts, to narrow it"),
                ),
            ),
        )

    async def _ask(self, call: CommandCall) -> CommandResult:
        text = required(call, "question", "a question")
        if to_command(text) is not None:
            raise BadInput(f"{text.split()[0]} is a command, not a question. Send it without /ask.")
        document, journal = call.option("document"), call.option("journal")
        if document and journal:
            raise BadInput("Choose either --document or --journal, not both.")
        scope = await self._scope(call)
        if document:
            document = (await self._library.find_document(document, scope)).path
        if journal:
            journal = (await self._library.find_journal(journal, scope)).title
        question = Question(
            text=text,
            document=document or None,
            journal=journal or None,
            strategy=DEEP_STRATEGY if call.is_set("deep") else None,
            private=call.is_set("private"),
            to_the_end=call.is_set("to_the_end"),
        )
        if question.to_the_end and not (question.private or call.is_alone):
            raise BadInput("Add --private to use --to_the_end here, so that nobody else sees spoilers.")
        return CommandResult(text=text, ask=question, is_public=not question.private)

    async def _summary(self, call: CommandCall) -> CommandResult:
        wanted = required(call, "name", "the name of a document or a journal")
        scope = await self._scope(call)
        try:
            found = await self._library.find_document(wanted, scope)
        except NotFound:
            found = await self._library.find_journal(wanted, scope)
        question = Question(
            text=f"Summarise “{found.title}”.",
            query_type=QueryType.SUMMARY,
            document=f"{found.source}/{found.path}",
            private=call.is_set("private"),
        )
        return CommandResult(text=question.text, ask=question, is_public=not question.private)

    async def _sources(self, call: CommandCall) -> CommandResult:
        sources = await self._access.sources(call.workspace, call.address)
        documents = await self._corpus.list_readable(await self._scope(call))
        rows = tuple(_to_row(source, documents) for source in sources)
        lines = []
        for row in rows:
            lines.append(f"- **{row.name}**: {_count_documents(row.documents)}, {len(row.failures)} could not be read")
            lines += [f"  - {path}: {reason}" for path, reason in row.failures[:FAILURES_LISTED]]
            if len(row.failures) > FAILURES_LISTED:
                lines.append(f"  - and {len(row.failures) - FAILURES_LISTED} more")
        notice = await self._explain(call, await self._scope(call))
        text = "\n\n".join(part for part in (notice, "\n".join(lines)) if part)
        failed = tuple(document.id for document in documents if document.failed_reason)
        rests_on = Provenance(documents=failed, sources=tuple(source.id for source in sources))
        return CommandResult(text=text, rows=rows, notice=notice or "", rests_on=rests_on)

    async def _explain(self, call: CommandCall, scope: SearchScope) -> str | None:
        """Return why nothing can be searched where the command was given; None if documents can be."""
        return await self._availability.explain(scope, call.address, is_admin=call.is_admin)

    async def _search(self, call: CommandCall) -> CommandResult:
        query = SearchQuery(text=required(call, "words", "what to search for"), limit=SEARCH_LIMIT)
        scope = await self._scope(call)
        hits = await self._library.search(query, scope)
        if not hits and (reason := await self._explain(call, scope)):
            return CommandResult(text=reason)
        rows = [
            f"{number}. **{hit.document.title}**, {' > '.join([f'page {hit.page_number}', *hit.heading_path])}\n"
            f"   {preview(hit.passages[0].passage.text, hit.document.kind, 160)}"
            for number, hit in enumerate(hits, start=1)
        ]
        rests_on = Provenance(documents=tuple(hit.document.id for hit in hits))
        return CommandResult(text="\n".join(rows) or "Nothing found. Try other words.", rests_on=rests_on)

    async def _page(self, call: CommandCall) -> CommandResult:
        name, number = required(call, "document", "a document and a page number"), call.option("number")
        if not is_number(number):
            raise BadInput("Add the document and the page number, for example: /page handbook.md 2")
        found = await self._library.page_by_number(name, int(number), await self._scope(call))
        text = found.page.text[:PAGE_CHARACTERS]
        more = "" if len(found.page.text) <= PAGE_CHARACTERS else "\n\n… (the page continues)"
        return CommandResult(
            text=f"**{found.document.title}**, page {found.page.number}\n\n{text}{more}",
            rests_on=Provenance(documents=(found.document.id,)),
        )

    async def _source(self, call: CommandCall) -> CommandResult:
        wanted = call.option("footnote").strip("[]")
        last = await last_answer(self._conversations, call)
        citation = next((item for item in last.citations if str(item.number) == wanted), None)
        if citation is None:
            numbers = ", ".join(str(item.number) for item in last.citations) or "none"
            raise BadInput(f"The last answer has no footnote {wanted!r}; it has {numbers}.")
        around = await surroundings(citation, self._corpus, await self._scope(call, _own_thread(call)))
        if not around.quote:
            raise NotFound(around.note)
        citation = around.now or citation
        shown = " ".join(part for part in (around.before, f"**{collapse(around.quote)}**", around.behind) if part)
        return CommandResult(
            text="\n\n".join(part for part in (footnote_label(citation), around.note, shown) if part),
            citation=citation,
        )

    async def _list_facts(self, facts: Facts, call: CommandCall) -> CommandResult:
        question = required(call, "question", "a question")
        scope = await self._scope(call)
        found = await facts.ask(question, scope, ROWS_LISTED)
        if not found.rows and (reason := await self._explain(call, scope)):
            return CommandResult(text=reason)
        return _to_result(found)

    async def _extract(self, facts: Facts, call: CommandCall) -> CommandResult:
        document, kind, words = (call.option(name) for name in ("document", "type", "words"))
        scope = await self._scope(call)
        if not (document or kind or words):
            counts = await facts.counts(scope)
            lines = [f"- {kind.value}: {count:,}" for kind, count in sorted(counts.items())]
            text = "\n".join(["Extracted from the documents here:", *lines, "", NARROW])
            return CommandResult(text=text if lines else "Nothing was extracted from what can be read here.")
        query = facts.read(words, ROWS_LISTED) if words else FactQuery(limit=ROWS_LISTED)
        types = read_types(kind) if kind else query.types or (_CHATTY if document else frozenset())
        limit = min(query.limit, ROWS_LISTED)
        asked = replace(query, types=types, document=document or query.document, limit=limit)
        return _to_result(await facts.find(asked, scope))

    async def _scope(self, call: CommandCall, address: ThreadAddress | None = None) -> SearchScope:
        return await readable_by(call, self._access, address)


def _own_thread(call: CommandCall) -> ThreadAddress | None:
    """Return the caller's private thread, if the conversation continues only there."""
    address = current(call).address
    return address if address.private_to == call.author else None


async def last_answer(conversations: Conversations, call: CommandCall) -> Message:
    """Return the newest answer of the conversation, without notes. BadInput if it has none."""
    _, messages = await conversations.show(current(call).id, call.workspace)
    answers = [message for message in messages if message.role is Role.ASSISTANT and not message.is_note]
    if not answers:
        raise BadInput("This conversation doesn't have an answer yet.")
    return answers[-1]


def parse_page(options: Sequence[Option], argument: str) -> Mapping[str, str]:
    """The number is the last word; the document may have several."""
    name, _, number = argument.strip().rpartition(" ")
    return {"document": name, "number": number} if name else {"document": number}


def _to_row(source: Source, documents: Sequence[Document]) -> SourceRow:
    own = [item for item in documents if item.source_id == source.id]
    failed = tuple((item.path, item.failed_reason) for item in own if item.failed_reason)
    name = source.name if source.kind != ATTACHMENTS else "attached in this thread"
    return SourceRow(name=name, documents=len(own) - len(failed), failures=failed)


def _count_documents(documents: int) -> str:
    return "1 document" if documents == 1 else f"{documents} documents"


def facts_text(found: FoundFacts) -> str:
    """The rows as Markdown, each with the number of its footnote, and the footnotes with their quotes."""
    if not found.rows:
        return "\n\n".join([f"Nothing fits `{_code(str(found.query))}`.", *_unknown(found), NARROW])
    lines = [f"{_count(found)} for `{_code(str(found.query))}`:", ""]
    lines += [f"- {row_text(row)} [{row.citation.number}]" for row in found.rows]
    lines += ["", *(note for part in _unknown(found) for note in (part, ""))]
    lines += [f"- [{row.citation.number}] {footnote_label(row.citation)}: “{_quote(row)}”" for row in found.rows]
    if found.total > len(found.rows):
        lines += ["", NARROW]
    return "\n".join(lines)


def row_text(row: CitedFact) -> str:
    """`**Mend the pump** (owner Ben, due date 2026-12-24)`."""
    first, *others = [(name, _value(value)) for name, value in row.fact.fields.items()] or [("", row.fact.type.value)]
    rest = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in others)
    return f"**{first[1]}**" + (f" ({rest})" if rest else "")


def _to_result(found: FoundFacts) -> CommandResult:
    return CommandResult(text=facts_text(found), citations=tuple(row.citation for row in found.rows))


def _value(value: Value) -> str:
    if isinstance(value, tuple):
        return _unnumbered(shorten(", ".join(value), FIELD_CHARACTERS))
    if isinstance(value, float):
        return f"{value:,.10g}"
    return _unnumbered(shorten(str(value), FIELD_CHARACTERS))


def _count(found: FoundFacts) -> str:
    if found.total > len(found.rows):
        return f"The first {len(found.rows)} of {found.total:,} rows"
    return "1 row" if found.total == 1 else f"{found.total} rows"


def _unknown(found: FoundFacts) -> Iterator[str]:
    if found.unknown:
        which = "1 more says" if found.unknown == 1 else f"{found.unknown} more say"
        yield f"{which} no date or number that could be compared."


def _quote(row: CitedFact) -> str:
    return _unnumbered(shorten(row.citation.quote, QUOTE_CHARACTERS))


def _unnumbered(text: str) -> str:
    """Without the document's own reference numbers ("[3]"): they would be taken for footnotes of this text."""
    return _REFERENCE.sub(r"(\1)", text)


def _code(text: str) -> str:
    return text.replace("`", "'")
