"""What every tool promises (core/answering/tools/base.py): a new tool is added to CASES."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from core.answering.tools.find_extracts import FindExtractsTool
from core.answering.tools.follow_relation import FollowRelationTool
from core.answering.tools.get_ontology import GetOntologyTool
from core.answering.tools.get_page import GetPageTool
from core.answering.tools.list_documents import ListDocumentsTool
from core.answering.tools.query_journal import QueryJournalTool
from core.answering.tools.query_table import QueryTableTool
from core.answering.tools.search import SearchTool
from core.answering.tools.toolbox import Toolbox, to_definition
from core.domain.chat import ToolInvocation, ToolResult
from core.domain.corpus import SearchScope
from core.domain.extracts import ExtractType
from tests.unit.core.library_builder import Shelf

MINE = "local/handbook/mine.json"


@dataclass(frozen=True)
class Case:
    tool: Any
    good: dict[str, object]  # arguments that show the passage "The king holds a ruby." of page 2
    quotes: bool = True  # it gives passages at all


CASES = [
    Case(SearchTool(), {"query": "ruby"}),
    Case(GetPageTool(), {"document": "Mine", "page_number": 2}),
    Case(QueryJournalTool(), {"query": "ruby", "query_type": "question", "journal_name": "Mine"}),
    Case(FindExtractsTool(), {"query": "name:ruby", "type": "entity"}),
    Case(QueryTableTool(), {"document": "Mine", "operation": "rows"}),
    Case(FollowRelationTool(), {"name": "ruby", "kind": "holds", "direction": "target"}),
    Case(ListDocumentsTool(), {"words": "mine"}, quotes=False),
    Case(GetOntologyTool(), {"about": "ruby"}, quotes=False),
]


@pytest.fixture(params=CASES, ids=lambda case: case.tool.name)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    mine = await shelf.add("mine.json", "Goblins.", "The king holds a ruby.\n\nRats.", title="Mine", kind="foundry")
    gem = {"name": "Ruby", "kind": "gem of a king"}
    held = {"source": "King", "kind": "holds", "target": "Ruby"}
    await shelf.extract(mine, ExtractType.ENTITY, gem, page=2, quote="ruby")
    await shelf.extract(mine, ExtractType.RELATION, held, page=2, quote="king holds a ruby")
    held_by = {"title": "Gems", "columns": ["Who", "What"], "rows": [["king", "ruby"]], "row_spans": [[0, 22]]}
    await shelf.extract(mine, ExtractType.TABLE, held_by, page=2, quote="The king holds a ruby.")
    await shelf.add("notes.md", "A ruby is red.", title="Notes")
    return shelf


async def run(case: Case, shelf: Shelf, scope: SearchScope | None = None, **arguments: object) -> ToolResult:
    tools = Toolbox([case.tool], shelf.context(scope=scope or shelf.scope()))
    return await tools.invoke(ToolInvocation(id="c1", name=case.tool.name, arguments=arguments or case.good))


def test_its_schema_is_a_closed_object_that_every_model_api_takes(case):
    schema = to_definition(case.tool, Shelf().context()).parameters
    assert schema["type"] == "object" and schema["additionalProperties"] is False
    assert not {"oneOf", "anyOf", "allOf", "$defs", "$ref"} & set(schema)
    assert set(schema["required"]) <= set(schema["properties"])
    for name, value in schema["properties"].items():
        assert isinstance(value["type"], str), name
        assert value["description"], name


def test_its_description_tells_a_model_when_to_use_it(case):
    definition = to_definition(case.tool, Shelf().context())
    assert definition.name.isidentifier()
    assert len(definition.description) > 80


async def test_it_gives_text_to_quote_that_stands_in_the_page(case, shelf):
    result = await run(case, shelf)
    assert not result.is_error and result.text
    assert ("The king holds a ruby." in [item.source.passage.text for item in result.passages]) is case.quotes
    for item in result.passages:
        page = await shelf.corpus.get_page(item.source.passage.page_id, shelf.scope())
        assert item.source.passage.span.of(page.text) == item.source.passage.text


async def test_it_says_where_its_passages_stand_so_that_the_page_can_be_opened(case, shelf):
    assert ("page_id" in (await run(case, shelf)).text) is case.quotes


@pytest.mark.parametrize(
    "scope",
    [
        SearchScope(workspace="local", sources=frozenset()),
        SearchScope(workspace="elsewhere", sources=frozenset({"local/handbook"})),
    ],
    ids=["no sources", "another workspace"],
)
async def test_outside_the_scope_it_shows_and_names_nothing(case, shelf, scope):
    result = await run(case, shelf, scope)
    assert result.passages == ()
    assert "king" not in result.text and "mine.json" not in result.text


async def test_nothing_beyond_a_reading_position_is_shown(case, shelf):
    result = await run(case, shelf, shelf.scope(**{MINE: 1}))
    assert "The king holds a ruby." not in [item.source.passage.text for item in result.passages]


async def test_unknown_arguments_are_named_and_nothing_is_run(case, shelf):
    result = await run(case, shelf, **case.good, colour="red", scope_workspace="other")
    assert result.is_error and result.passages == ()
    assert "'colour'" in result.text and "'scope_workspace'" in result.text


async def test_the_same_call_gives_the_same_result_also_in_parallel(case, shelf):
    tools = Toolbox([case.tool], shelf.context())
    calls = [ToolInvocation(id="c1", name=case.tool.name, arguments=case.good)] * 3
    first, second, third = await asyncio.gather(*map(tools.invoke, calls))
    assert first == second == third
