"""What resolving references adds to a question: `python -m tests.benchmarks.bench_references [SIZE ...]`.

Made-up notes, with five words of 3,000 in their titles and an alias, in a SQLite file. A question names three: one by
its title, one with a heading, one with a slip in it, so that the nearest have to be found; passages and lines are read.
A line is made once: the first time a note is named costs more, and both are told. CPU is that of all threads together:
on a busy machine it is what counts. The target is 100 ms at the 95th percentile with 10,000 notes.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import quantiles

from rich.console import Console
from rich.table import Table

from core.domain.corpus import Document, SearchScope
from core.domain.incoming import IncomingMessage
from core.knowledge.library import Library
from core.knowledge.references.document_lines import DocumentLines
from core.knowledge.references.service import References
from storage.database import Database
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.summaries import SqlSummaryRepository
from tests.builders import build_document, build_incoming, build_pages, build_passages, build_scope, build_source
from tests.fakes import ManualClock, MemoryIndex
from tests.stores import Stores

SIZES = (1_000, 10_000)
QUESTIONS = 200
TARGET_MS = 100.0
SEED = 7
SYLLABLES = tuple(f"{first}{rest}" for first in "bcdlmnrst" for rest in "aeiou")
TEXT = "# Place\n\nWhere the boats lie in winter, when the harbour is closed to all but the pilots.\n\n" * 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    table = Table(
        "notes", "first look-up ms", "p50 ms", "p95 ms", "CPU p95 ms", "again p95 ms", "100 links p95 ms", "target"
    )
    for size in parser.parse_args().sizes:
        table.add_row(*asyncio.run(_measure(size)))
    Console().print(table)


async def _measure(size: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "notes.db")
        try:
            return await _run(database, size)
        finally:
            await database.close()


async def _run(database: Database, size: int) -> list[str]:
    chance = random.Random(SEED)
    corpus = SqlCorpusRepository(database)
    notes = await _fill(corpus, size, chance)
    library = Library(corpus=corpus, index=MemoryIndex(), conversations=Stores().conversations)
    lines = DocumentLines(corpus=corpus, summaries=SqlSummaryRepository(database))
    references = References(library=library, corpus=corpus, lines=lines, clock=ManualClock())
    scope = build_scope(build_source())
    cold, _ = await _timed(lambda: library.find_linked(["anything"], scope))
    asked = [_question(chance.sample(notes, 3)) for _ in range(QUESTIONS)]
    first = [await _timed(_resolving(references, question, scope)) for question in asked]
    again = [await _timed(_resolving(references, question, scope)) for question in asked]
    crowded = [_crowded(chance.sample(notes, min(100, size))) for _ in range(QUESTIONS // 10)]
    many = [await _timed(_resolving(references, question, scope)) for question in crowded]
    walls, used = zip(*first, strict=True)
    p95 = _percentile(walls, 95)
    met = "met" if p95 <= TARGET_MS else "MISSED"
    others = (_percentile([wall for wall, _ in timed], 95) for timed in (again, many))
    times = (cold, _percentile(walls, 50), p95, _percentile(used, 95), *others)
    return [f"{size:,}", *(f"{ms:,.1f}" for ms in times), met if size >= SIZES[-1] else ""]


def _resolving(
    references: References, question: IncomingMessage, scope: SearchScope
) -> Callable[[], Awaitable[object]]:
    return lambda: references.of(question, [], scope)


async def _fill(corpus: SqlCorpusRepository, size: int, chance: random.Random) -> Sequence[Document]:
    words = ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(3_000)]
    await corpus.save_source(build_source())
    notes = [
        build_document(
            f"area {number % 40}/{'-'.join(chance.sample(words, 3))}-{number}.md",
            title=" ".join(chance.sample(words, 5)),
            aliases=(" ".join(chance.sample(words, 2)),),
        )
        for number in range(size)
    ]

    for note in notes:
        pages = build_pages(note, TEXT)
        await corpus.switch_revision(note, pages, build_passages(pages))
    return notes


def _question(notes: Sequence[Document]) -> IncomingMessage:
    first, second, third = (note.title for note in notes)
    return build_incoming(f"How do [[{first}]] and [[{second}#Place]] go with [[{third[:-1]}x]]?")


def _crowded(notes: Sequence[Document]) -> IncomingMessage:
    return build_incoming(" ".join(f"[[{note.title}]]" for note in notes))


async def _timed(work: Callable[[], Awaitable[object]]) -> tuple[float, float]:
    """Milliseconds by the clock, and of all cores."""
    started, used = time.perf_counter(), time.process_time()
    await work()
    return (time.perf_counter() - started) * 1_000, (time.process_time() - used) * 1_000


def _percentile(times: Sequence[float], percent: int) -> float:
    return quantiles(times, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    main()
