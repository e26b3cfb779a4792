"""Local models run by fastembed, each loaded at its first use: texts to vectors, and how well a text answers.

One session with one thread serves all: texts are encoded one by one, side by side in as many threads as there are
cores. For the int8 defaults that is the fastest shape on x86 (batches only add padding), and it makes a result depend
only on its own text: int8 activations are scaled over a whole batch.
"""

import asyncio
import logging
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from core.thread_work import to_its_end
from storage.models.local.files import LocalModel
from storage.models.local.loading import load_cross_encoder, load_text_model, text_model_dimensions
from storage.text import plain, to_storable

if TYPE_CHECKING:
    import numpy as np
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"  # one dimension, length 1

MAX_THREADS = 8  # beyond this, a small model waits for memory bandwidth
QUERIES_KEPT = 256  # vectors of 1.5 kB each
PAIRS_KEPT = 1_024  # texts of passages, about 1 MB together
MODEL_TOKENS = 512  # read by BERT-like models; the rest of a text is cut off
# A token is at least one character, so a shorter text can't be cut off and need not be counted.
NEVER_TRUNCATED = MODEL_TOKENS - 2

_log = logging.getLogger(__name__)


class Embedder(Protocol):
    """Blocking and safe to call from several threads. Raises ModelMissing when the model can't be loaded."""

    @property
    def name(self) -> str:
        """Which model; known without loading it. Vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed_query(self, text: str) -> Vector: ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, in order."""
        ...

    def close(self) -> None: ...


class LocalEmbedder:
    """An Embedder on a fastembed model."""

    def __init__(self, model: LocalModel, cache_dir: "Path | None" = None, threads: int | None = None) -> None:
        self._spec = model
        self._cache_dir = cache_dir
        self._loading = Lock()
        self._model: TextEmbedding | None = None
        self._threads = ThreadPoolExecutor(threads or cores(), thread_name_prefix="embed")
        # A question is embedded by the search, by a second one in the focus, and by the sentence ranker.
        self._query_vectors = lru_cache(QUERIES_KEPT)(lambda text: self._embed(self._loaded(), text))

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def dimensions(self) -> int:
        return self._spec.dimensions or text_model_dimensions(self._spec.name)

    def embed_query(self, text: str) -> Vector:
        return self._query_vectors(self._spec.query_prefix + text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if not texts:
            return []
        model = self._loaded()
        prefixed = [self._spec.passage_prefix + text for text in texts]
        vectors = list(self._threads.map(lambda text: self._embed(model, text), prefixed))
        cut = sum(len(text) > NEVER_TRUNCATED and model.token_count([text]) >= MODEL_TOKENS for text in prefixed)
        if cut:
            _log.info("%d passages are longer than the model reads: their ends are found by their words only", cut)
        return vectors

    def close(self) -> None:
        self._threads.shutdown(wait=True)
        self._model = None

    def _loaded(self) -> "TextEmbedding":
        with self._loading:
            if self._model is None:
                self._model = load_text_model(self._spec, self._cache_dir)
            return self._model

    @staticmethod
    def _embed(model: "TextEmbedding", text: str) -> Vector:
        return cast("Vector", next(iter(model.embed([to_storable(text)], batch_size=1))))


def cores() -> int:
    """Cores this process may use, at most MAX_THREADS."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MAX_THREADS)


class _CrossEncoder:
    """Reads two texts together. Raises ModelMissing."""

    def __init__(self, model: LocalModel, cache_dir: Path | None = None) -> None:
        self._spec = model
        self._cache_dir = cache_dir
        self._model: TextCrossEncoder | None = None
        self._loading = Lock()
        self._threads = ThreadPoolExecutor(cores(), thread_name_prefix=model.name)
        # The steps of one question judge a quarter of their passages twice.
        self._rated = lru_cache(PAIRS_KEPT)(
            lambda first, second: _sigmoid(next(iter(self._loaded().rerank(first, [second]))))
        )

    async def close(self) -> None:
        """Finish current work; safe to repeat."""
        await to_its_end(self._threads.shutdown)

    def _rate(self, first: str, texts: Sequence[str]) -> list[float]:
        stored = to_storable(first)
        longest_first = sorted(range(len(texts)), key=lambda place: -len(texts[place]))  # no thread is left with one
        rated = self._threads.map(lambda place: self._rated(stored, to_storable(plain(texts[place]))), longest_first)
        return [rate for _, rate in sorted(zip(longest_first, rated, strict=True))]

    def _loaded(self) -> "TextCrossEncoder":
        with self._loading:
            if self._model is None:
                self._model = load_cross_encoder(self._spec, self._cache_dir)
            return self._model


class CrossEncoderJudge(_CrossEncoder):
    """An AnswerJudge on a cross-encoder."""

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        return await asyncio.to_thread(self._rate, question, texts)


class CrossEncoderSupport(_CrossEncoder):
    """A SupportModel on a cross-encoder."""

    async def support(self, sentence: str, quotes: str) -> float:
        [probability] = await asyncio.to_thread(self._rate, sentence, [quotes])
        return probability


def _sigmoid(logit: float) -> float:
    """1 / (1 + e^-x), without overflow for large negative logits."""
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else 1 - 1 / (1 + math.exp(logit))
