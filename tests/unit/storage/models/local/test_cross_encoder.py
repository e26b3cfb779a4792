import math
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from onnxruntime import InferenceSession, SessionOptions

from storage.models.local import encoders as judging
from storage.models.local import loading
from storage.models.local.encoders import CrossEncoderJudge, CrossEncoderSupport
from storage.models.local.files import (
    FITTED_FOLDER,
    TURN_FILE,
    LocalModel,
    find_embedding_model,
    find_reranker,
    support_model,
)
from storage.models.local.loading import (
    EXACT_PRODUCTS,
    SUM,
    SUMS_FILE,
    count_exactly,
    load_cross_encoder,
    load_text_model,
    load_turn_model,
)


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


async def test_quotes_support_what_they_say_more_than_the_contrary() -> None:
    quote = "In May Petra sold her old boat to Jonas, who painted it green."
    true = ["Petra sold her boat to Jonas.", "Jonas bought the boat from Petra.", "Jonas painted the boat green."]
    false = ["Jonas sold the boat to Petra.", "Petra didn't sell the boat.", "Petra sold the boat because it leaked."]
    model = CrossEncoderSupport(support_model())
    said = [await model.support(sentence, quote) for sentence in true]
    unsaid = [await model.support(sentence, quote) for sentence in false]
    await model.close()

    assert max(said) <= 1 and min(said) > 0.5 > max(unsaid) and min(unsaid) >= 0


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


async def test_a_pair_is_judged_by_the_model_once(judge: CrossEncoderJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Counting:
        def __init__(self, model: LocalModel, cache_dir: Path | None) -> None:
            self._model = load_cross_encoder(model, cache_dir)

        def rerank(self, question: str, texts: Sequence[str]) -> Iterable[float]:
            shown.extend(texts)
            return self._model.rerank(question, texts)

    monkeypatch.setattr(judging, "load_cross_encoder", Counting)
    first = await judge.relevance("Who keeps the key?", ["Ada keeps the key.", "The key is brass."])
    again = await judge.relevance("Who keeps the key?", ["The key is brass.", "Ada keeps the key."])
    other = await judge.relevance("Is the key brass?", ["The key is brass."])
    assert again == first[::-1]
    assert other != first[1:]
    assert sorted(shown) == ["Ada keeps the key.", "The key is brass.", "The key is brass."]


def test_models_count_exactly_on_a_processor_that_cuts_sums_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "cuts_sums_off", lambda: True)
    key, exact = EXACT_PRODUCTS
    sessions = (
        load_cross_encoder(find_reranker(None)).model.model,
        load_cross_encoder(support_model()).model.model,
        load_text_model(find_embedding_model(None)).model.model,
        load_turn_model(FITTED_FOLDER / TURN_FILE)[0],
    )

    assert [session.get_session_options().get_session_config_entry(key) for session in sessions] == [exact] * 4


def test_sums_of_products_are_exact_on_this_processor() -> None:
    options = SessionOptions()

    count_exactly(options)

    found = InferenceSession(str(SUMS_FILE), options).run(None, {"a": np.full((1, 8), 255, np.uint8)})
    assert found[0].tolist() == [[SUM]]


def test_the_slow_way_is_left_to_processors_that_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "cuts_sums_off", lambda: False)
    options = SessionOptions()

    count_exactly(options)

    with pytest.raises(RuntimeError, match="does not have configuration"):
        options.get_session_config_entry(EXACT_PRODUCTS[0])
