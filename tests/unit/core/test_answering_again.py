"""A question that is asked again by the same event: after a crash, a shutdown, or a failure that may pass."""

import asyncio
from dataclasses import replace

import pytest

from core.answering.answers.settled import CUT_OFF
from core.answering.answers.stored import stored_ids
from core.domain.answer import Answer, AnswerStatus
from core.domain.chat import ChatRequest
from core.domain.conversation import Role
from core.domain.jobs import JobKind, JobStatus
from core.domain.replies import ChatResponse
from core.errors import ProviderOverloaded
from core.work.attempts import Attempt
from tests.builders import build_job
from tests.scripted import says
from tests.unit.core.answering.test_service import KEY, SEARCH, Desk, message
from tests.unit.core.library_builder import Shelf

FIRST_OF_MORE = Attempt(number=1, is_last=False, is_stopped=lambda: False)


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    await shelf.add("house.md", f"# Keys\n\n{KEY}", "# Are gardens locked?\n\nThe garden has a shed.", title="House")
    return shelf


async def roles(desk: Desk) -> list[Role]:
    [conversation] = await desk.store.list_conversations("local")
    stored = await desk.store.list_messages(conversation.id)
    return [item.role for item in stored if item.role is not Role.TOOL_RESULT]


async def test_a_question_whose_answer_is_stored_gets_it_again_as_it_was_posted(shelf: Shelf) -> None:
    desk = Desk(shelf, SEARCH, says("The key hangs under the stairs [1]."))
    first = await desk.ask()
    again = await desk.ask()

    assert replace(again, timings_ms={}, jobs=()) == replace(first, timings_ms={}, jobs=())
    assert {job.id: job for job in again.jobs} == {job.id: job for job in first.jobs}
    assert again.suggestions
    assert len(desk.provider.requests) == 2
    assert await roles(desk) == [Role.USER, Role.ASSISTANT]


async def test_a_question_that_was_cut_off_is_asked_again_once_and_only_its_finished_tools_stay(shelf: Shelf) -> None:
    def shutdown(request: ChatRequest) -> ChatResponse:
        raise asyncio.CancelledError

    desk = Desk(shelf, SEARCH, shutdown, SEARCH, says("Under the stairs [1]."))
    with pytest.raises(asyncio.CancelledError):
        await desk.service.answer(message(), desk.progress, FIRST_OF_MORE)
    assert await roles(desk) == [Role.USER]

    answer = await desk.service.answer(message(), desk.progress, replace(FIRST_OF_MORE, number=2))
    assert answer.status is AnswerStatus.ANSWERED
    assert await roles(desk) == [Role.USER, Role.ASSISTANT]
    assert {job.attempts for job in answer.jobs if job.kind is not JobKind.TOOL} == {2}
    assert [(job.attempts, job.status) for job in answer.jobs if job.kind is JobKind.TOOL] == [(1, JobStatus.DONE)]
    assert len(await desk.job_store.list_roots("local")) == 1


async def test_steps_that_a_dead_process_left_running_are_ended(shelf: Shelf) -> None:
    desk = Desk(shelf, SEARCH, says("Under the stairs [1]."))
    request = stored_ids(message()).request
    answer = await Desk(shelf, SEARCH, says("Under the stairs [1].")).ask()
    left = replace(answer.jobs[0], status=JobStatus.RUNNING, completed_at=None)
    below = replace(left, id=f"{request}/x9", parent_id=request, kind=JobKind.TOOL)
    await desk.job_store.save(left, below)
    await desk.service.answer(message(), desk.progress, Attempt(number=2))

    tree = {job.id: job for job in await desk.job_store.list_tree(request)}
    assert (tree[request].status, tree[request].attempts) == (JobStatus.DONE, 2)
    assert (tree[below.id].status, tree[below.id].error) == (JobStatus.FAILED, CUT_OFF)


async def test_what_may_pass_is_raised_until_the_last_try_and_then_is_the_answer(shelf: Shelf) -> None:
    desk = Desk(shelf, ProviderOverloaded("busy"), ProviderOverloaded("busy"))
    with pytest.raises(ProviderOverloaded):
        await desk.service.answer(message(), desk.progress, FIRST_OF_MORE)
    assert await roles(desk) == [Role.USER]

    answer = await desk.service.answer(message(), desk.progress, Attempt(number=2))
    assert (answer.status, answer.text) == (AnswerStatus.ERROR, "busy")


async def test_settling_stores_an_answer_unless_there_is_one(shelf: Shelf) -> None:
    desk = Desk(shelf)
    gone = Answer(status=AnswerStatus.ERROR, text="It is no use.")
    first = await desk.service.settle(message(), gone)
    second = await desk.service.settle(message(), Answer(status=AnswerStatus.STOPPED, text="Stopped."))

    assert (first.text, second.text, second.status) == (gone.text, gone.text, AnswerStatus.ERROR)
    assert await roles(desk) == [Role.USER, Role.ASSISTANT]


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (Answer(status=AnswerStatus.ERROR, text="It is no use."), JobStatus.FAILED, "It is no use."),
        (Answer(status=AnswerStatus.STOPPED, text="Stopped."), JobStatus.CANCELLED, None),
    ],
)
async def test_a_question_that_is_settled_before_anything_was_done_has_a_request_that_says_so(
    shelf: Shelf, answer: Answer, status: JobStatus, error: str | None
) -> None:
    desk = Desk(shelf)
    settled = await desk.service.settle(message(), answer)

    [request] = await desk.job_store.list_tree(stored_ids(message()).request)
    assert (request.kind, request.status, request.error) == (JobKind.REQUEST, status, error)
    assert (settled.jobs, request.input["conversation_id"]) == ((request,), settled.conversation_id)


async def test_settling_ends_what_a_dead_process_left_running_and_links_to_it(shelf: Shelf) -> None:
    request = stored_ids(message()).request
    desk = Desk(shelf)
    await desk.job_store.save(build_job(request), build_job(f"{request}/t0", parent_id=request, root_id=request))
    settled = await desk.service.settle(message(), Answer(status=AnswerStatus.ERROR, text="Given up."))

    assert [(job.status, job.error) for job in settled.jobs] == [(JobStatus.FAILED, CUT_OFF)] * 2
    stored = await desk.store.find_message(settled.message_id)
    assert stored is not None
    assert stored.job_id == request


def test_ids_follow_from_the_event_and_the_workspace() -> None:
    one = stored_ids(message())
    assert stored_ids(message()) == one
    assert len({one.question, one.answer, one.request}) == 3
    edited = replace(message(), event_key=f"{message().event_key}@2")
    elsewhere = replace(message(), address=replace(message().address, workspace="w"))
    assert one not in (stored_ids(edited), stored_ids(elsewhere))
