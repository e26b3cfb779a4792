"""How long a long PDF takes: its text, which people wait for, and its tables, which are looked for behind it.

    python -m tests.benchmarks.bench_pdf [FOLDER] [--pages N] [--scanned N] [--json]

The PDFs of FOLDER (default: pages of prose and tables made here) are put together, again and again, to one of N pages
(default: 200). Text is read in the child process with its limits, as an ingest does, without embedding; tables are
looked for in another, as an extraction does. With --scanned, so many of the pages are drawn at 150 dots an inch and
recognised.
Goal: the text of 200 pages within 20 s.
"""

import argparse
import asyncio
import io
import json
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pypdfium2
from rich.console import Console
from rich.table import Table

from core.domain.extracts import ExtractorInput
from core.domain.read_limits import ReadLimits
from storage.documents.child import ExtractTask, FoundInDocument, ReadDocument, ReadTask
from storage.documents.sandbox import READERS, RECOGNISING_READERS, Sandbox
from tests.builders import build_document
from tests.unit.storage.documents.pdf_files import Piece, Stroke, build_pdf

DPI = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One run; `found` are passages or tables."""

    name: str
    pages: int
    seconds: float
    cpu_seconds: float
    found: int


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path, nargs="?", help="a folder with PDFs")
    arguments.add_argument("--pages", type=int, default=200)
    arguments.add_argument("--scanned", type=int, default=0, help="pages to recognise (needs the extra ocr)")
    arguments.add_argument("--json", action="store_true", help="print JSON")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measures = asyncio.run(measure(Path(folder), chosen.folder, chosen.pages, chosen.scanned))
    if chosen.json:
        print(json.dumps([asdict(each) for each in measures], indent=2))  # noqa: T201 - its output
        return
    table = Table("what", "pages", "seconds", "of the processor", "found")
    for each in measures:
        table.add_row(each.name, str(each.pages), f"{each.seconds:.1f}", f"{each.cpu_seconds:.1f}", str(each.found))
    Console().print(table)


async def measure(place: Path, folder: Path | None, pages: int, scanned: int) -> list[Measure]:
    """The text and the tables of a long PDF, and the text of a scan."""
    whole = place / "long.pdf"
    whole.write_bytes(build_long(folder, pages))
    document, text = await _timed("text", READERS, lambda sandbox: _read(whole, sandbox))
    _, tables = await _timed("tables", READERS, lambda sandbox: _tables(whole, document, sandbox))
    measures = [text, tables]
    if scanned:
        scan = place / "scan.pdf"
        scan.write_bytes(build_scan(whole, scanned))
        _, text = await _timed("text of scans", RECOGNISING_READERS, lambda sandbox: _read(scan, sandbox))
        measures.append(text)
    return measures


async def _timed(
    name: str, readers: str, run: Callable[[Sandbox], Awaitable[tuple[ReadDocument, int]]]
) -> tuple[ReadDocument, Measure]:
    """One run in a child process of its own, its start included."""
    sandbox = Sandbox(ReadLimits(), readers)
    started, cpu = time.monotonic(), _cpu_seconds()
    try:
        document, found = await run(sandbox)
    finally:
        await sandbox.close()
    seconds = time.monotonic() - started
    pages = len(document.pages)
    return document, Measure(
        name=name, pages=pages, seconds=round(seconds, 2), cpu_seconds=round(_cpu_seconds() - cpu, 2), found=found
    )


async def _read(path: Path, sandbox: Sandbox) -> tuple[ReadDocument, int]:
    result = await sandbox.read(ReadTask(path=path, root=path.parent, workspace="local", document_id="d"))
    if not isinstance(result, ReadDocument):
        raise SystemExit(f"{path.name} was not read: {result.reason}")
    return result, len(result.passages)


async def _tables(path: Path, document: ReadDocument, sandbox: Sandbox) -> tuple[ReadDocument, int]:
    given = ExtractorInput(document=build_document(path.name, kind="pdf"), pages=document.pages, path=path)
    result = await sandbox.extract(ExtractTask(extractor="pdf_tables", given=given))
    if not isinstance(result, FoundInDocument):
        raise SystemExit(f"its tables were not found: {result.reason}")
    return document, len(result.found)


def _cpu_seconds() -> float:
    """Processor time of the child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def build_long(folder: Path | None, pages: int) -> bytes:
    """A PDF of so many pages; those that can't be opened are left out."""
    whole = pypdfium2.PdfDocument.new()
    parts = list(_parts(folder))
    while len(whole) < pages and parts:
        for part in parts:
            wanted = list(range(min(len(part), pages - len(whole))))
            if wanted:  # no pages would be all of them
                whole.import_pages(part, pages=wanted)
    return _saved(whole)


def build_scan(path: Path, pages: int) -> bytes:
    """The first pages as pictures."""
    drawn = [page.render(scale=DPI / 72).to_pil().convert("L") for page in islice(_opened(path), pages)]
    written = io.BytesIO()
    drawn[0].save(written, "PDF", resolution=DPI, save_all=True, append_images=drawn[1:])
    return written.getvalue()


def _parts(folder: Path | None) -> Iterator[Any]:
    if folder is None:
        yield pypdfium2.PdfDocument(build_pdf([_page(number) for number in range(20)], strokes=_strokes()))
        return
    for path in sorted(folder.rglob("*.pdf")):
        try:
            part = _opened(path)
        except pypdfium2.PdfiumError:
            continue  # damaged or encrypted
        if any(len(page.get_textpage().get_text_range()) > 200 for page in part):
            yield part


def _opened(path: Path) -> Any:
    return pypdfium2.PdfDocument(path)


def _page(number: int) -> list[Piece]:
    """A ruled table of forty rows under some prose."""
    prose = [
        (50, 780 - 14 * line, f"On page {number} the harbour board speaks of fares and boats, line {line}.")
        for line in range(10)
    ]
    cells = [(55 + 100 * column, 622 - 14 * row, f"{number}{row}.{column}") for row in range(40) for column in range(5)]
    return [*prose, *cells]


def _strokes() -> list[Stroke]:
    level: list[Stroke] = [(50, 634 - 14 * row, 550, 634 - 14 * row) for row in range(41)]
    return [*level, *((50 + 100 * column, 74, 50 + 100 * column, 634) for column in range(6))]


def _saved(document: Any) -> bytes:
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


if __name__ == "__main__":
    main()
