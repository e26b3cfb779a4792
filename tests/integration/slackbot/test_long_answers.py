"""Random long answers on a Slack that counts blocks as the real one does: all of them are delivered whole.

`python -m tests.integration.long_answers slack 5000` delivers more.
"""

import pytest

from bot.slackbot.delivery import platform as delivery
from core.errors import PlatformError
from tests.integration.long_answers import Tally, on_slack
from tests.integration.slackbot.bench import Bench
from tests.long_answers import random_answer
from tests.slack_server import text_of


async def test_random_answers_are_delivered_whole_with_their_footnotes(bench: Bench) -> None:
    tally = Tally()
    for seed in range(40):
        tally.add(random_answer(seed), await on_slack(bench, random_answer(seed)))
    assert tally.faults == []


@pytest.mark.parametrize("refused", [1, 2])
async def test_an_answer_whose_layout_slack_refuses_is_posted_in_a_plainer_one(bench: Bench, refused: int) -> None:
    entry = await bench.ask()
    bench.server.fail_next("chat.postMessage", error="invalid_blocks", times=refused)
    ref = await bench.post(entry, "# Keys\n\nThe key hangs[1].")
    said = bench.the_post()
    assert ref == f"{bench.general.id}/{said.ts}"
    assert "The key hangs" in text_of(said)
    assert "Guide" in text_of(said)


def table(rows: int) -> str:
    return "\n".join(["| Boat | Fare |", "|---|---|", *(f"| Boat number {row} | {row} € |" for row in range(rows))])


async def test_a_long_table_is_a_file_behind_the_answer(bench: Bench) -> None:
    entry = await bench.ask()
    ref = await bench.post(entry, f"The boats[1]:\n\n{table(900)}\n\nThey sail.")
    [file] = bench.team.files.values()
    assert (file.title, file.data.decode().count("\n")) == ("table-1.csv", 901)
    said, filed = bench.posts()
    assert "They sail." in text_of(said)
    assert filed.files == [file]
    assert ref == f"{bench.general.id}/{said.ts},{file.id}"


async def test_another_process_posts_the_files_once(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.lose_reply_of_next("files.completeUploadExternal")
    with pytest.raises(PlatformError):
        await bench.post(entry, table(900))
    bench.start()
    await bench.post(await bench.claim(), table(900))
    assert [file.title for file in bench.team.files.values() if not file.deleted] == ["table-1.csv"]


async def test_an_edited_question_has_the_files_of_its_new_answer(bench: Bench) -> None:
    entry = await bench.ask()
    await bench.post(entry, table(900))
    edited = await bench.take_in(bench.general.messages[entry.address.thread], edit="2")
    await bench.post(edited, "None[1].")
    assert all(file.deleted for file in bench.team.files.values())


async def test_files_are_deleted_with_their_answer(bench: Bench) -> None:
    ref = await bench.post(await bench.ask(), table(900))
    await bench.platform.delete(ref, bench.ours)
    assert all(file.deleted for file in bench.team.files.values())


async def test_where_files_are_refused_the_table_is_in_messages(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.fail_next("files.getUploadURLExternal", error="missing_scope")
    await bench.post(entry, table(900))
    assert "Boat number 899" in "".join(text_of(post) for post in bench.posts())


async def test_an_answer_that_slack_takes_in_no_form_is_a_file(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.fail_next("chat.postMessage", error="msg_blocks_too_long", times=3)
    await bench.post(entry, "The key hangs[1].")
    [file] = bench.team.files.values()
    assert (file.title, b"The key hangs[1].\n\n[1] Guide" in file.data) == ("answer.md", True)
    assert delivery.IN_A_FILE in text_of(bench.posts()[0])
