"""Texts of notes about stale answers, as a step of the answer pipeline.

The text is made when it is posted, without answers that are valid again or were asked again.
"""

from collections.abc import Sequence

from core.access.scopes import Access
from core.answering.pipeline import Question
from core.domain.answer import Answer, AnswerStatus, AskAgain
from core.domain.features import StaleAnswer
from core.domain.incoming import NOTE_ON
from core.features.staleness.stale_answers import QUESTION_LENGTH, Staleness, told, without_closed_names
from core.ports import CorpusRepository
from core.text.words import shorten

TOLD = 5  # answers that a note names one by one


class StaleNotes:
    """Message that is a note -> its text, as its thread may read it. With an empty `note_on`, no answer is stale."""

    def __init__(self, staleness: Staleness, access: Access, corpus: CorpusRepository) -> None:
        self._staleness = staleness
        self._access = access
        self._corpus = corpus

    async def __call__(self, question: Question) -> Answer | None:
        message = question.message
        if not message.is_note:
            return None
        wanted = message.metadata[NOTE_ON].split()
        stale = await self._staleness.list_stale(message.address.workspace, message.conversation_id)
        scope = await self._access.scope(message.address.workspace, message.address)
        found = [item for item in stale if item.message.id in wanted]
        return to_note(await without_closed_names(found, scope, self._corpus), message.conversation_id or "")


def to_note(stale: Sequence[StaleAnswer], conversation_id: str) -> Answer:
    """One sentence for one answer, a line each for several."""
    if len(stale) == 1:
        text = f"My answer{_to(stale[0])} is out of date: {told(stale[0])}. Ask again for an updated answer."
    else:
        lines = [f"- {shorten(item.question, QUESTION_LENGTH) or '…'}: {told(item)}" for item in stale[:TOLD]]
        lines += [f"- and {len(stale) - TOLD} more"] if len(stale) > TOLD else []
        text = "\n".join([f"{len(stale)} of my answers here are out of date. Ask again where it matters:", "", *lines])
    return Answer(
        status=AnswerStatus.ANSWERED,
        text=text,
        conversation_id=conversation_id,
        note_on=tuple(AskAgain(message_id=item.message.id, question=item.question) for item in stale if item.question),
    )


def _to(item: StaleAnswer) -> str:
    return f" to “{shorten(item.question, QUESTION_LENGTH)}”" if item.question else ""
