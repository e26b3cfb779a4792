"""Submission of commands' questions."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

import pytest

from bot.cli.questions import question_message
from bot.service.answer_listeners import AnswerListeners
from bot.service.calls import Caller
from bot.service.submission import KEPT, QuestionSubmitter
from bot.terminal.platform import TerminalPlatform
from core.domain.answer import Answer, AnswerStatus
from core.domain.incoming import IncomingMessage, ThreadAddress
from core.domain.jobs import JobStatus
from core.domain.service import Decision, InboxStatus
from core.errors import BadInput, InvalidState, NotFound, ProviderError
from core.service.inbox import STANDARD_GATES, Gate, Inbox
from core.service.jobs import Jobs
from core.service.worker import Worker
from tests.fakes import RecordingProgress
from tests.unit.bot.web.api.conftest import Office as ApiOffice

QUESTION = "Where is the key?"


@dataclass
class Office(ApiOffice):
    """The same service in memory, with commands instead of the API."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.listeners = AnswerListeners()
        self.jobs = Jobs(self.job_store, self.conversation_store, self.clock)
        self.serve(self.listeners)

    def serve(self, listeners: AnswerListeners) -> None:
        platforms = {"terminal": listeners.wrap(TerminalPlatform())}
        self.worker = Worker(self.store, self.build_answers(), platforms, self.clock, pause_scale=0, tries=2)
        self.receive_with(*STANDARD_GATES)

    def receive_with(self, *gates: Gate) -> None:
        self.inbox = Inbox(self.store, gates, self.clock, self.worker.wake)
        self.submitter = QuestionSubmitter(
            inbox=self.inbox,
            store=self.store,
            listeners=self.listeners,
            conversations=self.conversations,
            jobs=self.jobs,
            cancel=self.worker.cancel,
        )

    async def ask(self, text: str = QUESTION, progress: RecordingProgress | None = None, **fields: object) -> Answer:
        message = replace(question_message("local", text), **fields)
        return await self.submitter.ask(message, progress or RecordingProgress(), Caller())


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    office = Office()
    await office.shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", title="House")
    task = asyncio.create_task(office.worker.run())
    yield office
    await office.worker.stop()
    await task


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110 - the worker has no event for it
            await asyncio.sleep(0.01)


async def test_a_question_goes_through_the_inbox_and_its_progress_to_the_command(office: Office) -> None:
    progress = RecordingProgress()
    answer = await office.ask(progress=progress)
    (entry,) = await office.store.recent("local")

    assert (answer.status, answer.grounded) == (AnswerStatus.ANSWERED, True)
    assert [job.kind.value for job in answer.jobs] == ["request", "planning", "tool", "synthesis"]
    assert progress.steps
    assert (entry.address.platform, entry.decision.code) == ("terminal", "accepted")
    assert entry.message_key.startswith("terminal:local:cli:")


