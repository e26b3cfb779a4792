"""The command table as a service has it, with every command that there is."""

from pathlib import Path

from core.chat_documents.keeping import KeptAnswers
from core.commands import Commands
from core.domain.corpus import Source
from core.ingestion.report import IngestReport
from core.providers.scripted import says
from tests.unit.core.commands.counter import Counter
from tests.unit.core.shelf import Shelf
from tests.unit.core.test_answering import Desk


async def _nothing(source: Source, root: Path, only: str | None = None, *, kind: str | None = None) -> IngestReport:
    return IngestReport()


def whole_table() -> Commands:
    """Over an empty library."""
    shelf = Shelf()
    desk = Desk(shelf, says("Nothing."))
    kept = KeptAnswers(
        corpus=shelf.corpus, settings=shelf.settings, ingest=_nothing, folder=Path("kept"), clock=desk.clock
    )
    return Counter(shelf, desk, kept=kept).commands
