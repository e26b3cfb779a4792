"""The part of a conversation in the prompt: three context strategies, and the turns and summaries they share.

A turn is a question with its tool calls and its answer: it is kept whole or left out, so that every tool result keeps
its invocation. Passages are reread within the scope, and numbered from 1 in order of appearance, each with one number:
`Tools.adopt` continues from there. Markers of old answers are removed, as their numbers are invalid here. `speaker` is
the author of each question; `build_turns` drops it if only one person speaks.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from core.answering.agent.prompts import conversation_notes
from core.answering.citations import strip_markers
from core.domain.chat import ChatMessage, ChatRequest, ChatRole, NumberedPassage, Repeats, ToolResult
from core.domain.conversation import Message, Role, ToolCallRecord
from core.domain.corpus import SearchScope, SourcedPassage
from core.domain.jobs import JobKind
from core.domain.service import SummaryKey, SummaryKind
from core.domain.spending import CallPurpose
from core.errors import ProviderError, StorageError
from core.ports import ChatProvider, CorpusRepository
from core.ports.service import SummaryRepository
from core.text.words import collapse, shorten
from core.work.steps import NO_STEPS, Step, complete

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
    said = "".join(call.said for call in calls)
    return [
        ChatMessage(role=ChatRole.ASSISTANT, text=said, tool_invocations=tuple(call.invocation for call in calls)),
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


DEFAULT_MAX_MESSAGES = 20  # prompt messages; a question with its tool calls and answer is four or more


class FullHistoryCapped:
    """Implements ports.ContextStrategy.

    If the budget can't hold the passages of all turns, older turns' passages shrink to a line about them; then the
    oldest turns are dropped. The newest turn always stays, cut if it is too long.
    """

    name = "full"

    def __init__(self, corpus: CorpusRepository, max_messages: int = DEFAULT_MAX_MESSAGES) -> None:
        self._reader = TurnReader(corpus)
        self._max_messages = max_messages

    async def select(self, messages: Sequence[Message], scope: SearchScope, budget_tokens: int) -> list[ChatMessage]:
        turns = await self._reader.read(split_turns(messages)[-self._max_messages :], scope)
        chosen: list[Turn] = []
        room = _Room(messages=self._max_messages, tokens=budget_tokens)
        trimmed = False
        for full in reversed(turns):
            trimmed = trimmed or not room.holds(full)
            kept = [without_passages(message) for message in full] if trimmed else full
            if not room.holds(kept):
                if chosen:
                    break
                kept = squeeze(kept, budget_tokens)
            room = room.less(kept)
            chosen.append(kept)
        return number([message for turn in reversed(chosen) for message in turn])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    messages: int
    tokens: int

    def holds(self, turn: Sequence[ChatMessage]) -> bool:
        return len(turn) <= self.messages and sum(map(estimate_tokens, turn)) <= self.tokens

    def less(self, turn: Sequence[ChatMessage]) -> "_Room":
        return _Room(messages=self.messages - len(turn), tokens=self.tokens - sum(map(estimate_tokens, turn)))


# More turns than this no budget holds: a turn of a question and an answer has some hundred tokens.
MOST_TURNS = 200


class TokenWindow:
    """Implements ports.ContextStrategy.

    Passages are left out, because answers repeat them, and a model can call the tool again. So the same budget reaches
    several times as far back as with all passages.
    """

    name = "window"

    def __init__(self, corpus: CorpusRepository) -> None:
        self._reader = TurnReader(corpus)

    async def select(self, messages: Sequence[Message], scope: SearchScope, budget_tokens: int) -> list[ChatMessage]:
        turns = await self._reader.read(split_turns(messages)[-MOST_TURNS:], scope)
        return number([message for turn in newest(turns, budget_tokens) for message in turn])


def newest(turns: Sequence[Turn], budget_tokens: int) -> list[Turn]:
    """Return the newest turns within the budget, in order; the last one stays.

    The last answer keeps its passages if they fit, whatever people said since.
    """
    chosen: list[Turn] = []
    left = budget_tokens
    has_passages = False
    for turn in reversed(turns):
        kept = turn if not has_passages and cost(turn) <= left else [without_passages(message) for message in turn]
        has_passages = has_passages or any(message.tool_results for message in turn)
        if cost(kept) > left:
            if chosen:
                break
            kept = squeeze(kept, left)
        left -= cost(kept)
        chosen.append(kept)
    return chosen[::-1]


def cost(turn: Turn) -> int:
    return sum(map(estimate_tokens, turn))


QUESTION_CHARACTERS = 160
ANSWER_CHARACTERS = 240


class Summariser(Protocol):
    async def go_on(self, earlier: str, messages: Sequence[ChatMessage], tokens: int) -> str:
        """Return a summary, of about `tokens` at most, of an earlier one ("": none) and the messages since.

        Raises ProviderError.
        """
        ...


class LineSummariser:
    """Each question with the beginning of its answer on a line, the newest where not all fit: no model is asked."""

    async def go_on(self, earlier: str, messages: Sequence[ChatMessage], tokens: int) -> str:
        lines = earlier.splitlines()
        for message in spoken(messages):
            if message.role is ChatRole.USER:
                lines.append(f"- {shorten(collapse(message.text), QUESTION_CHARACTERS)}")
            elif lines:
                lines[-1] += f" → {shorten(collapse(message.text), ANSWER_CHARACTERS)}"
        size = tokens * BYTES_PER_TOKEN
        while len(lines) > 1 and sum(len(line.encode()) + 1 for line in lines) > size:
            del lines[0]
        return cut("\n".join(lines), tokens)


def spoken(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Questions and answers, without calls of tools and their results."""
    return [message for message in messages if message.text.strip() and message.role is not ChatRole.TOOL_RESULT]


