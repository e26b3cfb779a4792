"""The kill tests of the real service in short; `make kill-test` is the long one."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.copying import copy_folder
from tests.kill.served.counting import Faults, Said, judge
from tests.kill.served.disk import NOT_TAKEN, FullDisk
from tests.kill.served.harness import SHUTDOWN_SECONDS, Harness, Plan
from tests.kill.served.process import Served

pytestmark = pytest.mark.slow  # tens of seconds on a quiet machine
SHORT_LIFE = 1.5


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the library in it."""
    served = Served(tmp_path_factory.mktemp("library"))
    asyncio.run(served.ingest())
    return served.data_dir


@pytest.fixture
def folder(library: Path, tmp_path: Path) -> Path:
    """A folder for a service that has a copy of it."""
    copy_folder(library, tmp_path / "data")
    return tmp_path


async def test_nothing_is_lost_repeated_or_confused_when_the_service_is_killed_at_any_moment(folder):
    plan = Plan(questions=40, threads=4, ends=5, seed=3, longest_life=SHORT_LIFE)
    report = await Harness(plan, folder).run()

    assert report.complaints == []
    assert report.faults.details() == []
    assert sum(report.statuses.values()) == 40
    assert sum(map(bool, report.hits)) >= 3  # kills that hit answers in the making


async def test_nothing_is_lost_repeated_or_confused_when_the_service_is_stopped_and_each_stop_is_quick(folder):
    plan = Plan(questions=24, threads=4, ends=3, seed=4, ending=signal.SIGTERM, longest_life=SHORT_LIFE)
    report = await Harness(plan, folder).run()

    assert report.complaints == []
    assert report.faults.details() == []
    assert report.statuses == {"answered": 24}
    assert any(report.hits)
    assert report.longest_end < 3 * SHUTDOWN_SECONDS  # a busy machine is late itself; `make kill-test` is strict


@pytest.mark.parametrize("dies", [False, True], ids=["goes on", "is killed meanwhile"])
async def test_people_are_told_when_the_disk_is_full_and_the_rest_is_answered_when_there_is_room(folder, dies):
    report = await FullDisk(folder, questions=18, threads=3, dies=dies).run()

    assert report.complaints == []
    assert report.faults.details() == []
    assert report.refused >= 12  # six questions, sent twice
    assert report.statuses == {"answered": 18}
    assert [sentence.startswith(NOT_TAKEN) for sentence in report.sentences] == [True]


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
