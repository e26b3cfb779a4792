"""A sliding window: as many of the newest turns as a token budget holds, only the last of them with its passages."""

from collections.abc import Sequence

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
    """Return the newest turns within the budget, in order; the last one stays, with passages if they fit."""
    chosen: list[Turn] = []
    left = budget_tokens
    for turn in reversed(turns):
        kept = turn if not chosen and cost(turn) <= left else [without_passages(message) for message in turn]
        if cost(kept) > left:
            if chosen:
                break
            kept = squeeze(kept, left)
        left -= cost(kept)
        chosen.append(kept)
    return chosen[::-1]


def cost(turn: Turn) -> int:
    return sum(map(estimate_tokens, turn))