def cut(text: str, tokens: int) -> str:
    """About so many tokens of a text at most, without half a character."""
    return text.encode()[: tokens * BYTES_PER_TOKEN].decode(errors="ignore").strip()


# So many turns at least stay as they were; earlier ones are folded into the summary by so many at once. In between
# the summary stays the same to the letter: prompts keep their beginning, which providers cache.
KEPT_TURNS = 4
FOLDED_TURNS = 4
# Maximum share of the budget for the summary: the rest is for the turns after it.
SUMMARY_SHARE = 0.25
BEGINNING = "Summary of what was said in this conversation before:"


class RollingSummary:
    """Implements ports.ContextStrategy.

    A summary is made once for a state of the conversation and its scope, from the last summary and the turns since. It
    contains only what this scope may read: other answers are redacted before. If no summary can be made, the turns
    that fit are used without one, and the failed step says so. `summariser` returns the summariser of a workspace for
    a step, which is below `parent`.
    """

    name = "summary"

    def __init__(
        self,
        corpus: CorpusRepository,
        summaries: SummaryRepository,
        summariser: Callable[[str, Step], Summariser],
        parent: Step = NO_STEPS,
    ) -> None:
        self._reader = TurnReader(corpus)
        self._summaries = summaries
        self._summariser = summariser
        self._parent = parent

    async def select(self, messages: Sequence[Message], scope: SearchScope, budget_tokens: int) -> list[ChatMessage]:
        said = split_turns(messages)
        folded = max(0, len(said) - KEPT_TURNS) // FOLDED_TURNS * FOLDED_TURNS
        turns = await self._reader.read(said, scope)
        beginning = await self._beginning(said[:folded], turns[:folded], scope, int(budget_tokens * SUMMARY_SHARE))
        left = budget_tokens - cost(beginning)
        kept = newest(turns[folded:] if beginning else turns, left)
        return number([*beginning, *(message for turn in kept for message in turn)])

    async def _beginning(
        self, said: Sequence[Sequence[Message]], turns: Sequence[Turn], scope: SearchScope, tokens: int
    ) -> Turn:
        """Return the message in place of the folded turns; none if there are no such turns, or no summary."""
        if not said:
            return []
        try:
            summary = await self._summary(said, turns, scope, tokens)
        except StorageError:
            raise
        except ProviderError:
            return []
        return [ChatMessage(role=ChatRole.USER, text=f"{BEGINNING}\n{summary}")]

    async def _summary(
        self, said: Sequence[Sequence[Message]], turns: Sequence[Turn], scope: SearchScope, tokens: int
    ) -> str:
        """Return the kept summary of this state, or a new one, from the previous state's summary if kept."""
        here = _key(said, turns, scope)
        before = _key(said[:-FOLDED_TURNS], turns[:-FOLDED_TURNS], scope) if len(said) > FOLDED_TURNS else None
        found = await self._summaries.find([here, *([before] if before else [])])
        if here in found:
            return found[here]
        earlier = found.get(before, "") if before else ""
        new = turns[-FOLDED_TURNS:] if earlier else turns
        given = {"turns": len(new)}
        async with self._parent.step(JobKind.PLANNING, "summarise earlier questions", input=given) as job:
            summariser = self._summariser(scope.workspace, job)
            summary = await summariser.go_on(earlier, [message for turn in new for message in turn], tokens)
            job.output = {"characters": len(summary)}
        await self._summaries.save(here, summary)
        return summary


def _key(said: Sequence[Sequence[Message]], turns: Sequence[Turn], scope: SearchScope) -> SummaryKey:
    """Return a key of the messages as readable now, and of the scope: edits and other scopes have other keys."""
    made_of = repr([(item.role.value, item.speaker, item.text) for turn in turns for item in spoken(turn)])
    return SummaryKey(
        workspace=scope.workspace,
        kind=SummaryKind.ROLLING,
        subject=said[-1][-1].conversation_id,
        revision=f"{hashlib.sha256(made_of.encode('utf-8', 'replace')).hexdigest()[:16]}:{scope.digest}",
    )


FEWEST_WORDS = 40


class ModelSummariser:
    """One call of a model (implements core.answering.context.Summariser), inside of the step `parent`."""

    def __init__(self, provider: ChatProvider, parent: Step = NO_STEPS) -> None:
        self._provider = provider
        self._parent = parent

    async def go_on(self, earlier: str, messages: Sequence[ChatMessage], tokens: int) -> str:
        notes = f"Notes so far:\n{earlier}\n\n" if earlier else ""
        said = "\n\n".join(f"{_name(message)}: {message.text.strip()}" for message in spoken(messages))
        request = ChatRequest(
            system=conversation_notes(max(FEWEST_WORDS, tokens // 2)),
            messages=(ChatMessage(role=ChatRole.USER, text=f"{notes}Said since:\n{said}"),),
            repeats=Repeats.NOTHING,
        )
        text = (await complete(self._provider, request, self._parent.charged_for(CallPurpose.SUMMARY))).text.strip()
        if not text:
            raise ProviderError(f"{self._provider.name} gave an empty summary of the conversation.")
        return cut(text, tokens)


def _name(message: ChatMessage) -> str:
    return message.speaker or "Somebody" if message.role is ChatRole.USER else "Assistant"
