"""What a worker loads before the first question."""

from types import SimpleNamespace
from typing import cast

from bot.service.worker import warm
from bot.wiring.parts import Parts
from core.text import language
from tests.fakes import HashEmbedder


async def test_a_worker_loads_its_embedder_and_the_languages_before_the_first_question() -> None:
    language._identifier.cache_clear()
    await warm(cast(Parts, SimpleNamespace(embedder=HashEmbedder())))
    assert language._identifier.cache_info().currsize == 1
