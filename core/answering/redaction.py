"""Redaction of a history for its present reader: turns made from more than the reader may see are emptied.

Readers of a source change, documents are removed, a position may be set or lowered after people talked about a book,
and a private thread may have read more than its channel. Answers rest on more than their footnotes: on lists, names and
rows from tools, and on earlier answers. So a turn stays only if all that it rests on may be read, and none of that is
beyond the present positions.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.access.scopes import ATTACHMENTS, attached_name
from core.domain.answer import Provenance
from core.domain.conversation import Conversation, Message, Outcome, Role
from core.domain.corpus import SearchScope, SourcedPassage
from core.domain.jobs import FoundText, Job, JobKind, JobTree
from core.domain.service import TO_THE_END
from core.errors import NotFound
from core.knowledge.catalogue import named_in
from core.knowledge.references.linked_context import OPENED
from core.ports import CorpusRepository
from core.text.words import shorten
from core.work.conversations import Conversations

if TYPE_CHECKING:  # commands that only show a history load no path of a question
    from core.answering.pipeline import Question

BEYOND = "(This was taken out: it goes beyond the reading position.)"
CLOSED = "(This was taken out: it rests on documents that can't be read here any more.)"
# Stored in place of an answer whose text is gone for good, and its post.
REDACTED_POST = "This answer was deleted, because a document that it rests on was removed."
REDACTED = f"({REDACTED_POST})"
# In place of a post that is no answer.
REDACTED_SHOWN = "This message was deleted, because a document that it shows was removed."
_GAPS = frozenset({BEYOND, CLOSED, REDACTED})

# Tools whose texts are only about the pages of their passages.
_ABOUT_PASSAGES = frozenset({"search", "get_page"})
# Those whose words are about whole documents, of which they show passages.
_ABOUT_DOCUMENTS = frozenset({"query_journal", OPENED})
# Those whose words are about names of documents, and nothing inside of them.
_ABOUT_NAMES = frozenset({"list_documents"})
_EVERYTHING = "*"  # stands for every document


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The sources of a turn."""

    pages: Mapping[str, int]  # document id -> the furthest page shown or cited
    whole: frozenset[str]  # ids of documents of which more may have been told than pages say
    within: Mapping[str, int]  # the positions that held then


async def withheld(
    messages: Sequence[Message], scope: SearchScope, corpus: CorpusRepository, *, questions: bool = False
) -> list[Message]:
    """Redact answers that rest on more than the scope; with `questions`, redact their questions, too.

    Keeps message order. Tool calls of such turns are left out.
    """
    if all(message.role is Role.USER for message in messages):
        return list(messages)
    messages = await _readable(messages, scope, corpus, questions=questions)
    bounds = {document: last for document, last in scope.positions.items() if last < TO_THE_END}
    if not bounds:
        return list(messages)
    places = await _places(messages, scope, corpus)
    kept: list[Message] = []
    spoilt: set[str] = set()  # documents that were told beyond their bound: turns behind that may know it
    for turn in _turns(messages):
        seen = _seen(turn, places)
        free = {document: last for document, last in bounds.items() if seen.within.get(document, last + 1) > last}
        spoilt |= {document for document, last in free.items() if _goes_beyond(seen, document, last)}
        if spoilt & free.keys():
            kept += _told_by_footnotes(turn, free) or _emptied(turn, BEYOND, questions=questions)
        else:
            told = free.keys() & seen.pages.keys()
            kept += [_without_offers(message) if told else message for message in turn]
    return kept


async def _readable(
    messages: Sequence[Message], scope: SearchScope, corpus: CorpusRepository, *, questions: bool
) -> list[Message]:
    """Empty the turns that rest on documents or sources outside the scope."""
    turns = _turns(messages)
    bases = [basis_of(turn) for turn in turns]
    named = dict.fromkeys(document for basis in bases for document in basis.documents)
    readable = {document.id for document in await corpus.find_documents([*named], scope)}
    kept: list[Message] = []
    for turn, basis in zip(turns, bases, strict=True):
        if readable.issuperset(basis.documents) and _may_list(basis, scope):
            kept += turn
        else:
            kept += _emptied(turn, CLOSED, questions=questions)
    return kept


async def may_show(basis: Provenance, scope: SearchScope, corpus: CorpusRepository) -> bool:
    """Return whether everything that an answer rests on is within the scope."""
    readable = {document.id for document in await corpus.find_documents(basis.documents, scope)}
    return readable.issuperset(basis.documents) and _may_list(basis, scope)


