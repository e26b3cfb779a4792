"""How fast a folder is ingested, against the bare embedder and LlamaIndex over the same embedded texts, in one run.

    python -m tests.benchmarks.bench_ingest [FOLDER] [--copies N] [--resync]

Goals: at least 85 % of the bare embedder's tokens a second, at least twice LlamaIndex's; a sync of a folder that has
not changed, the whole command from its start, takes at most 2 s and 1 ms a file. Times are wall-clock times on
a machine that should have nothing else to do; the processor seconds beside them tell when it had. LlamaIndex takes
part when the dependency group `bench` is installed.
"""

import argparse
import asyncio
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from core.domain.ingest_report import IngestReport
from core.domain.read_limits import ReadLimits
from core.knowledge.sources import add_source
from storage.database import Database
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.documents.pipeline import Ingestor
from storage.documents.sandbox import Sandbox
from storage.index.opening import embedded_index
from storage.models.local.encoders import LocalEmbedder, Vector, cores
from storage.models.local.files import MODEL_FILE, LocalModel, find_embedding_model
from tests.fakes import ManualClock

SAMPLE = Path(__file__).parents[2] / "bot" / "sample_library"
# Texts that LlamaIndex is given, at most: it is the slow one, and its speed does not depend on their number.
PEER_TEXTS = 400
# Files of the folder that is synced once more; how often; and what each core has to do beside it, in the second case.
SYNCED_FILES = 1_000
RESYNCS = 3
BUSY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    name: str
    texts: int
    tokens: int
    seconds: float
    cpu_seconds: float

    @property
    def speed(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds


class RecordingEmbedder(LocalEmbedder):
    """The embedder that ingestion uses, keeping the texts it was given."""

    def __init__(self, model: LocalModel) -> None:
        super().__init__(model)
        self.texts: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.texts += texts
        return super().embed_passages(texts)


class Watch:
    """Wall-clock and processor seconds, children that have ended included."""

    def __init__(self) -> None:
        self._started, self._cpu = time.perf_counter(), self._processor()

    def stop(self, name: str, texts: Sequence[str], tokens: int) -> Measure:
        seconds, cpu = time.perf_counter() - self._started, self._processor() - self._cpu
        return Measure(name=name, texts=len(texts), tokens=tokens, seconds=seconds, cpu_seconds=cpu)

    @staticmethod
    def _processor() -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system


async def ingest(folder: Path, data_dir: Path, embedder: LocalEmbedder) -> IngestReport:
    """The whole way: list, read, cut, embed, index, commit, compact."""
    database = await Database.open(data_dir / "bench.db")
    index = embedded_index(data_dir, embedder)
    limits = ReadLimits()
    corpus = SqlCorpusRepository(database)
    ingestor = Ingestor(
        corpus=corpus,
        index=index,
        clock=ManualClock(),
        sandbox=Sandbox(limits),
        limits=limits,
    )
    try:
        place = await add_source(corpus, "local", folder)
        return await ingestor.ingest(place.source, folder)
    finally:
        await index.close()
        await database.close()


def token_count(embedder: LocalEmbedder, texts: Sequence[str]) -> int:
    model = embedder._loaded()
    return sum(model.token_count([text]) for text in texts)


def run_bare(embedder: LocalEmbedder, texts: Sequence[str]) -> Measure:
    """The model's best shape on processors: one text a call, as many threads as cores."""
    tokens = token_count(embedder, texts)
    model = embedder._loaded()
    with ThreadPoolExecutor(cores()) as threads:
        watch = Watch()
        list(threads.map(lambda text: next(iter(model.embed([text], batch_size=1))), texts))
        return watch.stop("bare embedder", texts, tokens)


def run_llama_index(spec: LocalModel, embedder: LocalEmbedder, texts: Sequence[str]) -> Measure | None:
    """LlamaIndex's ingestion pipeline with its FastEmbed integration as it comes, on the same model files."""
    if importlib.util.find_spec("llama_index") is None:
        return None
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType
    from llama_index.core.ingestion import IngestionPipeline
    from llama_index.core.schema import TextNode
    from llama_index.embeddings.fastembed import FastEmbedEmbedding

    peer = FastEmbedEmbedding.model_construct(model_name=spec.name, doc_embed_type="default")
    TextEmbedding.add_custom_model(
        model="peer",
        pooling=PoolingType.CLS,
        normalization=True,
        sources=ModelSource(hf="none/none"),
        dim=embedder.dimensions,
        model_file=MODEL_FILE,
    )
    peer._model = TextEmbedding("peer", specific_model_path=str(spec.folder))
    tokens = token_count(embedder, texts)
    nodes = [TextNode(text=text) for text in texts]
    watch = Watch()
    IngestionPipeline(transformations=[peer]).run(nodes=nodes)
    return watch.stop("LlamaIndex", texts, tokens)


def run(folder: Path, copies: int) -> list[Measure]:
    spec = find_embedding_model(None)
    embedder = RecordingEmbedder(spec)
    embedder.embed_query("load the model before the clock starts")
    with tempfile.TemporaryDirectory() as temporary:
        source = _copied(folder, Path(temporary) / "documents", copies)
        watch = Watch()
        asyncio.run(ingest(source, Path(temporary) / "data", embedder))
        whole = watch.stop("ingest", embedder.texts, 0)
    texts = list(embedder.texts)
    bare = run_bare(embedder, texts)
    whole = Measure(
        name=whole.name, texts=whole.texts, tokens=bare.tokens, seconds=whole.seconds, cpu_seconds=whole.cpu_seconds
    )
    peer = run_llama_index(spec, embedder, texts[:PEER_TEXTS])
    embedder.close()
    return [whole, bare, *([peer] if peer else [])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resync:
    """Seconds of the whole command `footnote sync` over a folder of small files, from its start to its end."""

    unchanged: float  # since the last one; the median of RESYNCS
    cpu: float  # processor seconds of that
    changed: float  # after one file of all has changed
    busy: float  # unchanged, while every core has BUSY other things to do


def resync(files: int) -> Resync:
    """Measured in a folder of its own."""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        for number in range(files):
            file = place / "notes" / f"{number % 20}" / f"{number}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# Note {number}\n\nThe mill stands by the river, and its wheel turned {number} times.\n")
        config = place / "config.toml"
        config.write_text(
            f'data_dir = "{place / "data"}"\n[[sources]]\nname = "notes"\nkind = "folder"\npath = "{place / "notes"}"\n'
        )
        command = [sys.executable, "-m", "bot", "--config", str(config), "sync"]

        def run_once() -> Measure:
            watch = Watch()
            subprocess.run(command, check=True, capture_output=True)
            return watch.stop("sync", (), 0)

        run_once()
        quiet = sorted((run_once() for _ in range(RESYNCS)), key=lambda measure: measure.seconds)[RESYNCS // 2]
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY * cores())]
        busy = sorted(run_once().seconds for _ in range(RESYNCS))[RESYNCS // 2]
        for other in others:
            other.kill()
            other.wait()
        (place / "notes" / "7" / "7.md").write_text("# Note 7\n\nThe wheel of the mill stands still.\n")
        return Resync(unchanged=quiet.seconds, cpu=quiet.cpu_seconds, changed=run_once().seconds, busy=busy)


def _copied(folder: Path, target: Path, copies: int) -> Path:
    """Copies of the folder's files, each told apart by its folder: a small library made large enough to measure."""
    for number in range(copies):
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            place = target / f"copy{number}" / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())
    return target


