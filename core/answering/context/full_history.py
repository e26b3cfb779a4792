"""The whole history, up to a number of prompt messages and a token budget: the default."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.answering.context.turns import (
    Turn,
    TurnReader,
    estimate_tokens,
    number,
    split_turns,
    squeeze,
    without_passages,
)
from core.domain.answer import ChatMessage
from core.domain.conversation import Message
from core.domain.corpus import SearchScope
from core.ports import CorpusRepository

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
