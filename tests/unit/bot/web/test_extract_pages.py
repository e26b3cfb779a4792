"""The pages of extracts: filters by links and a form, places that lead into the source viewer, nothing beyond scope."""

import html
import re
from dataclasses import replace
from urllib.parse import quote

import pytest

from bot.web.pages.extracts import PATH, ROWS
from core.domain.corpus import Document
from core.domain.extracts import ExtractType
from tests.unit.bot.web.conftest import OpenBrowser, Shelves, read
from tests.unit.core.library_builder import Shelf

SCRIPT = "<script>alert(1)</script>"
MINUTES = f"Ann buys paint {SCRIPT}.\n\nBen mends the pump."


@pytest.fixture
async def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
async def minutes(shelf: Shelf) -> Document:
    document = await shelf.add("council.md", MINUTES, title="Council")
    items = [
        {"description": f"buy paint {SCRIPT}", "owner": "Ann", "page_number": 1, "span": [0, 14]},
        {"description": "mend the pump", "owner": "Ben", "done": True, "page_number": 1, "span": [43, 62]},
    ]
    await shelf.extract(document, ExtractType.MEETING, {"title": "Council", "action_items": items})
    return document


@pytest.fixture
def changes(shelf: Shelf, shelves: Shelves) -> dict[str, object]:
    """What makes of the web's parts those over the shelf."""

    async def scope(thread: object, reader: str | None = None) -> object:
        return shelf.scope()

    return {"facts": shelf.facts, "corpus": shelf.corpus, "library": shelf.library, "scope": scope}


async def shown(browse: OpenBrowser, changes: dict[str, object], path: str, status: int = 200) -> str:
    return await read(await browse(**changes), path, status)


async def test_a_documents_rows_are_listed_and_lead_to_their_place(
    browse: OpenBrowser, changes: dict[str, object], minutes: Document
) -> None:
    page = await shown(browse, changes, f"{PATH}?document={quote(minutes.id)}")
    assert "3 rows" in page and "Data of Council" in page
    assert SCRIPT not in page and html.escape(SCRIPT) in page
    [first] = re.findall(r'<a href="(/library/pages/[^"]+from=0&amp;to=14[^"]*)">Council', page)
    opened = await shown(browse, changes, html.unescape(first).partition("#")[0])
    assert "<mark" in opened and "Ann buys paint" in opened
    assert "/library/extracts?document=" in opened


@pytest.mark.parametrize(
    ("query", "there", "missing"),
    [
        ("q=owner:Ann", "buy paint", "mend the pump"),
        ("q=open+action+items", "buy paint", "mend the pump"),
        ("type=action_item&q=done", "mend the pump", "buy paint"),
        ("type=meeting", "Council", "mend the pump"),
        ("q=zebra", "No matching rows", "mend the pump"),
        ("", "Newest", "Understood as"),
        ("q=type:nonsense", "Unknown type", "mend the pump"),
        ("type=nonsense", "Unknown type", "mend the pump"),
    ],
)
async def test_rows_are_narrowed_by_type_and_words(
    browse: OpenBrowser, changes: dict[str, object], minutes: Document, query: str, there: str, missing: str
) -> None:
    page = await shown(browse, changes, f"/library/extracts?{query}")
    assert there in page and missing not in page


async def test_many_rows_are_turned_a_page_at_a_time(
    browse: OpenBrowser, changes: dict[str, object], shelf: Shelf
) -> None:
    document = await shelf.add("long.md", "A long table.")
    rows = [[f"row-{number}"] for number in range(ROWS + 1)]
    await shelf.extract(document, ExtractType.TABLE, {"columns": ["name"], "rows": rows})
    first = await shown(browse, changes, "/library/extracts?type=row")
    second = await shown(browse, changes, "/library/extracts?type=row&page=2")
    assert "row-0" in first and f"row-{ROWS}" not in first and "1 of 2" in first
    assert f"row-{ROWS}" in second and "row-0" not in second
    assert 'href="/library/extracts?type=row&amp;page=2"' in first


async def test_what_may_not_be_read_is_not_there(
    browse: OpenBrowser, changes: dict[str, object], minutes: Document, shelf: Shelf
) -> None:
    async def nothing(thread: object, reader: str | None = None) -> object:
        return replace(shelf.scope(), sources=frozenset())

    page = await shown(browse, {**changes, "scope": nothing}, "/library/extracts?type=action_item")
    assert "paint" not in page and "Council" not in page
    await shown(browse, {**changes, "scope": nothing}, f"{PATH}?document={quote(minutes.id)}", 404)
    await shown(browse, changes, f"/library/extracts?document={quote('nowhere', safe='')}", 404)
