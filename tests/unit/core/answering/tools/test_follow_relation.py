"""The follow_relation and get_ontology tools: directed relations by any name of a thing, and which kinds there are."""

from typing import Any

import pytest

from core.answering.tools.follow_relation import FollowRelationTool
from core.answering.tools.get_ontology import GetOntologyTool
from core.answering.tools.toolbox import Toolbox
from core.domain.chat import ToolInvocation, ToolResult
from core.domain.extracts import ExtractType
from tests.unit.core.library_builder import Shelf

TEXT = "The gate is part of the pier. The pier links to the quay. See Figure 3 of the gate."


@pytest.fixture
async def shelf() -> Shelf:
    shelf = Shelf()
    document = await shelf.add("pier.md", TEXT, title="Pier")
    links = [("Gate", "part of", "Old Pier"), ("Old Pier", "links to", "Quay"), ("Figure 3", "shows", "Gate")]
    for source, kind, target in links:
        quote = TEXT.split(". ")[links.index((source, kind, target))].rstrip(".")
        data = {"source": source, "kind": kind, "target": target}
        await shelf.extract(document, ExtractType.RELATION, data, quote=quote)
    await shelf.extract(document, ExtractType.ENTITY, {"name": "Old Pier", "kind": "place", "aliases": ["Jetty"]})
    return shelf


async def call(shelf: Shelf, tool: str = "follow_relation", /, **arguments: Any) -> ToolResult:
    tools = Toolbox([FollowRelationTool(), GetOntologyTool()], shelf.context())
    return await tools.invoke(ToolInvocation(id="c1", name=tool, arguments=arguments))


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ({"name": "old pier"}, ["part of", "links to"]),
        ({"name": "Jetty"}, ["part of", "links to"]),
        ({"name": "pier"}, ["part of", "links to"]),
        ({"name": "Old Pier", "direction": "source"}, ["links to"]),
        ({"name": "Old Pier", "direction": "target"}, ["part of"]),
        ({"name": "gate", "kind": "part of"}, ["part of"]),
        ({"name": "Figure 3"}, ["shows"]),
    ],
)
async def test_relations_are_followed_from_a_thing_to_it_or_both(
    shelf: Shelf, arguments: dict[str, str], kinds: list[str]
) -> None:
    result = await call(shelf, **arguments)
    assert [line.split("kind: ")[1].split(";")[0] for line in result.text.splitlines()[1:]] == kinds
    assert [item.source.passage.text for item in result.passages] == [TEXT]


async def test_where_there_is_none_names_near_it_and_pages_are_offered(shelf: Shelf) -> None:
    result = await call(shelf, name="the gates", kind="owns")
    assert result.text.startswith("No relation of type 'owns' of 'the gates' was extracted. Names near it: Gate")
    assert "pier.md" in result.text


async def test_the_ontology_has_kinds_with_counts_and_aliases(shelf: Shelf) -> None:
    told = (await call(shelf, "get_ontology")).text
    assert "entity 1" in told and "relation 3" in told
    assert "- place (1): Old Pier" in told
    assert "- links to (1): Old Pier → Quay" in told
    assert "- Old Pier: Jetty" in told


async def test_the_ontology_about_a_name_is_about_that_alone(shelf: Shelf) -> None:
    assert (await call(shelf, "get_ontology", about="jetties")).text.splitlines()[1:] == ["- Old Pier: Jetty"]
    assert "use search" in (await call(shelf, "get_ontology", about="zebra")).text
