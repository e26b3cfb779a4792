"""What became of a message: the stored answer, or in one sentence why there is none."""

from dataclasses import replace

import pytest

from core.answering.answers.stored import answer_message
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.replies import Usage
from core.domain.service import ACCEPTED, Decision, InboxEntry, InboxStatus
from core.service.jobs import Jobs
from core.service.outcomes import GONE, Outcomes
from core.work.conversations import Conversations
from tests.builders import NOON, build_job
from tests.fakes import ManualClock
from tests.stores import Stores

ADDRESS = ThreadAddress(platform="web", workspace="local", channel="c", thread="t")
INCOMING = IncomingMessage(address=ADDRESS, author="ada", text="Where?", event_key="web:local:c:1")
ENTRY = InboxEntry(
    seq=1, incoming=INCOMING, message_key="k", status=InboxStatus.DONE, decision=ACCEPTED, created_at=NOON
)
REFUSED = Decision(code="no", sentence="Not here.", accepted=False)


class Desk:
    def __init__(self) -> None:
        stores = Stores()
        clock, repository = ManualClock(), stores.conversations
        self.jobs = stores.jobs
        self.conversations = Conversations(repository, clock)
        self.outcomes = Outcomes(self.conversations, Jobs(self.jobs, repository, clock))


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_a_stored_answer_is_found_with_its_tree_and_its_cost(desk: Desk) -> None:
    conversation = await desk.conversations.open(INCOMING)
    await desk.jobs.save(build_job("j1"))
    usage = Usage(input_tokens=3, output_tokens=2)
    answer = Answer(status=AnswerStatus.ANSWERED, text="Here.", suggestions=("And why?",), usage=usage)
    await desk.conversations.record(conversation, [answer_message(answer, INCOMING, conversation.id, "j1", NOON)])
    found = await desk.outcomes.find(ENTRY)
    named = await desk.outcomes.find(replace(ENTRY, incoming=replace(INCOMING, conversation_id=conversation.id)))

    assert (found.text, found.suggestions, found.usage) == ("Here.", ("And why?",), usage)
    assert [job.id for job in found.jobs] == ["j1"]
    assert found.conversation_id == conversation.id
    assert named == found


async def test_an_answer_whose_tree_was_forgotten_is_still_one(desk: Desk) -> None:
    conversation = await desk.conversations.open(INCOMING)
    answer = Answer(status=AnswerStatus.ANSWERED, text="Here.")
    await desk.conversations.record(conversation, [answer_message(answer, INCOMING, conversation.id, "gone", NOON)])

    assert (await desk.outcomes.find(ENTRY)).jobs == ()


@pytest.mark.parametrize(
    ("changes", "status", "sentence"),
    [
        ({}, AnswerStatus.ERROR, GONE),
        ({"status": InboxStatus.CANCELLED}, AnswerStatus.STOPPED, "Stopped."),
        ({"status": InboxStatus.REFUSED, "decision": REFUSED}, AnswerStatus.REFUSED, "Not here."),
        ({"status": InboxStatus.FAILED, "error": "Away."}, AnswerStatus.ERROR, "Away."),
        ({"status": InboxStatus.QUEUED, "final_error": "Given up.", "error": "Away."}, AnswerStatus.ERROR, "Given up."),
    ],
)
@pytest.mark.parametrize("conversation_id", [None, "c1"])
async def test_without_a_stored_answer_the_entry_says_how_it_ended(
    desk: Desk, changes: dict[str, object], status: AnswerStatus, sentence: str, conversation_id: str | None
) -> None:
    entry = replace(ENTRY, incoming=replace(INCOMING, conversation_id=conversation_id), **changes)
    found = await desk.outcomes.find(entry)

    assert (found.status, found.text, found.conversation_id) == (status, sentence, conversation_id or "")
