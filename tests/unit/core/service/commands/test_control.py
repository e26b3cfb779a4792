"""What is running, stopping it, and why it was decided so."""

from dataclasses import replace

import pytest

from core.answering.answers.stored import stored_ids
from core.domain.incoming import Circumstances, IncomingMessage
from core.domain.service import ACCEPTED, InboxStatus
from core.errors import BadInput
from core.service.inbox import COMMAND, Inbox, QuestionLimits, platform_gates
from tests.builders import build_job
from tests.unit.core.service.commands.counter import HERE, Counter, answered, stocked


async def test_jobs_tells_how_the_last_answer_was_made() -> None:
    run = await answered()
    text = (await run("jobs")).text

    assert "answer: done" in text
    assert "search: done" in text


async def test_jobs_shows_the_answer_that_is_being_made_before_the_last_one() -> None:
    run = await answered()
    entry = await run.ask("And the garden?")
    await run.ask("It waits behind it")
    before = (await run("jobs")).text
    request = stored_ids(entry.incoming).request
    await run.desk.job_store.save(build_job(request, name="answer", input={"question": "And the garden?"}))

    assert before == "It's queued. No steps have started yet."
    assert (await run("jobs")).text == "- answer: running And the garden?"
    priced = build_job(request, name="answer", output={"cost_dollars": 0.0042})
    await run.desk.job_store.save(priced)
    assert (await run("jobs")).text == "- answer: running, $0.0042"
    assert "Where is the key?" in (await run("jobs", address=replace(HERE, thread="t2"))).text


async def test_jobs_without_an_answer_says_so() -> None:
    run = await stocked()
    run.conversation = await run.begin("t1")
    with pytest.raises(BadInput, match="answer yet"):
        await run("jobs")


async def test_stop_stops_the_authors_newest_question_of_the_thread() -> None:
    run = await stocked()
    await run.ask("first?")
    second = await run.ask("second?")
    await run.ask("bens?", author="ben")
    await run.ask("elsewhere?", thread="t2")

    assert "Stopping" in (await run("stop")).text
    assert run.stopped == [(second.message_key, "ada")]


async def test_stop_in_a_channel_stops_the_authors_newest_question_of_its_threads() -> None:
    run = await stocked()
    here = await run.ask("here?", thread="t2")
    await run.ask("in the cellar?", channel="cellar")

    await run("stop", address=replace(HERE, thread=""))
    assert run.stopped == [(here.message_key, "ada")]


async def test_there_is_nothing_to_stop_for_who_asked_nothing() -> None:
    run = await stocked()
    await run.ask("bens?", author="ben")

    with pytest.raises(BadInput, match="have a question in progress"):
        await run("stop")
    assert run.stopped == []


@pytest.mark.parametrize("role", ["is_admin", "is_moderator"])
async def test_moderators_stop_the_newest_question_of_their_thread_whoever_asked_it(role: str) -> None:
    run = await stocked()
    await run.ask("mine elsewhere?", thread="t2")
    bens = await run.ask("bens?", author="ben")
    await run("stop", **{role: True})

    with pytest.raises(BadInput, match="have a question in progress"):
        await run("stop", address=replace(HERE, thread="t3"), author="eve", **{role: True})
    assert run.stopped == [(bens.message_key, "ada")]


async def refuse(run: Counter, text: str, circumstances: Circumstances) -> None:
    inbox = Inbox(run.entries, platform_gates(run.shelf.settings), run.desk.clock, lambda: None)
    await inbox.receive(
        IncomingMessage(address=HERE, author="ada", text=text, event_key=text, circumstances=circumstances)
    )


async def test_why_tells_of_a_limit_that_was_announced_before() -> None:
    run = await stocked()
    limits = QuestionLimits(settings=run.shelf.settings, person=1, platforms={HERE.platform})
    inbox = Inbox(run.entries, platform_gates(run.shelf.settings), run.desk.clock, lambda: None, limits=limits)
    for key in "abc":
        await inbox.receive(IncomingMessage(address=HERE, author="ada", text="Where?", event_key=key))
    text = (await run("why")).text

    assert "You have asked 1 question in this hour. You can ask again at 13:00 UTC." in text
    assert text.endswith("(`over_limit_again`)")


async def test_why_gives_the_newest_decision_with_its_fix() -> None:
    run = await stocked()
    await run.ask("older?")
    await refuse(run, "@ben lunch?", Circumstances(mentioned=False, in_thread=True, mentions_others=True))
    command = IncomingMessage(address=HERE, author="ada", text="/why", event_key="c")
    await run.entries.accept(command, COMMAND)
    text = (await run("why")).text

    assert "Mention me to ask" in text
    assert text.endswith("(`not_for_us`)")
    assert "lunch" not in text, "what was not for us is not kept"


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (None, None, "“Where?”): I am answering this. It's queued."),
        (InboxStatus.DONE, None, "Its answer is posted."),
        (InboxStatus.CANCELLED, None, "It was stopped."),
        (InboxStatus.FAILED, "The model is asleep.", "It failed: The model is asleep."),
    ],
)
async def test_why_of_a_question_tells_how_far_it_is(status: InboxStatus | None, error: str | None, words: str) -> None:
    run = await stocked()
    entry = await run.ask("Where?")
    if status is not None:
        await run.entries.claim(1, {"web"})
        assert "I'm working on it." in (await run("why")).text
        await run.entries.finish(entry.seq, status, error=error)

    assert words in (await run("why")).text
    assert ACCEPTED.code in (await run("why")).text


async def test_who_was_never_heard_is_told_what_to_check() -> None:
    run = await stocked()
    await run.ask("bens?", author="ben")
    await run.ask("elsewhere?", channel="cellar")

    with pytest.raises(BadInput, match="haven't received a message from you here"):
        await run("why")
    assert "elsewhere?" in (await run("why", address=None)).text
