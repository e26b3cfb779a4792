"""One post for each question, whatever Slack does with the calls and however often the process dies."""

import asyncio

import pytest

from core.domain.service import InboxEntry
from core.errors import PlatformError
from tests.integration.slackbot.bench import SHOWN, Bench, long_answer, reads
from tests.slack_server import Message

HALF_A_MINUTE = 30.0


async def begin(bench: Bench, words: str = "The key, I think, ") -> tuple[InboxEntry, Message]:
    """A draft that is streamed, as the worker's first attempt leaves it when it is killed."""
    entry = await bench.ask()
    live = await bench.open(entry)
    live.text(words)
    return entry, await bench.streams(words=words.strip())


# ------------------------------------------------------------------ kills


async def test_after_a_kill_the_stream_is_found_ended_and_finished_in_place(bench: Bench) -> None:
    _, draft = await begin(bench)
    bench.start()
    entry = await bench.claim()
    await bench.open(entry)
    await bench.until(lambda: draft.stream and draft.stream.ended and draft.edits)
    await bench.post(entry)
    assert bench.the_post() is draft
    assert SHOWN in reads(draft)
    assert "I think" not in reads(draft)


async def test_what_is_written_after_a_kill_is_shown_in_the_found_message(bench: Bench) -> None:
    _, draft = await begin(bench)
    bench.start()
    live = await bench.open(await bench.claim())
    live.text("Now it is clear. ")
    await bench.until(lambda: "Now it is clear." in reads(draft))
    assert "I think" not in reads(draft)
    assert bench.count("chat.startStream") == 1


async def test_after_a_kill_an_answer_that_was_settled_meanwhile_is_posted_in_place(bench: Bench) -> None:
    """The worker may post without opening first: a question that was stopped."""
    _, draft = await begin(bench)
    bench.start()
    await bench.post(await bench.claim())
    assert bench.the_post() is draft
    assert SHOWN in reads(draft)


async def test_a_process_that_gave_its_work_back_is_found_out_too(bench: Bench) -> None:
    """A release counts no attempt: only the age of the question says that there may be a draft."""
    entry, draft = await begin(bench)
    await bench.platform.close()
    await bench.store.release([entry.seq])
    bench.start()
    entry = await bench.claim()
    assert entry.attempts == 1
    await bench.post(entry)
    assert bench.the_post() is draft


async def test_after_a_kill_between_the_parts_of_an_answer_each_part_is_there_once(bench: Bench) -> None:
    entry = await bench.ask()
    hang = bench.server.hang_next("chat.postMessage", after=True)
    posting = asyncio.create_task(bench.post(entry, long_answer()))
    await hang.reached.wait()
    await bench.until(lambda: len(bench.posts()) == 1)
    posting.cancel()
    hang.release()
    bench.start()
    again = await bench.claim()
    await bench.open(again)
    ref = await bench.post(again, long_answer())
    posts = bench.posts()
    assert len(posts) > 1
    assert ref == f"{bench.general.id}/{','.join(post.ts for post in posts)}"
    shown = "\n".join(reads(post) for post in posts)
    assert [shown.count(f"Paragraph {number}.") for number in (0, 20, 39)] == [1, 1, 1]


async def test_other_posts_of_ours_in_the_thread_are_left_alone(bench: Bench) -> None:
    first = await bench.ask()
    await bench.post(first)
    await bench.store.finish(first.seq, first.status.DONE)
    root = bench.general.messages[first.address.thread]
    second = await bench.ask("and the shed?", thread=root)
    bench.start()
    await bench.post(await bench.claim(), "The shed is locked[1].")
    assert [SHOWN in reads(post) for post in bench.posts()] == [True, False]
    assert second.address.thread == root.ts


async def test_a_draft_far_below_the_question_is_found_page_by_page(bench: Bench) -> None:
    bench.server.app.most_read = 15
    entry = await bench.ask()
    root = bench.general.messages[entry.address.thread]
    for number in range(20):
        await bench.ada.reply(root, f"by the way {number}")
    live = await bench.open(entry)
    live.text("The key ")
    draft = await bench.streams(words="The key")
    bench.start()
    await bench.post(await bench.claim())
    assert bench.the_post() is draft


