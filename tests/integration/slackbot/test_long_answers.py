"""Random long answers on a Slack that counts blocks as the real one does: all of them are delivered whole.

`python -m tests.integration.long_answers slack 5000` delivers more.
"""

import pytest

from bot.slackbot.delivery import platform as delivery
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


async def test_an_answer_that_slack_takes_in_no_form_is_a_file(bench: Bench) -> None:
    entry = await bench.ask()
    bench.server.fail_next("chat.postMessage", error="msg_blocks_too_long", times=3)
    await bench.post(entry, "The key hangs[1].")
    [file] = bench.team.files.values()
    assert (file.name, b"The key hangs[1].\n\n[1] Guide" in file.data) == ("answer.md", True)
    assert delivery.IN_A_FILE in text_of(bench.posts()[0])
