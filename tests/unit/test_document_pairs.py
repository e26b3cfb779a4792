"""The questions to public documents, and the pairs that the search makes of them."""

import json
import random
import subprocess
from pathlib import Path

import pytest

from tests.training import document_pairs
from tests.training.document_pairs import DOCUMENTS
from tests.training.judge_pairs import Pair

ROTA = (
    "# Rota\n\nMira opens the shop at nine. The till is counted twice.\n\n# Boiler\n\nOnly Jon may open the boiler.\n"
)
ANSWER = "Mira opens the shop at nine."


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    """A folder with a clone of one repository, whose document has CRLF line ends."""
    clone = tmp_path / "clones" / "rota"
    clone.mkdir(parents=True)
    (clone / "rota.md").write_text(ROTA.replace("\n", "\r\n"), "utf-8")
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "Add"],
    ):
        subprocess.run(["git", "-C", str(clone), *command], check=True)
    return clone.parent


@pytest.fixture
async def pairs(clones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Pair]:
    """The pairs of one document with a question, a follow-up and a near miss."""
    begin = ROTA.index(ANSWER)
    asked = [{"q": "who is there first in the morning", "at": [begin, begin + len(ANSWER)]}]
    asked.append({"q": "and when?", "at": [begin, begin + len(ANSWER)], "after": asked[0]["q"]})
    line = {"name": "rota.md", "repo": "team/rota", "commit": "HEAD", "path": "rota.md", "questions": asked}
    (tmp_path / "rota.jsonl").write_text(json.dumps({**line, "near": ["who counts the till?"]}), "utf-8")
    monkeypatch.setattr(document_pairs, "DOCUMENTS", tmp_path)
    [found] = await document_pairs.document_pairs(clones, random.Random(1))
    return list(found.pairs)


async def test_passages_and_sentences_with_the_answer_answer_and_others_do_not(pairs: list[Pair]) -> None:
    own = [pair for pair in pairs if pair.asked == "who is there first in the morning"]
    assert {pair.label for pair in own if ANSWER in pair.passage} == {1}
    assert {pair.label for pair in own if ANSWER not in pair.passage} == {0}
    assert any(pair.passage.endswith("Only Jon may open the boiler.") for pair in own)


async def test_follow_ups_are_read_with_the_question_before_and_near_misses_have_no_answer(pairs: list[Pair]) -> None:
    assert any("first" in pair.asked and "when" in pair.asked for pair in pairs)
    assert {pair.label for pair in pairs if pair.asked == "who counts the till?"} == {0}


def test_every_answer_is_a_place_of_its_document() -> None:
    names = []
    for file in DOCUMENTS.glob("*.jsonl"):
        for line in map(json.loads, file.read_text("utf-8").splitlines()):
            names.append(line["name"])
            begin, end = line.get("part", (0, 10**9))
            assert len(line["commit"]) == 40, line["name"]
            assert all(0 <= each["at"][0] < each["at"][1] <= end - begin for each in line["questions"]), line["name"]
            asked = [each["q"] for each in line["questions"]] + line["near"]
            assert len(asked) == len(set(asked)), line["name"]
    assert len(names) == len(set(names)) > 250
