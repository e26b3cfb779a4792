"""Latency and memory of the embedded index, on made-up passages: `python -m tests.benchmarks.bench_search [SIZE ...]`.

Passages are 120 made-up words with random vectors. Words are drawn by Zipf's law from 50,000 (the tenth one ten times
rarer than the first) and made of syllables: the model cuts one in 2.7 pieces, so a question is a little longer to it
than a real one. Words of a question are not of the most frequent, as its stop words are not searched for. Questions go
through the packaged model: a time is that of a whole search, embedding, both prefetches with their filter, fusion, for
as many hits as the library asks for. Each size has its own process.
"""

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import quantiles

import numpy as np
from rich.console import Console
from rich.table import Table

from core.domain.corpus import SearchQuery, SearchScope
from core.domain.passages import IndexEntry
from storage.index.index import QdrantIndex
from storage.index.opening import embedded_index
from storage.models.local.encoders import LocalEmbedder, Vector
from storage.models.local.files import find_embedding_model
from tests.fakes import HashEmbedder
from tests.unit.storage.search_builders import build_entry

SIZES = (1_000, 10_000, 100_000)
QUESTIONS = 200
HITS = 40  # what the library asks for, to have enough left when some turn out stale
WORDS_A_PASSAGE = 120
VOCABULARY = 50_000
STOP_WORDS = 100  # the most frequent words, which questions leave out
SYLLABLES = tuple(f"{first}{rest}" for first in "bcdfglmnprst" for rest in ("al", "en", "is", "or", "u"))
PASSAGES_A_DOCUMENT = 40
SOURCES = 8
SEED = 7


class RandomPassages(HashEmbedder):
    """Real query vectors, random passage vectors: building takes seconds instead of the model's hours."""

    def __init__(self, questions: LocalEmbedder) -> None:
        self.name = questions.name
        self.dimensions = questions.dimensions
        self._questions = questions
        self._random = np.random.default_rng(SEED)

    def embed_query(self, text: str) -> Vector:
        return self._questions.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        vectors = self._random.standard_normal((len(texts), self.dimensions)).astype(np.float32)
        return list(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("sizes", nargs="*", type=int, default=SIZES, help="passages")
    arguments.add_argument("--one", type=int, help=argparse.SUPPRESS)
    chosen = arguments.parse_args()
    if chosen.one is not None:
        sys.stdout.write(json.dumps(asyncio.run(measure(chosen.one))))
        return
    rows = [_in_own_process(size) for size in chosen.sizes]
    table = Table(*rows[0], title="Question to passages, Qdrant Edge")
    for row in rows:
        table.add_row(*(f"{value:,}" for value in row.values()))
    Console().print(table)


async def measure(size: int) -> dict[str, float]:
    embedder = RandomPassages(LocalEmbedder(find_embedding_model(None)))
    with tempfile.TemporaryDirectory() as folder:
        index = embedded_index(Path(folder), embedder)
        started = time.perf_counter()
        for entries in _passages(size):
            await index.add(entries)
        added = time.perf_counter()
        await index.optimise()
        optimised = time.perf_counter()
        await index.close()
        reopened = embedded_index(Path(folder), embedder)
        opening = time.perf_counter()
        await reopened.count()
        opened = time.perf_counter()
        times = await _search(reopened)
        swept = time.perf_counter()
        await reopened.revisions()
        swept = time.perf_counter() - swept
        await reopened.close()
    cuts = quantiles(times, n=20)
    return {
        "passages": size,
        "add s": round(added - started, 1),
        "optimise s": round(optimised - added, 2),
        "reopen ms": round((opened - opening) * 1000),
        "p50 ms": round(cuts[9] * 1000, 1),
        "p95 ms": round(cuts[18] * 1000, 1),
        "revisions ms": round(swept * 1000),
        "memory MB": _resident_mb(),
    }


async def _search(index: QdrantIndex) -> list[float]:
    """Seconds of each question; the first three, which load the model, are left out."""
    dice = random.Random(SEED)
    scope = SearchScope(workspace="local", sources=frozenset(f"s{n}" for n in range(SOURCES - 1)), positions={"d": 3})
    times = []
    for _ in range(QUESTIONS + 3):
        question = "What is the " + " ".join(_word(dice, STOP_WORDS) for _ in range(5)) + "?"
        started = time.perf_counter()
        await index.search(SearchQuery(text=question, limit=HITS), scope)
        times.append(time.perf_counter() - started)
    return times[3:]


def _passages(size: int) -> Iterator[list[IndexEntry]]:
    dice = random.Random(SEED)
    for start in range(0, size, PASSAGES_A_DOCUMENT):
        yield [
            build_entry(
                " ".join(_word(dice) for _ in range(WORDS_A_PASSAGE)),
                document=f"{start}.md",
                ordinal=n,
                page=n // 4 + 1,
                source=f"s{start // PASSAGES_A_DOCUMENT % SOURCES}",
            )
            for n in range(min(PASSAGES_A_DOCUMENT, size - start))
        ]


def _word(dice: random.Random, most_frequent: int = 1) -> str:
    """A word of rank `most_frequent` to VOCABULARY, frequent ones far more often (Zipf's law)."""
    rank = int(most_frequent * (VOCABULARY / most_frequent) ** dice.random())
    word = ""
    while rank:
        rank, syllable = divmod(rank, len(SYLLABLES))
        word += SYLLABLES[syllable]
    return word


def _resident_mb() -> int:
    """Memory now (Linux), else the most so far."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) // 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024 // (1024 if sys.platform == "darwin" else 1)


def _in_own_process(size: int) -> dict[str, float]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.bench_search", "--one", str(size)], capture_output=True, check=True
    )
    found: dict[str, float] = json.loads(ran.stdout)
    return found


if __name__ == "__main__":
    main()
