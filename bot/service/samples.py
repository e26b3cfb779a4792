"""The packaged sample library as a source: for the demo, and for people who try Footnote before adding documents."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

from bot.service.calls import OperationContext, operation
from bot.wiring.parts import Parts
from core.domain.ingest_report import IngestReport, ProgressCallback, ignore_progress

SAMPLES = "sample library"  # the source's name


@operation
async def add_sample_library(context: OperationContext, request: None) -> IngestReport:
    """Read the sample library into the command's workspace."""
    report = await add_samples(context.parts, context.workspace, context.emit)
    if context.service is not None:
        context.service.count_ingest(report)
    return report


async def add_samples(app: Parts, workspace: str, progress: ProgressCallback = ignore_progress) -> IngestReport:
    """Read the sample library. That of another copy of Footnote moves here: a source has only one folder."""
    with _folder() as location:
        known = await app.stores.corpus.find_source(workspace, SAMPLES)
        if known is not None and known.location != str(location):
            await app.stores.corpus.save_source(replace(known, location=str(location)))
        return await app.ingests.add([location], workspace, source=SAMPLES, progress=progress)


@contextmanager
def _folder() -> Iterator[Path]:
    with as_file(files("bot") / "sample_library" / "documents") as folder:
        yield Path(folder).resolve()


async def remove_samples(app: Parts, workspace: str) -> None:
    """Remove the sample library. NotFound if it isn't there."""
    await app.library.remove_source(workspace, SAMPLES)
    await app.syncs.forget(workspace, SAMPLES)
