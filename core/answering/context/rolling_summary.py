"""The newest turns as they were, all earlier ones as one summary that grows with the conversation."""

import hashlib
from collections.abc import Callable, Sequence

from core.answering.context.summarising import Summariser, spoken
from core.answering.context.token_window import cost, newest
from core.answering.context.turns import Turn, TurnReader, number, split_turns
from core.domain.answer import ChatMessage, ChatRole
from core.domain.conversation import Message
from core.domain.corpus import SearchScope
from core.domain.jobs import JobKind
from core.domain.service import SummaryKey, SummaryKind
from core.errors import ProviderError, StorageError
from core.ports import CorpusRepository
from core.ports.service import SummaryRepository
from core.work.steps import step

# So many turns at least stay as they were; earlier ones are folded into the summary by so many at once. In between
# the summary stays the same to the letter: prompts keep their beginning, which providers cache.
KEPT_TURNS = 4
FOLDED_TURNS = 4
# Of the budget, what the summary may take at most: the rest is for the turns behind it.
SUMMARY_SHARE = 0.25
BEGINNING = "Summary of what was said in this conversation before:"


class RollingSummary:
    """Implements ports.ContextStrategy.

    A summary is made once for a state of the conversation and what may be read there, from the last summary and the
    turns since. It is made of what this scope may read alone: answers beyond it are taken out before. Where none can
    be made, the turns that fit go without one, and the failed step says so. `summariser` gives whoever sums up for a
    workspace.
    """

    name = "summary"

    def __init__(
        self, corpus: CorpusRepository, summaries: SummaryRepository, summariser: Callable[[str], Summariser]
    ) -> None:
        self._reader = TurnReader(corpus)
        self._summaries = summaries
        self._summariser = summariser

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
        """The message that stands for the folded turns; none where there are none, or no summary can be made."""
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
        """The kept one of this state, or a new one, from that of the state before where it is kept."""
        here = _key(said, turns, scope)
        before = _key(said[:-FOLDED_TURNS], turns[:-FOLDED_TURNS], scope) if len(said) > FOLDED_TURNS else None
        found = await self._summaries.find([here, *([before] if before else [])])
        if here in found:
            return found[here]
        earlier = found.get(before, "") if before else ""
        new = turns[-FOLDED_TURNS:] if earlier else turns
        async with step(JobKind.PLANNING, "summarise earlier questions", input={"turns": len(new)}) as job:
            summariser = self._summariser(scope.workspace)
            summary = await summariser.go_on(earlier, [message for turn in new for message in turn], tokens)
            job.output = {"characters": len(summary)}
        await self._summaries.save(here, summary)
        return summary


def _key(said: Sequence[Sequence[Message]], turns: Sequence[Turn], scope: SearchScope) -> SummaryKey:
    """Of what is summarised as it may be read now, and of what could be read: what was edited or taken away since is in
    no summary any more, and another scope has one of its own.
    """
    made_of = repr([(item.role.value, item.speaker, item.text) for turn in turns for item in spoken(turn)])
    return SummaryKey(
        workspace=scope.workspace,
        kind=SummaryKind.ROLLING,
        subject=said[-1][-1].conversation_id,
        revision=f"{hashlib.sha256(made_of.encode('utf-8', 'replace')).hexdigest()[:16]}:{scope.digest}",
    )
