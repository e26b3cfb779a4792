"""Redaction of a history for its present reader: turns made from more than the reader may see are emptied.

A position may be set or lowered after people talked about a book; a private thread may have read to its end. Such
answers rest on more than their footnotes: on lists of chapters, names and rows from tools, and on earlier answers. So
a turn stays only if none of its sources is beyond the present positions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.domain.conversation import Conversation, Message, Outcome, Role
from core.domain.corpus import SearchScope
from core.domain.service import TO_THE_END
from core.knowledge.references.linked_context import OPENED
from core.ports import CorpusRepository
from core.work.conversations import Conversations

BEYOND = "(This was taken out: it goes beyond the reading position.)"

# Tools whose texts are only about the pages of their passages.
_ABOUT_PASSAGES = frozenset({"search", "get_page"})
# Those whose words are about whole documents, of which they show passages.
_ABOUT_DOCUMENTS = frozenset({"query_journal", OPENED})
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
    """Redact answers beyond the scope's positions; with `questions`, redact the questions, too.

    Keeps message order. Tool calls of such turns are left out. Without positions, nothing is read or changed.
    """
    bounds = {document: last for document, last in scope.positions.items() if last < TO_THE_END}
    if not bounds or all(message.role is Role.USER for message in messages):
        return list(messages)
    places = await _places(messages, scope, corpus)
    kept: list[Message] = []
    spoilt: set[str] = set()  # documents that were told beyond their bound: turns behind that may know it
    for turn in _turns(messages):
        seen = _seen(turn, places)
        free = {document: last for document, last in bounds.items() if seen.within.get(document, last + 1) > last}
        spoilt |= {document for document, last in free.items() if _goes_beyond(seen, document, last)}
        if spoilt & free.keys():
            kept += _emptied(turn, questions=questions)
        else:
            told = free.keys() & seen.pages.keys()
            kept += [_without_offers(message) if told else message for message in turn]
    return kept


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
            elif call.invocation.name not in _ABOUT_PASSAGES:
                whole.add(_EVERYTHING)
            if len(known) < len(call.passage_ids):  # removed since: their document is unknown
                whole.add(_EVERYTHING)
        for document, number in shown:
            pages[document] = max(number, pages.get(document, 0))
    return _Seen(pages=pages, whole=frozenset(whole), within=within)


def _goes_beyond(seen: _Seen, document: str, last: int) -> bool:
    return seen.pages.get(document, 0) > last or not seen.whole.isdisjoint({document, _EVERYTHING})


def _emptied(turn: Sequence[Message], *, questions: bool) -> list[Message]:
    return [
        _without_content(message) if questions or message.role is not Role.USER else message
        for message in turn
        if message.role is not Role.TOOL_RESULT
    ]


def _without_content(message: Message) -> Message:
    outcome = Outcome(note_on=message.outcome.note_on) if message.outcome is not None else None
    return replace(message, content=BEYOND, citations=(), references=(), tool_calls=(), outcome=outcome)


def _without_offers(message: Message) -> Message:
    """Remove suggestions, which are about pages near the citations that may be beyond."""
    if message.outcome is None or not message.outcome.suggestions:
        return message
    return replace(message, outcome=replace(message.outcome, suggestions=()))


class Histories:
    """Conversations as their readers may see them."""

    def __init__(self, conversations: Conversations, corpus: CorpusRepository) -> None:
        self._conversations = conversations
        self._corpus = corpus

    async def show(
        self, conversation_id: str, workspace: str, scope: SearchScope
    ) -> tuple[Conversation, list[Message]]:
        """Show a conversation as Conversations.show does, redacted beyond the scope's reading positions."""
        conversation, messages = await self._conversations.show(conversation_id, workspace)
        return conversation, await withheld(messages, scope, self._corpus)
