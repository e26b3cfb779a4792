"""The graph of documents and the connections of one, as JSON."""

from aiohttp.test_utils import TestClient

from core.domain.conversation import Role
from core.domain.extracts import ExtractType
from tests.builders import build_citation, build_conversation, build_message
from tests.unit.bot.web.api.conftest import Office, error_of

BASE = "/api/v1/workspaces/local"


async def stock(office: Office) -> tuple[str, str]:
    """A document that links to another one, cited together in a thread; their ids."""
    house = await office.shelf.add("house.md", "# House\n\nSee [[Boat]].", title="House")
    boat = await office.shelf.add("boat.md", "# Boat\n\nRed.", title="Boat")
    link = {"source": "House", "kind": "links to", "target": "Boat"}
    await office.shelf.extract(house, ExtractType.RELATION, link)
    await office.conversation_store.add(build_conversation("c1", title="Keys"))
    cited = (build_citation(house.id), build_citation(boat.id))
    await office.conversation_store.append("c1", [build_message("a1", role=Role.ASSISTANT, citations=cited)])
    return house.id, boat.id


async def test_the_graph_has_documents_and_the_connections_between_them(office: Office, client: TestClient) -> None:
    house, boat = await stock(office)
    graph = await (await client.get(f"{BASE}/graph")).json()

    assert {item["id"]: item["document"] for item in graph["documents"]} == {house: "house.md", boat: "boat.md"}
    [connection] = graph["connections"]
    assert (sorted(connection["documents"]), connection["links"], connection["cited_together"]) == (
        sorted([house, boat]),
        1,
        1,
    )
    assert graph["total"] == 2
    assert len((await (await client.get(f"{BASE}/graph?limit=1")).json())["documents"]) == 1
    await error_of(await client.get(f"{BASE}/graph?limit=0"), 422)


async def test_a_documents_links_backlinks_and_threads_are_told(office: Office, client: TestClient) -> None:
    _, boat = await stock(office)
    found = await (await client.get(f"{BASE}/documents/{boat.replace('/', '%2F')}/connections")).json()

    assert found["document"]["title"] == "Boat"
    assert [(item["title"], item["linked_from"], item["cited_together"]) for item in found["backlinks"]] == [
        ("House", 1, 1)
    ]
    assert [item["title"] for item in found["related"]] == ["House"]
    assert (found["links"], [(item["title"], item["answers"]) for item in found["threads"]]) == ([], [("Keys", 1)])
    await error_of(await client.get(f"{BASE}/documents/unknown/connections"), 404)
