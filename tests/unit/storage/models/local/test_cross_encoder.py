import math
from collections.abc import AsyncIterator

import pytest

from storage.models.local import encoders as judging
from storage.models.local.encoders import CrossEncoderJudge
from storage.models.local.files import find_reranker


@pytest.fixture
async def judge() -> AsyncIterator[CrossEncoderJudge]:
    judge = CrossEncoderJudge(find_reranker(None))
    yield judge
    await judge.close()


async def test_the_judge_tells_an_answer_from_something_else(judge: CrossEncoderJudge) -> None:
    texts = ["A spyglass costs 1,000 gp.", "Holidays are requested by mail."]

    answer, other = await judge.relevance("How much does a spyglass cost?", texts)

    assert 0 <= other < 0.1 < 0.9 < answer <= 1


async def test_a_judgement_does_not_depend_on_its_neighbours(judge: CrossEncoderJudge) -> None:
    alone = await judge.relevance("How much is it?", ["It costs 5 gp."])

    assert await judge.relevance("How much is it?", ["It costs 5 gp.", "Long. " * 200]) == [
        alone[0],
        pytest.approx(0, abs=0.5),
    ]


async def test_half_a_surrogate_pair_is_judged_like_any_odd_sign(judge: CrossEncoderJudge) -> None:
    halves = await judge.relevance("How much\ud800 is it?", ["It costs\ud83d 5 gp."])

    assert halves == await judge.relevance("How much\ufffd is it?", ["It costs\ufffd 5 gp."])


async def test_no_texts_need_no_judge(judge: CrossEncoderJudge) -> None:
    assert await judge.relevance("How much?", []) == []


@pytest.mark.parametrize(
    ("logit", "expected"), [(0.0, 0.5), (800.0, 1.0), (-800.0, 0.0), (2.0, 1 / (1 + math.exp(-2)))]
)
def test_logits_of_any_size_become_probabilities(logit: float, expected: float) -> None:
    if logit < -700:
        with pytest.raises(OverflowError):
            math.exp(-logit)
    assert judging._sigmoid(logit) == pytest.approx(expected)
