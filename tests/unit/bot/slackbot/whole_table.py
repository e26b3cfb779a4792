"""The command table as a service has it, with every command that there is."""

from pathlib import Path

from core.domain.corpus import Source
from core.domain.ingest_report import IngestReport
from core.features.kept_answers import KeptAnswers
from core.service.commands.table import Commands
from tests.integration.platform_place import PlatformPlace
from tests.scripted import says
from tests.unit.core.answering.test_service import Desk
from tests.unit.core.library_builder import Shelf
from tests.unit.core.service.commands.counter import Counter


async def _nothing(source: Source, root: Path, only: str | None = None, *, kind: str | None = None) -> IngestReport:
    return IngestReport()


def whole_table() -> Commands:
    """Over an empty library."""
    shelf = Shelf()
    desk = Desk(shelf, says("Nothing."))
    kept = KeptAnswers(
        corpus=shelf.corpus, settings=shelf.settings, ingest=_nothing, folder=Path("kept"), clock=desk.clock
    )
    place = PlatformPlace(shelf=shelf)
    place.begin(desk.clock)
    return Counter(shelf, desk, kept=kept, additions=place.additions).commands
