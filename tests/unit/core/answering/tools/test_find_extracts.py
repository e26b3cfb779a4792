"""The find_extracts tool: rows with their places, what they are cited by, and what it offers where nothing fits."""

from typing import Any

import pytest

from core.answering.tools.find_extracts import CITED_CHARACTERS, FindExtractsTool
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import ToolInvocation, ToolResult
from core.domain.extracts import ExtractType
from tests.unit.core.library_builder import Shelf

PUMP, PAINT = "Ben mends the pump.", "Ann buys paint."


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    minutes = await shelf.add("council.md", f"Notes.\n\n{PUMP}\n\n{PAINT}", title="Council")
    await shelf.add("yard.md", "The yard sells a zebra.", title="Yard")
    items = [
        {"description": "mend the pump", "owner": "Ben", "due_date": "2026-05-01", "page_number": 1, "span": [8, 27]},
        {"description": "buy paint", "owner": "Ann", "page_number": 1, "span": [29, 44]},
    ]
    await shelf.extract(minutes, ExtractType.MEETING, {"title": "Council", "action_items": items})
    return shelf


async def find(shelf: Shelf, **arguments: Any) -> ToolResult:
    tools = Toolbox([FindExtractsTool()], shelf.context())
    return await tools.invoke(ToolInvocation(id="c1", name="find_extracts", arguments=arguments))


def texts(result: ToolResult) -> list[str]:
    return [item.source.passage.text for item in result.passages]


async def test_rows_come_with_page_and_span_first_and_the_passages_that_hold_them(shelf: Shelf) -> None:
    result = await find(shelf, query="owner:Ben")
    assert '- page 1, span 8-27 of "Council" (council.md, page_id' in result.text
    assert "action_item; description: mend the pump; owner: Ben; due_date: 2026-05-01" in result.text
    assert texts(result) == [PUMP]


async def test_the_whole_text_around_rows_is_given_only_on_request(shelf: Shelf) -> None:
    assert texts(await find(shelf, query="owner:Ben", raw=True)) == ["Notes.", PUMP, PAINT]


async def test_passages_of_many_rows_are_cut_and_it_says_so(shelf: Shelf) -> None:
    long = "x" * (CITED_CHARACTERS // 2)
    document = await shelf.add("long.md", "\n\n".join(f"{number} {long}" for number in range(4)))
    await shelf.extract(document, ExtractType.TABLE, {"columns": ["n"], "rows": [["1"], ["2"]]})
    step = len(long) + 4
    spans = [[place * step, place * step + 9] for place in range(4)]
    data = {"columns": ["n"], "rows": [[str(number)] for number in range(4)], "row_spans": spans}
    await shelf.extract(document, ExtractType.TABLE, data, quote="0")
    result = await find(shelf, type="row", document="long.md")
    assert len(result.passages) == 1
    assert "3 more passages did not fit" in result.text


async def test_where_nothing_fits_it_says_so_and_offers_the_best_pages(shelf: Shelf) -> None:
    result = await find(shelf, query="zebra", type="decision")
    assert not result.is_error
    assert result.text.startswith("No extract fits `type:decision zebra`.")
    assert "yard.md" in result.text and texts(result) == ["The yard sells a zebra."]


async def test_what_can_not_be_compared_is_told(shelf: Shelf) -> None:
    assert "1 more have no date" in (await find(shelf, query="action items due<2026-06-01")).text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "needs a query, a type or a document"),
        ({"type": "nonsense"}, "Unknown type 'nonsense'"),
        ({"query": "type:nonsense"}, "Unknown type 'nonsense'"),
        ({"query": "document:council.md"}, "as the argument `document`"),
        ({"type": "decision", "document": "nowhere"}, "nowhere"),
    ],
)
async def test_arguments_that_can_not_be_used_are_for_the_model_to_correct(
    shelf: Shelf, arguments: dict[str, str], said: str
) -> None:
    result = await find(shelf, **arguments)
    assert result.is_error and said in result.text


async def test_a_question_about_one_document_finds_rows_of_this_one_alone(shelf: Shelf) -> None:
    context = shelf.context(document_ids=frozenset({"local/handbook/yard.md"}))
    tools = Toolbox([FindExtractsTool()], context)
    result = await tools.invoke(ToolInvocation(id="c", name="find_extracts", arguments={"type": "action_item"}))
    assert result.text.startswith("No extract fits")