async def test_looking_goes_on_where_slack_interrupted_it(bench: Bench) -> None:
    """Apps outside Slack's marketplace read one page of 15 messages a minute."""
    bench.server.use_tiers(distributed=True)
    entry = await bench.ask()
    root = bench.general.messages[entry.address.thread]
    for number in range(20):
        await bench.ada.reply(root, f"by the way {number}")
    live = await bench.open(entry)
    live.text("The key ")
    draft = await bench.streams(words="The key")
    bench.start()
    with pytest.raises(PlatformError) as refused:
        await bench.post(await bench.claim())
    assert refused.value.retry_after_seconds == pytest.approx(60, abs=1)
    bench.time.advance(61)
    await bench.post(await bench.claim())
    assert bench.the_post() is draft


async def test_where_an_earlier_draft_can_not_be_looked_for_none_is_shown(bench: Bench) -> None:
    """It could be a second one; the final post looks again."""
    _, draft = await begin(bench)
    bench.start()
    bench.server.fail_next("conversations.replies", status=429, retry_after_seconds=60)
    entry = await bench.claim()
    live = await bench.open(entry)
    live.text("Now it is clear. ")
    await bench.until(lambda: bench.server.status(bench.general, entry.address.thread))
    await bench.post(entry)
    assert bench.the_post() is draft
    assert bench.count("chat.startStream") == 1


# ------------------------------------------------------------------ lost replies and passing trouble


@pytest.mark.parametrize("status", [0, 500, 504])
async def test_a_stream_whose_beginning_nobody_told_is_found_by_the_final_post(bench: Bench, status: int) -> None:
    entry = await bench.ask()
    bench.server.lose_reply_of_next("chat.startStream", status=status)
    live = await bench.open(entry)
    live.text("The key, I think, ")
    await bench.until(lambda: len(bench.posts()) == 1)
    await bench.post(entry)
    assert SHOWN in reads(bench.the_post())
    assert "I think" not in reads(bench.the_post())


@pytest.mark.parametrize("status", [0, 500, 504])
async def test_a_post_whose_arrival_nobody_told_is_found_by_the_next_try(bench: Bench, status: int) -> None:
    entry = await bench.ask()
    bench.server.lose_reply_of_next("chat.postMessage", status=status)
    with pytest.raises(PlatformError):
        await bench.post(entry)
    ref = await bench.post(await bench.claim())
    assert ref == f"{bench.general.id}/{bench.the_post().ts}"


async def test_a_post_that_is_repeated_within_one_try_looks_again(bench: Bench) -> None:
    await bench.ask()
    entry = await bench.claim()
    await bench.open(entry)
    bench.server.lose_reply_of_next("chat.postMessage")
    with pytest.raises(PlatformError):
        await bench.post(entry)
    await bench.post(entry)
    assert SHOWN in reads(bench.the_post())


@pytest.mark.parametrize("method", ["chat.update", "chat.stopStream"])
@pytest.mark.parametrize("status", [0, 500])
async def test_a_change_whose_arrival_nobody_told_is_made_again(bench: Bench, method: str, status: int) -> None:
    entry, _ = await begin(bench)
    bench.server.lose_reply_of_next(method, status=status)
    try:
        await bench.post(entry)
    except PlatformError:
        await bench.post(await bench.claim())
    assert SHOWN in reads(bench.the_post())


@pytest.mark.parametrize("status", [500, 503])
async def test_a_post_that_slack_could_not_take_is_posted_by_the_next_try(bench: Bench, status: int) -> None:
    entry = await bench.ask()
    bench.server.fail_next("chat.postMessage", status=status)
    with pytest.raises(PlatformError):
        await bench.post(entry)
    assert bench.posts() == []
    await bench.post(await bench.claim())
    assert SHOWN in reads(bench.the_post())


