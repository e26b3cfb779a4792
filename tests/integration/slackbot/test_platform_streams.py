"""An answer while it is written: a status line, a stream, and the final post in the same message."""

import asyncio

import pytest

from bot.presentation.action_names import find_part, post_id
from bot.slackbot.delivery.posts import APPEND_SECONDS, ARRIVAL_SECONDS, EACH_SHARE, RENEW_SECONDS, UPDATE_SECONDS
from core.domain.jobs import JobStatus
from tests.integration.slackbot.bench import SHOWN, Bench, reads, step

FIVE_MINUTES = 301.0


async def test_a_status_line_is_there_until_the_answer_comes(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.open(entry)
    await bench.until(lambda: bench.server.status(bench.general, entry.address.thread))
    await bench.post(entry)
    assert bench.server.status(bench.general, entry.address.thread) is None
    assert SHOWN in reads(bench.the_post())


async def test_the_status_line_is_renewed_before_it_fades(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.open(entry)
    await bench.rested(RENEW_SECONDS)
    await bench.until(lambda: bench.count("assistant.threads.setStatus") == 2)
    bench.time.advance(60)
    assert bench.server.status(bench.general, entry.address.thread)


async def test_a_question_that_was_taken_in_has_a_status_line_before_anybody_works_on_it(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.platform.show_status(entry.incoming)
    assert bench.server.status(bench.general, entry.address.thread)
    await bench.open(entry)
    await bench.post(entry)
    assert bench.server.status(bench.general, entry.address.thread) is None


async def test_the_first_words_are_streamed_at_once_into_the_thread(bench: Bench) -> None:
    entry = await bench.ask()
    live = await bench.open(entry)
    live.text("The key hangs ")
    draft = await bench.streams(words="The key hangs")
    assert draft.root == entry.address.thread
    assert find_part(draft.blocks) == (post_id(entry.message_key), 1)


async def test_further_words_come_together_after_a_pause(bench: Bench) -> None:
    live = await bench.open(await bench.ask())
    live.text("The key ")
    draft = await bench.streams(words="The key")
    for word in ("hangs ", "behind ", "the ", "door. "):
        live.text(word)
    assert bench.count("chat.appendStream") == 0
    await bench.rested(APPEND_SECONDS)
    await bench.until(lambda: draft.text == "The key hangs behind the door.")
    assert bench.count("chat.appendStream") == 1


async def test_the_first_words_do_not_wait_for_the_steps_before_them(bench: Bench) -> None:
    live = await bench.open(await bench.ask())
    live.step(step())
    draft = await bench.streams()
    await bench.until(lambda: APPEND_SECONDS in bench.time.waiting)
    live.text("The ")
    live.text("key ")
    await bench.until(lambda: draft.text.startswith("The"))
    assert draft.text.strip() in ("The", "The key")
    assert bench.count("chat.appendStream") == 1  # no pause was over by then


async def test_steps_are_tasks_of_a_plan_and_only_those_that_changed_are_sent(bench: Bench) -> None:
    live = await bench.open(await bench.ask())
    live.step(step("s1"))
    draft = await bench.streams()
    assert draft.stream is not None
    assert draft.stream.mode == "plan"
    assert [task["status"] for task in draft.stream.tasks] == ["in_progress"]
    live.step(step("s1", JobStatus.DONE))
    live.step(step("s2"))
    await bench.rested(APPEND_SECONDS)
    await bench.until(lambda: draft.stream and [t["status"] for t in draft.stream.tasks] == ["complete", "in_progress"])
    live.step(step("s2", JobStatus.DONE))
    await bench.rested(APPEND_SECONDS)
    await bench.until(lambda: bench.count("chat.appendStream") == 2)
    assert [chunk["id"] for chunk in bench.server.calls("chat.appendStream")[-1].params["chunks"]] == ["s2"]


async def test_the_answer_is_final_in_the_message_that_was_streamed(bench: Bench) -> None:
    entry = await bench.ask()
    live = await bench.open(entry)
    live.text("The key, I think, ")
    draft = await bench.streams()
    ref = await bench.post(entry)
    assert bench.the_post() is draft
    assert draft.stream is not None and draft.stream.ended
    assert SHOWN in reads(draft)
    assert "I think" not in reads(draft)
    assert ref == f"{bench.general.id}/{draft.ts}"


async def test_no_link_of_a_post_is_unfolded(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.post(entry)
    [call] = bench.server.calls("chat.postMessage")
    assert (call.params.flag("unfurl_links", True), call.params.flag("unfurl_media", True)) == (False, False)


async def test_an_answer_in_direct_messages_is_streamed_too(bench: Bench) -> None:
    asked = await bench.ada.say(bench.ada.dm, "where is the key?")
    entry = await bench.take_in(asked)
    live = await bench.open(entry)
    live.text("The key ")
    await bench.until(lambda: len(bench.posts(bench.ada.dm)) == 1)
    await bench.post(entry)
    assert SHOWN in reads(bench.the_post(bench.ada.dm))
    assert bench.the_post(bench.ada.dm).root == asked.ts


async def test_what_was_taken_back_is_not_shown_on(bench: Bench) -> None:
    entry = await bench.ask()
    live = await bench.open(entry)
    live.text("Let me look. ")
    draft = await bench.streams(words="Let me look.")
    live.reset()
    live.text("The key hangs. ")
    await bench.rested(APPEND_SECONDS)
    await bench.until(lambda: "The key hangs." in reads(draft))
    assert "Let me look" not in reads(draft)
    live.text("There it is. ")
    await bench.rested(UPDATE_SECONDS)
    await bench.until(lambda: "There it is." in reads(draft))
    await bench.post(entry)
    assert bench.the_post() is draft


async def test_a_stream_that_ends_by_itself_goes_on_as_changes_of_its_message(bench: Bench) -> None:
    entry = await bench.ask()
    live = await bench.open(entry)
    live.text("The key ")
    draft = await bench.streams(words="The key")
    await bench.rested(APPEND_SECONDS, passing=FIVE_MINUTES)
    live.text("hangs there. ")
    await bench.until(lambda: "hangs there." in reads(draft))
    assert draft.edits == 1
    await bench.post(entry)
    assert bench.the_post() is draft
    assert SHOWN in reads(draft)


async def test_a_stream_that_ended_by_itself_takes_the_final_post(bench: Bench) -> None:
    entry = await bench.ask()
    live = await bench.open(entry)
    live.text("The key ")
    draft = await bench.streams(words="The key")
    await bench.rested(APPEND_SECONDS, passing=FIVE_MINUTES)
    await bench.post(entry)
    assert bench.the_post() is draft
    assert SHOWN in reads(draft)


@pytest.mark.parametrize("error", ["unknown_method", "missing_recipient_user_id", "user_not_found"])
async def test_where_no_stream_may_begin_the_message_is_changed(bench: Bench, error: str) -> None:
    entry = await bench.ask()
    bench.server.fail_next("chat.startStream", error)
    live = await bench.open(entry)
    live.text("The key ")
    await bench.until(lambda: len(bench.posts()) == 1)
    live.text("hangs there. ")
    await bench.rested(UPDATE_SECONDS)
    await bench.until(lambda: "hangs there." in reads(bench.the_post()))
    await bench.post(entry)
    assert SHOWN in reads(bench.the_post())


async def test_without_room_for_another_stream_there_is_no_draft_but_an_answer(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.fail_next("chat.startStream", status=429, retry_after_seconds=30)
    live = await bench.open(entry)
    live.text("The key ")
    await bench.until(lambda: bench.count("chat.startStream") == 1)
    live.text("hangs there. ")
    assert bench.server.status(bench.general, entry.address.thread)
    await bench.post(entry)
    assert bench.count("chat.startStream") == 1
    assert SHOWN in reads(bench.the_post())


async def test_a_stream_waits_as_long_as_slack_asks_it_to(bench: Bench) -> None:
    live = await bench.open(await bench.ask())
    live.text("The key ")
    draft = await bench.streams(words="The key")
    bench.server.fail_next("chat.appendStream", status=429, retry_after_seconds=7)
    live.text("hangs there. ")
    await bench.rested(APPEND_SECONDS)
    await bench.until(lambda: 7 in bench.time.waiting)
    assert draft.text == "The key"
    await bench.rested(7)
    await bench.until(lambda: draft.text == "The key hangs there.")


async def test_words_whose_arrival_nobody_told_are_not_doubled(bench: Bench) -> None:
    live = await bench.open(await bench.ask())
    live.text("The key ")
    draft = await bench.streams(words="The key")
    bench.server.lose_reply_of_next("chat.appendStream")
    live.text("hangs there. ")
    await bench.rested(APPEND_SECONDS)
    await bench.until(lambda: draft.edits == 1)
    assert reads(draft).count("hangs there.") == 1


async def test_a_call_under_way_arrives_before_the_final_post(bench: Bench) -> None:
    entry = await bench.ask()
    live = await bench.open(entry)
    live.text("The key ")
    draft = await bench.streams(words="The key")
    hang = bench.server.hang_next("chat.appendStream")
    live.text("hangs there. ")
    await bench.rested(APPEND_SECONDS)
    await hang.reached.wait()
    hang.release()
    await bench.post(entry)
    assert [call.method for call in bench.server.calls("chat.*")] == [
        "chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update",
    ]  # fmt: skip
    assert SHOWN in reads(draft)


async def test_when_the_process_ends_the_stream_does_not_hang(bench: Bench) -> None:
    live = await bench.open(await bench.ask())
    live.text("The key ")
    draft = await bench.streams(words="The key")
    await bench.platform.close()
    assert draft.stream is not None and draft.stream.ended


async def test_a_line_that_no_message_takes_away_is_taken_away(bench: Bench) -> None:
    """The answer to a question that was edited comes in the old message."""
    entry = await bench.ask()
    await bench.post(entry)
    asked = bench.general.messages[entry.address.thread]
    edited = await bench.take_in(asked, edit="1700000001.000000")
    await bench.platform.show_status(edited.incoming)
    await bench.open(edited)
    await bench.until(lambda: "Working" in reads(bench.the_post()))
    await bench.post(edited)
    assert bench.server.status(bench.general, entry.address.thread) is None


async def test_many_drafts_at_once_share_what_slack_takes(bench: Bench) -> None:
    """A hundred pieces a minute, of all threads together."""
    entries = []
    for number in range(5):
        entries.append(await bench.ask(f"question {number}?"))
        await bench.store.finish(entries[-1].seq, entries[-1].status.DONE)
    for entry in entries:
        (await bench.open(entry)).text("The key ")
    await bench.until(lambda: len(bench.posts()) == 5 and EACH_SHARE * 5 in bench.time.waiting)
    assert [one.text.strip() for one in bench.posts()] == ["The key"] * 5


async def test_of_a_question_that_was_deleted_no_status_line_stays(bench: Bench) -> None:
    root = await bench.ada.say(bench.general, "the shed is locked")
    entry = await bench.ask(thread=root)
    await bench.open(entry)
    await bench.until(lambda: bench.server.status(bench.general, root))
    await bench.platform.take_back(entry.message_key)
    assert bench.server.status(bench.general, root) is None
    waiting = await bench.ask("and the shed?", thread=root)
    await bench.platform.show_status(waiting.incoming)
    await bench.platform.take_back(waiting.message_key)
    assert bench.server.status(bench.general, root) is None


async def test_a_status_line_that_hangs_holds_up_neither_the_first_words_nor_the_answer(bench: Bench) -> None:
    entry = await bench.ask()
    hang = bench.server.hang_next("assistant.threads.setStatus")
    live = await bench.open(entry)
    await hang.reached.wait()
    live.text("The key ")
    await bench.rested(ARRIVAL_SECONDS)
    await bench.streams(words="The key")
    posting = asyncio.create_task(bench.post(entry))
    await bench.rested(ARRIVAL_SECONDS)
    await posting
    assert SHOWN in reads(bench.the_post())


async def test_without_the_scope_for_a_status_line_the_answer_comes_all_the_same(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.fail_next("assistant.threads.setStatus", "missing_scope")
    await bench.platform.show_status(entry.incoming)
    await bench.open(entry)
    await bench.post(entry)
    assert SHOWN in reads(bench.the_post())
