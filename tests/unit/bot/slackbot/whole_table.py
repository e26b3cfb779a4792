"""The command table as a service has it, with every command that there is."""

from core.service.commands.table import Commands
from tests.integration.platform_files import build_kept, build_reviews
from tests.integration.platform_place import PlatformPlace
from tests.scripted import says
from tests.unit.core.answering.test_service import Desk
from tests.unit.core.library_builder import Shelf
from tests.unit.core.service.commands.counter import Counter


def whole_table() -> Commands:
    """Over an empty library."""
    shelf = Shelf()
    desk = Desk(shelf, says("Nothing."))
    place = PlatformPlace(shelf=shelf)
    place.begin(desk.clock)
    kept = build_kept(shelf, place.files, desk.clock)
    reviews = build_reviews(shelf, kept, place.staleness, desk.clock)
    return Counter(shelf, desk, kept=kept, additions=place.additions, reviews=reviews).commands
