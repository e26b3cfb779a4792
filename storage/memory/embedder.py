"""An embedder that needs no model: for tests and for trying things out."""

import math
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.text.tokens import tokens

if TYPE_CHECKING:
    from storage.models.local.embeddings import Vector

HASH_DIMENSIONS = 256


class HashEmbedder:
    """An Embedder by feature hashing: texts that share words are near each other. The same on every machine."""

    name = "hash-256"
    dimensions = HASH_DIMENSIONS

    def embed_query(self, text: str) -> "Vector":
        import numpy as np

        vector = np.full(HASH_DIMENSIONS, 1e-3, dtype=np.float32)  # never all zero, which has no direction
        for word, times in Counter(tokens(text)).items():
            digest = zlib.crc32(b"sign" + word.encode())
            vector[digest % HASH_DIMENSIONS] += math.sqrt(times) * (1 if digest & 0x8000_0000 else -1)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def embed_passages(self, texts: Sequence[str]) -> "list[Vector]":
        return [self.embed_query(text) for text in texts]

    def close(self) -> None:
        """Nothing to release."""