async def readable_steps(
    jobs: Sequence[Job], answer: Message, scope: SearchScope, corpus: CorpusRepository
) -> list[Job]:
    """Return the steps of an answer; without their words and counts, if it rests on more than the scope."""
    if not has_gaps(await withheld([answer], scope, corpus)):
        return list(jobs)
    return [replace(job, name=job.kind.value, input={}, output={}, error=None) for job in jobs]


def _may_list(basis: Provenance, scope: SearchScope) -> bool:
    """Return whether the documents of which an answer may know the names are all within the scope."""
    is_hidden = bool(basis.sources) and not scope.hidden.issubset(basis.hidden)
    return scope.sources.issuperset(basis.sources) and not is_hidden


def basis_of(turn: Iterable[Message]) -> Provenance:
    """Return all that a turn rests on: its provenance, and its footnotes."""
    found = Provenance()
    for message in turn:
        cited = tuple(item.document_id for item in message.citations)
        found = _joined(found, Provenance(documents=cited))
        if message.outcome is not None and message.outcome.rests_on is not None:
            found = _joined(found, message.outcome.rests_on)
    return found


def _joined(one: Provenance, other: Provenance) -> Provenance:
    def both(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*first, *second)))

    if one.sources and other.sources:
        hidden = tuple(id for id in one.hidden if id in other.hidden)  # from both
    else:
        hidden = one.hidden or other.hidden
    return Provenance(
        documents=both(one.documents, other.documents), sources=both(one.sources, other.sources), hidden=hidden
    )


def trace(question: "Question") -> Provenance:
    """Return all that the drafted answer of a question rests on, with the turns before it that the model read."""
    scope, draft = question.context.scope, question.draft
    results = [result for turn in draft.new_messages for result in turn.tool_results]
    seen = [item.source.document.id for result in results for item in result.passages]
    seen += [item.source.document.id for item in draft.evidence.passages.values()]
    seen += [picture.document.id for picture in draft.evidence.pictures]
    seen += [item.document_id for item in question.answer.references if item.document_id]
    seen += [document.id for document in question.context.linked]
    seen += [document.id for document in named_in(question.answer.text, question.context.newest)]
    is_listing = any(result.name not in (_ABOUT_PASSAGES | _ABOUT_DOCUMENTS) for result in results)
    own = Provenance(
        documents=tuple(dict.fromkeys(seen)),
        sources=tuple(sorted(scope.sources)) if is_listing else (),
        hidden=tuple(sorted(scope.hidden)) if is_listing else (),
    )
    return _joined(basis_of(question.messages), own)


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    """Split messages before each question; all messages, in order."""
    turns: list[list[Message]] = []
    for message in messages:
        if message.role is Role.USER or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


async def _places(
    messages: Iterable[Message], scope: SearchScope, corpus: CorpusRepository
) -> Mapping[str, tuple[str, int]]:
    """Map passage id -> its document and page, also beyond positions; removed passages are left out."""
    ids = dict.fromkeys(key for message in messages for call in message.tool_calls for key in call.passage_ids)
    found = await corpus.list_passages(list(ids), replace(scope, positions={}))
    return {item.passage.id: (item.document.id, item.passage.page_number) for item in found}


def _seen(turn: Sequence[Message], places: Mapping[str, tuple[str, int]]) -> _Seen:
    pages: dict[str, int] = {}
    whole: set[str] = set()
    within: Mapping[str, int] = {}
    for message in turn:
        within = message.outcome.read_to if message.outcome is not None else within
        shown = [(item.document_id, item.page_number) for item in message.citations]
        for call in message.tool_calls:
            known = [places[key] for key in call.passage_ids if key in places]
            shown += known
            if call.invocation.name in _ABOUT_DOCUMENTS:
                whole |= {document for document, _ in known}
            elif call.invocation.name not in _ABOUT_PASSAGES | _ABOUT_NAMES:
                whole.add(_EVERYTHING)
            if len(known) < len(call.passage_ids):  # removed since: their document is unknown
                whole.add(_EVERYTHING)
        for document, number in shown:
            pages[document] = max(number, pages.get(document, 0))
    return _Seen(pages=pages, whole=frozenset(whole), within=within)


def _goes_beyond(seen: _Seen, document: str, last: int) -> bool:
    return seen.pages.get(document, 0) > last or not seen.whole.isdisjoint({document, _EVERYTHING})


