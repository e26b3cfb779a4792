"""Texts that mean about the same, by the vectors of the search model."""

import asyncio
from collections.abc import Sequence

from storage.models.local.encoders import Embedder, Vector

# Cosine similarity from which two questions are one. The default model puts paraphrases of a question at .75 to .95 and
# questions about other things of the same document mostly below .65 (its own sample library's questions).
ALIKE = 0.72


class VectorMeaningGroups:
    """Implements MeaningGroups: each text joins the group whose first text it is most alike, if any.

    The first text of a group stays its measure, so groups do not drift and the result depends only on the order.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def group(self, texts: Sequence[str]) -> list[list[int]]:
        """Embeds in a thread. Raises ModelMissing."""
        return await asyncio.to_thread(self._group, texts)

    def _group(self, texts: Sequence[str]) -> list[list[int]]:
        leaders: list[Vector] = []
        groups: list[list[int]] = []
        for place, vector in enumerate(self._embedder.embed_passages(texts)):
            scores = [float(leader @ vector) for leader in leaders]
            best = max(range(len(scores)), key=scores.__getitem__, default=None)
            if best is not None and scores[best] >= ALIKE:
                groups[best].append(place)
            else:
                leaders.append(vector)
                groups.append([place])
        return groups
