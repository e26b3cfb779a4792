"""Latency and memory of the embedded index, on made-up passages: `python -m tests.benchmarks.bench_search [SIZE ...]`.

Passages are random words (a few frequent, many rare) with random vectors; questions go through the packaged model, so a
time is that of a whole search: embedding, both prefetches with their filter, fusion. Each size has its own process.
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

from core.domain.corpus import IndexEntry, SearchQuery, SearchScope
from storage.embeddings import LocalEmbedder
from storage.memory_index import HashEmbedder
from storage.model_files import find_embedding_model
from storage.qdrant.index import QdrantIndex
from storage.qdrant.opening import embedded_index
from tests.unit.storage.search_builders import build_entry

SIZES = (1_000, 10_000, 100_000)
QUESTIONS = 200
WORDS_A_PASSAGE = 130
VOCABULARY = 30_000
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

    def embed_query(self, text: str) -> object:
        return self._questions.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> list[object]:
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
        question = "What is the " + " ".join(_word(dice) for _ in range(5)) + "?"
        started = time.perf_counter()
        await index.search(SearchQuery(text=question), scope)
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


def _word(dice: random.Random) -> str:
    """A word of rank 1 to VOCABULARY, frequent ones far more often (Zipf's law, near enough)."""
    return f"w{int(VOCABULARY ** dice.random())}x"


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
