"""A progress bar for ingestion, on standard error; nothing where that is not a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from core.domain.ingest_report import IngestProgress, ProgressCallback
from core.text.words import shorten

NAME_WIDTH = 40


@contextmanager
def ingest_progress(console: Console) -> Iterator[ProgressCallback]:
    """A callback that moves the bar."""
    columns = (
        TextColumn("{task.fields[stage]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[name]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("ingest", total=None, name="", stage="Reading")

        def update(progress: IngestProgress) -> None:
            name = escape(shorten(progress.path, NAME_WIDTH))
            bar.update(task, completed=progress.done, total=progress.total, name=name, stage=progress.stage)

        yield update
