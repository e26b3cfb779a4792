"""Answers for one person: in reply to an interaction while Slack takes it, else directly; never in the open."""

import asyncio

import pytest

from core.errors import AccessDenied, PlatformError
from tests.integration.slackbot.bench import KEY, SHOWN, Bench, long_answer, reads
from tests.slack_server import Message

HALF_AN_HOUR = 30 * 60.0
SORRY = "The model is overloaded: ask again."


def whispered(bench: Bench) -> list[Message]:
    """What only Ada sees in the channel."""
    return [one for one in bench.posts() if one.only_to == bench.ada.id]


def seen_by_all(bench: Bench) -> list[Message]:
    return [one for one in bench.posts() if one.only_to is None]


async def test_a_command_is_answered_where_it_was_given_for_its_giver_alone(bench: Bench) -> None:
    entry = await bench.ask_privately()
    live = await bench.open(entry)
    live.text("The key ")
    ref = await bench.post(entry)
    [post] = whispered(bench)
    assert SHOWN in reads(post)
    assert (ref, seen_by_all(bench), bench.posts(bench.ada.dm)) == ("", [], [])


async def test_without_an_interaction_the_answer_comes_directly(bench: Bench) -> None:
    entry = await bench.ask_privately(by_command=False)
    await bench.open(entry)
    ref = await bench.post(entry)
    post = bench.the_post(bench.ada.dm)
    assert SHOWN in reads(post)
    assert ref == f"{bench.ada.dm.id}/{post.ts}"
    assert bench.posts() == []


async def test_a_draft_of_a_private_answer_is_nowhere(bench: Bench) -> None:
    entry = await bench.ask_privately(by_command=False)
    live = await bench.open(entry)
    live.text("The key hangs ")
    await bench.post(entry)
    assert [call.method for call in bench.server.calls("chat.*")] == ["chat.postMessage"]
    assert bench.count("assistant.*") == 0


async def test_when_the_half_hour_is_over_the_answer_comes_directly(bench: Bench) -> None:
    entry = await bench.ask_privately()
    bench.time.advance(HALF_AN_HOUR)
    await bench.post(entry)
    assert SHOWN in reads(bench.the_post(bench.ada.dm))
    assert bench.count("response_url") == 0


async def test_a_reply_that_slack_takes_no_more_comes_directly(bench: Bench) -> None:
    entry = await bench.ask_privately()
    bench.server.advance(HALF_AN_HOUR + 1)  # Slack's clock alone
    await bench.post(entry)
    assert SHOWN in reads(bench.the_post(bench.ada.dm))
    assert whispered(bench) == []


async def test_an_answer_of_more_messages_than_replies_are_taken_comes_directly(bench: Bench) -> None:
    entry = await bench.ask_privately()
    await bench.post(entry, long_answer(100))
    assert len(bench.posts(bench.ada.dm)) > 4
    assert whispered(bench) == []


async def test_an_answer_in_two_messages_is_two_replies(bench: Bench) -> None:
    entry = await bench.ask_privately()
    await bench.post(entry, long_answer(20))
    assert len(whispered(bench)) == 2
    assert bench.posts(bench.ada.dm) == []


async def test_after_a_try_that_may_have_arrived_the_answer_comes_directly_once(bench: Bench) -> None:
    entry = await bench.ask_privately()
    bench.server.fail_next("response_url", status=500)
    with pytest.raises(PlatformError):
        await bench.post(entry)
    bench.server.lose_reply_of_next("chat.postMessage")
    with pytest.raises(PlatformError):
        await bench.post(await bench.claim())
    await bench.post(await bench.claim())
    assert SHOWN in reads(bench.the_post(bench.ada.dm))
    assert bench.count("response_url") == 1


async def test_a_reply_waits_out_a_short_pause(bench: Bench) -> None:
    entry = await bench.ask_privately()
    bench.server.fail_next("response_url", status=429, retry_after_seconds=2)
    posting = asyncio.create_task(bench.post(entry))
    await bench.rested(2)
    await posting
    assert len(whispered(bench)) == 1


async def test_another_process_answers_directly_and_finds_what_it_posted(bench: Bench) -> None:
    entry = await bench.ask_privately()
    bench.start()
    await bench.post(await bench.claim())
    bench.start()
    await bench.post(await bench.claim(), f"{KEY} Both of them.")
    assert "Both of them" in reads(bench.the_post(bench.ada.dm))
    assert whispered(bench) == []
    assert entry.incoming.private


async def test_the_error_of_a_first_try_is_told_where_the_command_was_given(bench: Bench) -> None:
    entry = await bench.ask_privately()
    await bench.open(entry)
    await bench.fail(await bench.give_up(entry, SORRY), SORRY)
    [post] = whispered(bench)
    assert SORRY in reads(post)


async def test_who_takes_no_direct_messages_is_told_nowhere_in_the_open(bench: Bench) -> None:
    bench.ada.refuse_messages()
    entry = await bench.ask_privately(by_command=False)
    with pytest.raises(AccessDenied) as error:
        await bench.post(entry)
    assert await bench.fail(await bench.give_up(entry, str(error.value)), str(error.value)) == ""
    assert bench.posts() == []


async def test_with_its_entry_lost_a_private_answer_stays_private(bench: Bench) -> None:
    entry = await bench.ask_privately()
    await bench.store.finish(entry.seq, entry.status.DONE)
    await bench.post(entry)
    assert SHOWN in reads(bench.the_post(bench.ada.dm))
    assert bench.posts() == []


async def test_a_private_answer_can_be_shared(bench: Bench) -> None:
    entry = await bench.ask_privately(by_command=False)
    await bench.post(entry)
    assert "'value': 'share'" in str(bench.the_post(bench.ada.dm).blocks)