def show(measures: Sequence[Measure], console: Console) -> None:
    table = Table("", "texts", "tokens", "seconds", "processor s", "tokens/s", "of bare")
    bare = next(measure for measure in measures if measure.name == "bare embedder")
    for measure in measures:
        table.add_row(
            measure.name,
            f"{measure.texts:,}",
            f"{measure.tokens:,}",
            f"{measure.seconds:.1f}",
            f"{measure.cpu_seconds:.1f}",
            f"{measure.speed:,.0f}",
            f"{measure.speed / bare.speed:.0%}",
        )
    console.print(table)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    console.print(f"Peak memory: {own:,.0f} MB, largest child process {child:,.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=SAMPLE)
    parser.add_argument("--copies", type=int, default=40, help="times each file is ingested (40: some 20 s)")
    parser.add_argument("--resync", action="store_true", help="measure the sync of unchanged files alone")
    arguments = parser.parse_args()
    console = Console()
    if not arguments.resync:
        show(run(arguments.folder, arguments.copies), console)
    synced = resync(SYNCED_FILES)
    console.print(
        f"Sync of {SYNCED_FILES:,} unchanged files: {synced.unchanged:.2f} s ({synced.cpu:.2f} s of processor time), "
        f"{synced.busy:.2f} s on busy cores; with one file changed {synced.changed:.2f} s"
    )


if __name__ == "__main__":
    main()