async def test_what_another_process_answers_is_found_in_the_history(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.service.submission.POLL_SECONDS", 0.01)
    office.submitter._listeners = AnswerListeners()  # the worker notifies another one
    answer = await office.ask()

    assert (answer.status, bool(answer.citations), bool(answer.jobs)) == (AnswerStatus.ANSWERED, True, True)


async def test_follow_ups_wait_for_what_was_asked_before_them(office: Office) -> None:
    first = await office.ask()
    office.provider.hold.clear()
    later = [asyncio.create_task(office.ask(conversation_id=first.conversation_id)) for _ in range(2)]
    while not (running := sorted([entry.status for entry in await office.open_entries()]))[1:]:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    while InboxStatus.RUNNING not in running:
        await asyncio.sleep(0.01)
        running = sorted([entry.status for entry in await office.open_entries()])
    office.provider.hold.set()
    await asyncio.gather(*later)

    assert running == [InboxStatus.QUEUED, InboxStatus.RUNNING]
    assert len({entry.thread for entry in await office.store.recent("local")}) == 1


async def test_a_question_about_a_thread_of_another_platform_is_never_posted_into_it(office: Office) -> None:
    address = ThreadAddress(platform="web", workspace="local", channel="general", thread="t1")
    elsewhere = await office.conversations.open(
        IncomingMessage(address=address, author="ada", text="Hm?", event_key="web:local:general:1")
    )
    answer = await office.ask(conversation_id=elsewhere.id)
    (entry,) = await office.store.recent("local")

    assert answer.conversation_id == elsewhere.id
    assert (entry.address.platform, entry.address.thread) == ("terminal", elsewhere.id)


async def test_a_command_that_asks_to_stop_stops_its_answer(office: Office) -> None:
    office.provider.hold.clear()
    caller = Caller()
    message = question_message("local", QUESTION)
    call = asyncio.create_task(office.submitter.ask(message, RecordingProgress(), caller))
    await until(lambda: bool(office.worker.running))
    caller.wants_stop = True
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    (entry,) = await office.store.recent("local")
    conversation = await office.conversations.find(entry.address)
    assert conversation is not None
    _, messages = await office.conversations.show(conversation.id, "local")

    assert entry.cancelled_by == message.author
    assert [item.status for item in messages] == [None, "stopped"]


async def test_a_command_that_dies_is_answered_all_the_same(office: Office) -> None:
    office.provider.hold.clear()
    call = asyncio.create_task(office.ask())
    await until(lambda: bool(office.worker.running))
    call.cancel()
    with pytest.raises(InvalidState, match="question is kept"):
        await call
    office.provider.hold.set()
    await until(lambda: not office.worker.running)
    (entry,) = await office.store.recent("local")

    assert entry.status is InboxStatus.DONE
    assert "conversations list" in KEPT


async def test_an_error_post_is_the_stored_error(office: Office) -> None:
    async def broken(*_: object) -> object:
        raise ProviderError("The model is away: try later.")

    office.provider.complete = broken
    answer = await office.ask()

    assert (answer.status, answer.text) == (AnswerStatus.ERROR, "The model is away: try later.")
    assert answer.conversation_id


@pytest.mark.parametrize(
    ("text", "error", "part"),
    [
        ("?", BadInput, "empty"),
        ("x" * 30_000, BadInput, "characters"),
        ("/help me", BadInput, "footnote chat"),
    ],
)
async def test_what_can_not_be_a_question_is_refused_at_once(
    office: Office, text: str, error: type[Exception], part: str
) -> None:
    with pytest.raises(error, match=part):
        await office.ask(text)
    with pytest.raises(NotFound):
        await office.ask(conversation_id="unknown")


async def test_what_a_gate_refuses_is_an_answer_that_says_why(office: Office) -> None:
    async def no(incoming: IncomingMessage) -> Decision:
        return Decision(code="over_limit", sentence="Too many questions.", accepted=False)

    first = await office.ask()
    office.receive_with(Gate(name="no", check=no))
    answer = await office.ask(conversation_id=first.conversation_id)

    assert (answer.status, answer.text) == (AnswerStatus.REFUSED, "Too many questions.")
    assert answer.conversation_id == first.conversation_id


async def fail_once(office: Office) -> tuple[Answer, str]:
    """A failed answer, and the id of its request."""
    complete = office.provider.complete

    async def broken(*_: object) -> object:
        raise ProviderError("The model is away: try later.")

    office.provider.complete = broken
    answer = await office.ask()
    office.provider.complete = complete
    return answer, answer.jobs[0].id


async def test_a_failed_question_is_asked_again_under_the_same_key(office: Office) -> None:
    failed, job_id = await fail_once(office)
    answer = await office.submitter.retry(job_id, "local", RecordingProgress(), Caller())
    again, first = await office.store.recent("local")

    assert (await office.job_store.get(job_id, "local")).status is JobStatus.FAILED
    assert (answer.status, answer.conversation_id) == (AnswerStatus.ANSWERED, failed.conversation_id)
    assert (again.message_key, again.thread) == (first.message_key, first.thread)
    assert again.event_key != first.event_key


async def test_a_question_is_not_asked_again_while_it_is_being_answered(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, job_id = await fail_once(office)
    monkeypatch.setattr("bot.service.submission.OPEN_PAUSE_SECONDS", 0.01)
    await until(lambda: not office.worker.running)
    office.provider.hold.clear()
    await office.submitter.resubmit(job_id, "local")
    with pytest.raises(InvalidState, match="already in progress"):
        await office.submitter.resubmit(job_id, "local")
    office.provider.hold.set()
    assert len(await office.store.recent("local")) == 2


async def test_asking_again_is_refused_with_the_gate_s_sentence(office: Office) -> None:
    async def no(incoming: IncomingMessage) -> Decision:
        return Decision(code="over_limit", sentence="Too many questions.", accepted=False)

    _, job_id = await fail_once(office)
    office.receive_with(Gate(name="no", check=no))
    with pytest.raises(InvalidState, match="Too many questions"):
        await office.submitter.resubmit(job_id, "local")
