"""How well a text answers, by a cross-encoder."""

import asyncio
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from core.thread_work import to_its_end
from storage.models.local.embeddings import cores
from storage.models.local.files import LocalModel
from storage.models.local.loading import load_cross_encoder
from storage.text import plain, to_storable

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder


class CrossEncoderJudge:
    """An AnswerJudge on a cross-encoder that fastembed runs; loaded at its first use. Raises ModelMissing.

    Pairs are judged one by one, side by side, so that a score depends only on its pair.
    """

    def __init__(self, model: LocalModel, cache_dir: Path | None = None) -> None:
        self._spec = model
        self._cache_dir = cache_dir
        self._model: TextCrossEncoder | None = None
        self._loading = Lock()
        self._threads = ThreadPoolExecutor(cores(), thread_name_prefix="judge")

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        return await asyncio.to_thread(self._relevance, question, texts)

    async def close(self) -> None:
        """Finish current work; safe to repeat."""
        await to_its_end(self._threads.shutdown)

    def _relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        model, asked = self._loaded(), to_storable(question)
        pairs = [to_storable(plain(text)) for text in texts]
        return list(self._threads.map(lambda text: _sigmoid(next(iter(model.rerank(asked, [text])))), pairs))

    def _loaded(self) -> "TextCrossEncoder":
        with self._loading:
            if self._model is None:
                self._model = load_cross_encoder(self._spec, self._cache_dir)
            return self._model


def _sigmoid(logit: float) -> float:
    """1 / (1 + e^-x), without overflow for large negative logits."""
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else 1 - 1 / (1 + math.exp(logit))
