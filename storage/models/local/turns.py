"""The turn model: the kind of a message among people. Fitted by tests/training/turns.py, run on one core."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain.turns import Act, Reading, Turn
from core.text.turn_reading import written
from core.thread_work import to_its_end
from storage.models.local.files import FITTED_FOLDER, TURN_FILE
from storage.models.local.loading import load_turn_model
from storage.text import to_storable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

READINGS_KEPT = 512
_ACTS = tuple(Act)


class LocalTurnModel:
    """A TurnModel; loaded at its first use. One thread runs it: a message takes a few milliseconds."""

    def __init__(self, file: Path = FITTED_FOLDER / TURN_FILE) -> None:
        self._file = file
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="turns")
        # A message is read when it comes, and again for its reply.
        self._read = lru_cache(READINGS_KEPT)(self._run)

    async def read(self, turn: Turn) -> Reading:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, *written(turn))

    async def close(self) -> None:
        """Finish current work; safe to repeat."""
        await to_its_end(self._thread.shutdown)

    def _run(self, before: str, said: str) -> Reading:
        import numpy as np

        session, tokenizer = self._loaded
        encoded = tokenizer.encode(to_storable(before), to_storable(said))
        inputs = {
            "input_ids": [encoded.ids],
            "attention_mask": [encoded.attention_mask],
            "token_type_ids": [encoded.type_ids],
        }
        [[logits]] = session.run(None, {name: np.array(values, dtype=np.int64) for name, values in inputs.items()})
        shares = np.exp(logits - logits.max())
        return Reading(dict(zip(_ACTS, (shares / shares.sum()).tolist(), strict=True)))

    @cached_property
    def _loaded(self) -> "tuple[InferenceSession, Tokenizer]":
        return load_turn_model(self._file)
