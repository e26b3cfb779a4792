"""The query_table tool: tables described, and their rows filtered, sorted and computed."""

from typing import Any

import pytest

from core.answering.tools.query_table import QueryTableTool
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import ToolInvocation, ToolResult
from core.domain.extracts import ExtractType
from tests.builders import build_scope
from tests.unit.core.library_builder import Shelf

ROWS = [["Linden", "412", "4.50"], ["Voss", "96", "12.80"], ["Northern pier", "1,204", "3.00"], ["Total", "1,712", ""]]
LINES = [" | ".join(row) for row in ROWS]


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    text = "\n\n".join(LINES)
    spans = [[text.index(line), text.index(line) + len(line)] for line in LINES]
    fares = await shelf.add("fares.md", text, title="Harbour notes")
    columns = ["Harbour", "Crossings", "Fare"]
    table = {"title": "Fares", "columns": columns, "rows": ROWS, "row_spans": spans}
    await shelf.extract(fares, ExtractType.TABLE, table, quote=LINES[0])
    depths = {"title": "Depths", "columns": ["Pier", "Depth"], "rows": [["North", "3.5"]], "row_spans": [spans[1]]}
    await shelf.extract(fares, ExtractType.TABLE, depths, quote=LINES[1])
    return shelf


async def query(shelf: Shelf, **arguments: Any) -> ToolResult:
    tools = Toolbox([QueryTableTool()], shelf.context())
    return await tools.invoke(ToolInvocation(id="c1", name="query_table", arguments=arguments))


async def test_tables_are_described_with_their_columns(shelf: Shelf) -> None:
    result = await query(shelf, document="fares.md")
    assert result.text.splitlines() == [
        '- "Fares" in "Harbour notes" (fares.md, page 1): 4 rows; columns: Harbour, Crossings, Fare',
        '- "Depths" in "Harbour notes" (fares.md, page 1): 1 row; columns: Pier, Depth',
    ]
    assert not result.passages


@pytest.mark.parametrize(
    ("arguments", "told", "cited"),
    [
        ({"operation": "highest", "column": "Fare"}, "Voss (Fare 12.80, the highest of 3 in “Fares”)", LINES[1:2]),
        ({"operation": "sum", "column": "crossings"}, "1,712 (Crossings, sum in “Fares”: 412 + 96 + 1,204)", LINES[:3]),
        ({"operation": "average", "column": "Fare"}, "6.7667 (Fare, average in “Fares”", LINES[:3]),
        ({"operation": "count", "where": "Fare<5 Crossings>100"}, "2 rows fit", [LINES[0], LINES[2]]),
        ({"operation": "rows", "column": "Crossings", "order": "rising", "limit": 1}, "4 rows fit", LINES[1:2]),
        ({"operation": "rows", "where": "harbour:pier"}, "1 row fits", LINES[2:3]),
    ],
)
async def test_rows_are_computed_and_given_to_cite(
    shelf: Shelf, arguments: dict[str, Any], told: str, cited: list[str]
) -> None:
    result = await query(shelf, table="fares", document="fares.md", **arguments)
    assert not result.is_error
    assert told in result.text.splitlines()[0]
    assert [item.source.passage.text for item in result.passages] == cited


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "needs a document"),
        ({"document": "fares.md", "operation": "rows"}, "2 tables fit"),
        ({"document": "fares.md", "table": "fares", "operation": "sum"}, "sum needs a column"),
        ({"document": "fares.md", "table": "fares", "operation": "sum", "column": "Weight"}, "not one of the columns"),
        ({"document": "fares.md", "table": "fares", "operation": "sum", "column": "Harbour"}, "no numbers of one unit"),
        ({"document": "fares.md", "table": "fares", "operation": "rows", "where": "Weight>3"}, "over the columns"),
        ({"document": "fares.md", "table": "fares", "operation": "rows", "where": "Fare>900"}, "No row fits"),
        ({"document": "fares.md", "operation": "drop"}, "operation"),
    ],
)
async def test_a_wrong_call_says_what_there_is(shelf: Shelf, arguments: dict[str, Any], told: str) -> None:
    result = await query(shelf, **arguments)
    assert result.is_error
    assert told in result.text


async def test_a_table_outside_the_scope_is_no_table(shelf: Shelf) -> None:
    tools = Toolbox([QueryTableTool()], shelf.context(scope=build_scope()))
    result = await tools.invoke(ToolInvocation(id="c1", name="query_table", arguments={"document": "fares.md"}))
    assert result.is_error
    assert "Fare" not in result.text
