"""Auto-answers that find nothing, or fail: the worker leaves their messages to people."""

from dataclasses import replace

import pytest

from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import Circumstances, IncomingMessage
from core.domain.service import NO_ANSWER, UNASKED, InboxStatus
from core.errors import BadInput, ProviderOverloaded
from tests.unit.core.service.test_worker import Office, failing, message


def overheard(text: str, edit: str = "") -> IncomingMessage:
    """A message in a channel itself that named nobody."""
    return replace(message(text), event_key=f"{text}{edit}", circumstances=Circumstances(mentioned=False))


@pytest.mark.parametrize(
    "error", [BadInput("No such thing."), ProviderOverloaded("The model is down."), RuntimeError("?")]
)
async def test_an_auto_answer_that_fails_is_a_silence_with_its_reason(error: Exception) -> None:
    office = Office()
    office.answers.behaviour["Where is it?"] = failing(99, error)
    await office.store.accept(overheard("Where is it?"), UNASKED)
    async with office.working():
        await office.all_done()

    entry = await office.store.find("Where is it?")
    assert (entry.status, entry.decision, entry.incoming.text) == (InboxStatus.REFUSED, NO_ANSWER, "")
    assert office.wall.order == [] and office.answers.stored == {}


@pytest.mark.parametrize("status", [AnswerStatus.NOT_FOUND, AnswerStatus.ERROR, AnswerStatus.CLARIFY])
async def test_only_an_answer_is_said_unasked_but_an_edit_is_followed(status: AnswerStatus) -> None:
    office = Office()
    office.answers.stored["Where?"] = Answer(status=status, text="I couldn't find it.")
    await office.store.accept(overheard("Where?"), UNASKED)
    async with office.working():
        await office.all_done()
        assert office.wall.order == []
        assert (await office.store.find("Where?")).decision == NO_ANSWER

        await office.store.accept(overheard("Who?"), UNASKED)
        await office.all_done()
        office.answers.stored["Who?"] = Answer(status=status, text="I couldn't find it.")
        await office.store.accept(overheard("Who?", edit="@2"), UNASKED)
        await office.all_done()
    assert office.wall.posts == {"Who?": "I couldn't find it."}
