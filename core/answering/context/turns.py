"""Turns of a history as prompt messages: the parts of all context strategies.

A turn is a question with its tool calls and its answer: it is kept whole or left out, so that every tool result keeps
its invocation. Passages are reread within the scope, and numbered from 1 in order of appearance, each with one number:
`Tools.adopt` continues from there. Markers of old answers are removed, as their numbers are invalid here. `speaker` is
the author of each question; `build_turns` drops it if only one person speaks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from core.answering.citations import strip_markers
from core.domain.answer import ChatMessage, ChatRole, NumberedPassage, ToolResult
from core.domain.conversation import Message, Role, ToolCallRecord
from core.domain.corpus import SearchScope, SourcedPassage
from core.ports import CorpusRepository
from core.text.words import shorten

# English text has about four bytes of UTF-8 a token; scripts of two and three bytes a character, with more tokens
# for each character, come out about right, too.
BYTES_PER_TOKEN = 4
MESSAGE_TOKENS = 8  # of a message's role and ids
WITHDRAWN = "(This answer was taken out: it rests on documents that can't be read here any more.)"

Turn = list[ChatMessage]


class TurnReader:
    """Reads the passages of turns from the library."""

    def __init__(self, corpus: CorpusRepository) -> None:
        self._corpus = corpus

    async def read(self, turns: Sequence[Sequence[Message]], scope: SearchScope) -> list[Turn]:
        """The turns as prompt messages, passages not numbered yet."""
        ids = [key for turn in turns for call in _calls(turn) for key in call.passage_ids]
        found = await self._corpus.list_passages(list(dict.fromkeys(ids)), scope)
        passages = {item.passage.id: item for item in found}
        withdrawn = await self.withdrawn(turns, scope)
        return [to_prompt(turn, passages, withdrawn) for turn in turns]

    async def withdrawn(self, turns: Sequence[Sequence[Message]], scope: SearchScope) -> set[str]:
        """Ids of answers that cite a document, or a page of it, which this scope may not read."""
        cited = [(message.id, citation) for turn in turns for message in turn for citation in message.citations]
        found = await self._corpus.find_documents([citation.document_id for _, citation in cited], scope)
        readable = {document.id for document in found}
        return {
            message_id
            for message_id, citation in cited
            if citation.document_id not in readable
            or citation.page_number > scope.positions.get(citation.document_id, citation.page_number)
        }


def estimate_tokens(message: ChatMessage) -> int:
    """About how many tokens a prompt message costs: its UTF-8 bytes by BYTES_PER_TOKEN, and MESSAGE_TOKENS."""
    texts = [message.text]
    texts.extend(str(dict(invocation.arguments)) for invocation in message.tool_invocations)
    for result in message.tool_results:
        texts.append(result.text)
        texts.extend(item.source.passage.text for item in result.passages)
    return MESSAGE_TOKENS + sum(len(text.encode()) for text in texts) // BYTES_PER_TOKEN


def split_turns(messages: Sequence[Message]) -> list[list[Message]]:
    """Split messages before each question. Messages before the first question are left out."""
    turns: list[list[Message]] = []
    for message in messages:
        if message.role is Role.USER:
            turns.append([message])
        elif turns and not message.is_note:
            turns[-1].append(message)
    return turns


def _calls(turn: Iterable[Message]) -> Iterator[ToolCallRecord]:
    return (call for message in turn if message.role is Role.TOOL_RESULT for call in message.tool_calls)


def to_prompt(
    turn: Sequence[Message], passages: Mapping[str, SourcedPassage], withdrawn: set[str]
) -> list[ChatMessage]:
    built: Turn = []
    for message in turn:
        if message.role is Role.TOOL_RESULT and message.tool_calls:
            built.extend(_to_round(message.tool_calls, passages))
        elif message.role is Role.USER:
            built.append(ChatMessage(role=ChatRole.USER, text=message.content, speaker=message.author))
        elif message.role is Role.ASSISTANT and message.content.strip():
            text = WITHDRAWN if message.id in withdrawn else strip_markers(message.content)
            built.append(ChatMessage(role=ChatRole.ASSISTANT, text=text))
    return built


def _to_round(calls: Sequence[ToolCallRecord], passages: Mapping[str, SourcedPassage]) -> list[ChatMessage]:
    """The assistant turn that called, and the turn with the results. Numbers come at the end, in `number`."""
    results = tuple(
        ToolResult(
            invocation_id=call.invocation.id,
            name=call.invocation.name,
            text=call.text,
            passages=tuple(
                NumberedPassage(number=0, source=passages[key]) for key in call.passage_ids if key in passages
            ),
            is_error=call.is_error,
        )
        for call in calls
    )
    return [
        ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=tuple(call.invocation for call in calls)),
        ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=results),
    ]


def without_passages(message: ChatMessage) -> ChatMessage:
    return replace(message, tool_results=tuple(_to_note(result) for result in message.tool_results))


def _to_note(result: ToolResult) -> ToolResult:
    """Return one line about a result's passages."""
    places = dict.fromkeys(
        f'"{item.source.document.title}" page {item.source.passage.page_number}' for item in result.passages
    )
    shown = f"(Shown then: {', '.join(places)}. Call again to read it.)" if places else result.text
    return replace(result, text=shorten(shown, 200), passages=())


def squeeze(turn: Sequence[ChatMessage], budget_tokens: int) -> list[ChatMessage]:
    """Shorten the newest turn if it exceeds the budget: without its tool calls, its texts cut to equal shares."""
    bare = [message for message in turn if not message.tool_invocations and not message.tool_results]
    share = max(1, (budget_tokens // len(bare) - MESSAGE_TOKENS) * BYTES_PER_TOKEN)
    return [replace(message, text=_cut(message.text.strip(), share)) for message in bare]


def _cut(text: str, size: int) -> str:
    """At most `size` bytes of UTF-8, without half a character."""
    data = text.encode()
    return text if len(data) <= size else data[:size].decode(errors="ignore") or text[:1]


def number(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    numbers: dict[str, int] = {}

    def numbered(result: ToolResult) -> ToolResult:
        passages = tuple(
            replace(item, number=numbers.setdefault(item.source.passage.id, len(numbers) + 1))
            for item in result.passages
        )
        return replace(result, passages=passages)

    return [replace(message, tool_results=tuple(map(numbered, message.tool_results))) for message in messages]