async def test_a_short_pause_that_slack_asks_for_is_waited_out(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.fail_next("chat.postMessage", status=429, retry_after_seconds=3)
    posting = asyncio.create_task(bench.post(entry))
    await bench.rested(3)
    await posting
    assert SHOWN in reads(bench.the_post())


async def test_a_long_pause_is_left_to_the_worker(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.fail_next("chat.postMessage", status=429, retry_after_seconds=int(HALF_A_MINUTE))
    with pytest.raises(PlatformError) as refused:
        await bench.post(entry)
    assert refused.value.retry_after_seconds == HALF_A_MINUTE
    await bench.post(await bench.claim())
    assert SHOWN in reads(bench.the_post())


async def test_pauses_are_waited_out_for_ten_seconds_in_all(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.fail_next("chat.postMessage", times=2, status=429, retry_after_seconds=6)
    posting = asyncio.create_task(bench.post(entry))
    await bench.rested(6)
    with pytest.raises(PlatformError) as refused:
        await posting
    assert refused.value.retry_after_seconds == 6


async def test_a_post_that_hangs_is_looked_for_after_it(bench: Bench) -> None:
    """What the worker cuts off after a minute has arrived."""
    entry = await bench.ask()
    hang = bench.server.hang_next("chat.postMessage", after=True)
    posting = asyncio.create_task(bench.post(entry))
    await hang.reached.wait()
    await bench.until(bench.posts)
    posting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await posting
    hang.release()
    await bench.post(await bench.claim())
    assert SHOWN in reads(bench.the_post())


async def test_within_slacks_own_limits_twenty_questions_at_once_are_answered_once_each(bench: Bench) -> None:
    bench.server.use_tiers()
    entries = []
    for number in range(20):
        entries.append(await bench.ask(f"question {number}?"))
        await bench.store.finish(entries[-1].seq, entries[-1].status.DONE)
    lives = [await bench.open(entry) for entry in entries]
    for live in lives:
        live.text("The key ")
    posting = [asyncio.create_task(bench.post(entry)) for entry in entries]
    while not all(task.done() for task in posting):
        await bench.until(lambda: bench.time.waiting or all(task.done() for task in posting))
        bench.time.advance(1)
        await asyncio.sleep(0)
    failed = [entry for entry, task in zip(entries, posting, strict=True) if task.exception()]
    bench.time.advance(120)
    for entry in failed:
        await bench.post(entry)
    assert len(bench.posts()) == 20
    assert all(SHOWN in reads(post) for post in bench.posts())


# ------------------------------------------------------------------ edits and ends


async def test_the_answer_to_an_edited_question_takes_the_old_ones_place(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.post(entry, long_answer())
    assert len(bench.posts()) > 1
    edited = await bench.take_in(bench.general.messages[entry.address.thread], edit="1700000001.000000")
    await bench.open(edited)
    await bench.post(edited)
    assert SHOWN in reads(bench.the_post())


async def test_a_message_that_was_deleted_is_posted_anew(bench: Bench) -> None:
    entry, _ = await begin(bench)
    bench.server.world.remove(bench.the_post())
    await bench.post(entry)
    assert SHOWN in reads(bench.the_post())


async def test_a_message_that_may_not_be_changed_any_more_makes_way_for_another(bench: Bench) -> None:
    entry, draft = await begin(bench)
    bench.server.fail_next("chat.update", "edit_window_closed")
    await bench.post(entry)
    assert SHOWN in reads(bench.the_post())
    assert bench.the_post() is not draft


async def test_an_answer_nobody_waits_for_is_taken_back(bench: Bench) -> None:
    entry, _ = await begin(bench)
    await bench.platform.take_back(entry.message_key)
    assert bench.posts() == []


async def test_a_draft_whose_beginning_nobody_told_is_taken_back_too(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.lose_reply_of_next("chat.startStream")
    live = await bench.open(entry)
    live.text("The key ")
    await bench.until(bench.posts)
    await bench.platform.take_back(entry.message_key)
    assert bench.posts() == []


async def test_a_post_is_deleted_by_its_reference_with_all_its_parts(bench: Bench) -> None:
    entry = await bench.ask()
    ref = await bench.post(entry, long_answer())
    bench.server.world.remove(bench.posts()[0])
    await bench.platform.delete(ref, bench.ours)
    assert bench.posts() == []


async def test_the_error_post_takes_the_place_of_the_draft(bench: Bench) -> None:
    entry, _ = await begin(bench)
    bench.start()
    entry = await bench.give_up(entry, "The model is overloaded: ask again.")
    await bench.fail(entry, "The model is overloaded: ask again.")
    assert reads(bench.the_post()).startswith("The model is overloaded")
