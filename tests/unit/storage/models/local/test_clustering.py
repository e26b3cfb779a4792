"""Grouping by the packaged model's vectors."""

from collections.abc import Iterator

import pytest

from bot.config import Config
from storage.models.local.clustering import VectorMeaningGroups
from storage.models.local.encoders import LocalEmbedder
from storage.models.local.files import find_embedding_model

PARKING = (
    "Where can visitors park their cars?",
    "Is there a place for visitors to park?",
    "Where do guests park the car?",
)
WAGES = ("When are wages paid?", "On which day do we get our wages?")


@pytest.fixture(scope="module")
def embedder() -> Iterator[LocalEmbedder]:
    made = LocalEmbedder(find_embedding_model(Config().models.embedding))
    yield made
    made.close()


async def test_paraphrases_are_one_group_and_other_questions_another(embedder: LocalEmbedder) -> None:
    groups = await VectorMeaningGroups(embedder).group([PARKING[0], WAGES[0], *PARKING[1:], WAGES[1]])

    assert groups == [[0, 2, 3], [1, 4]]


async def test_every_text_is_in_one_group_and_nothing_gives_none(embedder: LocalEmbedder) -> None:
    texts = ["", "?", "Where is the key?", "Where is the key?"]
    groups = await VectorMeaningGroups(embedder).group(texts)

    assert sorted(place for group in groups for place in group) == [0, 1, 2, 3]
    assert [2, 3] in groups
    assert await VectorMeaningGroups(embedder).group([]) == []
