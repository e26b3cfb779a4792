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
from core.work.steps import NO_STEPS, Step

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
