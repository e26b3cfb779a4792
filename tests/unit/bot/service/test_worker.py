"""What a worker loads before the first question."""

from pathlib import Path

from bot.config import Config
from bot.service.worker import warm
from bot.wiring.parts import open_parts
from core.text import language


async def test_a_worker_loads_its_models_and_the_languages_before_the_first_question(tmp_path: Path) -> None:
    language._identifier.cache_clear()
    async with open_parts(Config(data_dir=tmp_path)) as app:
        await warm(app)

        assert language._identifier.cache_info().currsize == 1
        assert app.embedder._model is not None
        assert app.judge._model is not None
        assert "_loaded" in vars(app.turn_model)