def _told_by_footnotes(turn: Sequence[Message], free: Mapping[str, int]) -> list[Message]:
    """Return the question and the answer if footnotes back all of it, none of them beyond; else nothing.

    Other pages that a search found then are no part of the answer: only its own passages are left out.
    """
    answers = [message for message in turn if message.role is Role.ASSISTANT]
    for answer in answers:
        within = all(item.page_number <= free.get(item.document_id, item.page_number) for item in answer.citations)
        if answer.outcome is None or not answer.outcome.grounded or not within:
            return []
    kept = [message for message in turn if message.role is not Role.TOOL_RESULT] if answers else []
    return [replace(_without_offers(message), references=(), tool_calls=()) for message in kept]


def without_gaps(messages: Iterable[Message]) -> list[Message]:
    """Return the messages of a prompt without placeholders, which would be searched for."""
    return [message for message in messages if message.content not in _GAPS]


def _emptied(turn: Sequence[Message], reason: str, *, questions: bool) -> list[Message]:
    return [
        _without_content(message, reason) if questions or message.role is not Role.USER else message
        for message in turn
        if message.role is not Role.TOOL_RESULT
    ]


def _without_content(message: Message, reason: str) -> Message:
    outcome = Outcome(note_on=message.outcome.note_on) if message.outcome is not None else None
    return replace(message, content=reason, citations=(), references=(), tool_calls=(), outcome=outcome)


def _without_offers(message: Message) -> Message:
    """Remove suggestions, which are about pages near the citations that may be beyond."""
    if message.outcome is None or not message.outcome.suggestions:
        return message
    return replace(message, outcome=replace(message.outcome, suggestions=()))


def has_gaps(messages: Iterable[Message]) -> bool:
    """Return whether an answer among these was taken out."""
    return any(message.role is Role.ASSISTANT and message.content in _GAPS for message in messages)


# Passages of one step, and characters of each.
MOST_FOUND = 10
FOUND_CHARACTERS = 240


def _found_ids(job: Job) -> list[str]:
    ids = job.output.get("passage_ids")
    return [str(item) for item in ids[:MOST_FOUND]] if isinstance(ids, list | tuple) else []


def _found_text(found: SourcedPassage) -> FoundText:
    return FoundText(
        page_id=found.passage.page_id,
        document_title=found.document.title,
        page_number=found.passage.page_number,
        snippet=shorten(found.passage.text, FOUND_CHARACTERS),
    )


class Histories:
    """Conversations as their readers may see them."""

    def __init__(self, conversations: Conversations, corpus: CorpusRepository) -> None:
        self._conversations = conversations
        self._corpus = corpus

    async def show(
        self, conversation_id: str, workspace: str, scope: SearchScope
    ) -> tuple[Conversation, list[Message]]:
        """Show a conversation as Conversations.show does, redacted to the scope and its own attached files."""
        conversation, messages = await self._conversations.show(conversation_id, workspace)
        scope = await self._with_attached(scope, conversation)
        [shown] = await self.without_closed_focus([conversation], scope)
        return shown, await withheld(messages, scope, self._corpus)

    async def show_jobs(self, tree: Sequence[Job], scope: SearchScope) -> JobTree:
        """Return a tree with the beginnings of the passages that its tools found and the scope allows."""
        ids = {job.id: _found_ids(job) for job in tree if job.kind is JobKind.TOOL}
        if not any(ids.values()):
            return JobTree(jobs=tree)
        about = str(tree[0].input.get("conversation_id", ""))
        with suppress(NotFound):  # the tree outlives its conversation
            scope = await self._with_attached(scope, (await self._conversations.show(about, scope.workspace))[0])
        wanted = list(dict.fromkeys(passage_id for each in ids.values() for passage_id in each))
        texts = {item.passage.id: _found_text(item) for item in await self._corpus.list_passages(wanted, scope)}
        found = {job_id: tuple(texts[key] for key in each if key in texts) for job_id, each in ids.items()}
        return JobTree(jobs=tree, found={job_id: each for job_id, each in found.items() if each})

    async def _with_attached(self, scope: SearchScope, conversation: Conversation) -> SearchScope:
        """Return the scope with the files attached to a conversation."""
        attached = await self._corpus.find_source(scope.workspace, attached_name(conversation.address))
        if attached is None or attached.kind != ATTACHMENTS:
            return scope
        return replace(scope, sources=scope.sources | {attached.id})

    async def without_closed_focus(
        self, conversations: Sequence[Conversation], scope: SearchScope
    ) -> list[Conversation]:
        """Return the conversations, those about a document outside the scope without its name."""
        named = [item.focus.document_id for item in conversations if item.focus is not None]
        readable = {document.id for document in await self._corpus.find_documents(named, scope)}
        return [
            item if item.focus is None or item.focus.document_id in readable else replace(item, focus=None)
            for item in conversations
        ]
