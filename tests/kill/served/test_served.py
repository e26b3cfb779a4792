"""The kill tests of the real service in short; `make kill-test` is the long one."""

import signal

import pytest

from tests.kill.served.counting import Faults, Said, judge
from tests.kill.served.disk import FullDisk
from tests.kill.served.harness import SHUTDOWN_SECONDS, Harness, Plan

# Tens of seconds on a quiet machine; a busy one gets its time.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
SHORT_LIFE = 1.5


async def test_nothing_is_lost_repeated_or_confused_when_the_service_is_killed_at_any_moment(tmp_path):
    plan = Plan(questions=40, threads=4, ends=5, seed=3, longest_life=SHORT_LIFE)
    report = await Harness(plan, tmp_path).run()

    assert report.complaints == []
    assert report.faults.details() == []
    assert sum(report.statuses.values()) == 40
    assert sum(map(bool, report.hits)) >= 3  # kills that hit answers in the making


async def test_nothing_is_lost_repeated_or_confused_when_the_service_is_stopped_and_each_stop_is_quick(tmp_path):
    report = await Harness(
        Plan(questions=24, threads=4, ends=3, seed=4, ending=signal.SIGTERM, longest_life=SHORT_LIFE), tmp_path
    ).run()

    assert report.complaints == []
    assert report.faults.details() == []
    assert report.statuses == {"answered": 24}
    assert any(report.hits)
    assert report.longest_end < 2 * SHUTDOWN_SECONDS  # a busy machine is late itself; `make kill-test` is strict


async def test_while_the_disk_is_full_people_are_told_so_and_what_was_accepted_is_answered_when_there_is_room(tmp_path):
    report = await FullDisk(tmp_path, questions=18, threads=3).run()

    assert report.complaints == []
    assert report.faults.details() == []
    assert report.refused >= 12  # six questions, sent twice
    assert report.statuses == {"answered": 18}
    assert len(report.sentences) == 1
    assert "was not taken in: send it again later. The database" in report.sentences.pop()


ASKED = ["one?", "two?"]


def said(*words: str) -> list[Said]:
    """`one?` is the question, `one!` the answer to it."""
    return [Said(f"{word[:-1]}?", is_answer=word.endswith("!")) for word in words]


@pytest.mark.parametrize(
    ("told", "faults"),
    [
        (said("one?", "one!", "two?", "two!"), Faults()),
        (said("one?", "one!", "two?"), Faults(lost={"two?"})),
        (said("two?", "two!"), Faults(lost={"one?"})),
        (said("one?", "one!", "one!", "two?", "two!"), Faults(duplicate={"one?"})),
        (said("one?", "one!", "two?", "two!", "one?"), Faults(duplicate={"one?"})),
        (said("two?", "two!", "one?", "one!"), Faults(disordered={"one?", "two?"})),
        (said("one?", "two?", "one!", "two!"), Faults(disordered={"one?", "two?"})),
        (said("one?", "two!", "two?", "one!"), Faults(disordered={"one?", "two?"})),
        (said("one?", "one!", "six?", "two?", "two!"), Faults(disordered={"six?"})),
    ],
)
def test_the_judge_sees_what_is_lost_repeated_or_confused(told, faults):
    assert judge(told, ASKED) == faults
