"""extracts, facts and the ontology."""

from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from core.domain.extracts import ExtractType
from tests.unit.bot.web.api.conftest import QUOTE, WORKSPACE, Office, error_of


@pytest.fixture
async def found(office: Office) -> None:
    """A key that was found on the first page of the house, and where it is."""
    document = await office.shelf.library.find_document("House", office.shelf.scope())
    key = {"name": "Key", "kind": "thing", "aliases": ["opener"]}
    await office.shelf.extract(document, ExtractType.ENTITY, key, quote=QUOTE)
    relation = {"source": "Key", "kind": "hangs under", "target": "Stairs"}
    await office.shelf.extract(document, ExtractType.RELATION, relation, quote=QUOTE)
    page = {"summary": "Where the key is.", "topics": ["keys"]}
    await office.shelf.extract(document, ExtractType.PAGE, page, quote="Keys")
    await office.shelf.extract(document, ExtractType.ANCHOR, {"name": "Key ring", "kind": "figure"}, quote=QUOTE)


async def get(client: TestClient, path: str) -> Any:
    response = await client.get(f"{WORKSPACE}/{path}")
    assert response.status == 200, await response.text()
    return await response.json()


async def test_extracts_are_listed_by_type_document_and_filter(client: TestClient, found: None) -> None:
    everything = (await get(client, "extracts"))["extracts"]
    assert {item["type"] for item in everything} == {"entity", "relation", "page", "anchor"}
    [entity] = (await get(client, "extracts?type=entity&document=House"))["extracts"]
    assert (entity["schema"], entity["page_number"], entity["confidence"]) == ("entity/1", 1, 0.9)
    assert entity["data"]["name"] == "Key"
    filtered = await get(client, "extracts?filter=target:stairs")
    assert [item["type"] for item in filtered["extracts"]] == ["relation"]
    assert filtered["query"] == "target:stairs" and len(filtered["facts"]) == 1
    assert len((await get(client, "extracts?limit=1"))["extracts"]) == 1


async def test_facts_come_with_their_proved_footnotes(client: TestClient, found: None) -> None:
    answer = await get(client, "facts?query=opener+type:entity")
    [fact] = answer["facts"]
    assert fact["fields"] == {"name": "Key", "kind": "thing", "aliases": ["opener"]}
    assert (fact["citation"]["quote"], fact["citation"]["proved"], fact["citation"]["number"]) == (QUOTE, True, 1)
    page = await get(client, f"pages/{fact['citation']['page_id'].replace('/', '%2F').replace('#', '%23')}")
    start, end = fact["citation"]["span"]
    assert page["text"][start:end] == QUOTE
    assert (await get(client, "facts?query=zebra"))["facts"] == []


async def test_the_ontology_has_kinds_and_other_names(client: TestClient, found: None) -> None:
    ontology = await get(client, "ontology")
    assert ontology["entity_types"] == [{"type": "thing", "count": 1, "examples": ["Key"]}]
    assert [item["type"] for item in ontology["relation_types"]] == ["hangs under"]
    assert ontology["aliases"] == {"Key": ["opener"]}
    assert ontology["extracts"]["entity"] == 1


async def test_pages_and_hits_tell_what_was_found_on_them(client: TestClient, found: None) -> None:
    hit = (await get(client, "search?query=stairs"))["hits"][0]
    page = await get(client, f"pages/{hit['page_id'].replace('/', '%2F').replace('#', '%23')}")
    assert (hit["summary"], hit["topics"]) == ("Where the key is.", ["keys"])
    assert (page["summary"], page["topics"]) == ("Where the key is.", ["keys"])
    assert [item["name"] for item in page["entities"]] == ["Key"]
    assert [item["target"] for item in page["relations"]] == ["Stairs"]
    assert [(item["name"], item["kind"]) for item in page["anchors"]] == [("Key ring", "figure")]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("extracts?type=nonsense", 422),
        ("extracts?colour=red", 422),
        ("extracts?limit=0", 422),
        ("extracts?document=atlantis", 404),
        ("extracts?filter=type:nonsense", 422),
        ("facts", 422),
        ("facts?query=limit:x", 422),
        ("facts?query=x&document=atlantis", 404),
        ("ontology?x=1", 422),
    ],
)
async def test_what_can_not_be_asked_is_refused(client: TestClient, query: str, status: int) -> None:
    code, _ = await error_of(await client.get(f"{WORKSPACE}/{query}"), status)
    assert code == {404: "not_found", 422: "bad_input"}[status]
