"""search, pages, documents, jobs."""

from urllib.parse import quote

import pytest
from aiohttp.test_utils import TestClient

from tests.builders import build_document, build_job
from tests.unit.bot.web.api.conftest import QUESTION, QUOTE, WORKSPACE, Office, error_of
from tests.unit.bot.web.api.test_sessions import TRAVERSALS


async def get(client: TestClient, path: str):
    response = await client.get(f"{WORKSPACE}/{path}")
    assert response.status == 200, await response.text()
    return await response.json()


async def test_a_search_gives_pages_best_first(client: TestClient) -> None:
    hits = (await get(client, "search?query=the+shed+in+the+garden"))["hits"]

    assert (hits[0]["document"], hits[0]["page_number"]) == ("house.md", 2)
    assert "shed" in hits[0]["snippet"]
    assert (await get(client, "search?query=shed&document=House&kind=markdown&limit=1"))["hits"]
    assert (await get(client, "search?query=shed&kind=pdf"))["hits"] == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("search", 422),
        ("search?query=", 422),
        ("search?query=x&limit=21", 422),
        ("search?query=x&colour=red", 422),
        ("search?query=x&document=atlantis", 404),
        (f"search?query={'x' * 2001}", 422),
    ],
)
async def test_a_search_that_cannot_be_one_is_refused(client: TestClient, query: str, status: int) -> None:
    code, _ = await error_of(await client.get(f"{WORKSPACE}/{query}"), status)

    assert code == {404: "not_found", 422: "bad_input"}[status]


async def test_a_search_in_an_empty_library_says_so(office: Office, client: TestClient) -> None:
    await office.shelf.corpus.remove_source(office.shelf.source.id)

    assert (await error_of(await client.get(f"{WORKSPACE}/search?query=key"), 400))[0] == "nothing_indexed"


async def test_a_page_is_read_by_the_id_a_search_gave_with_its_neighbours(client: TestClient) -> None:
    found = (await get(client, "search?query=stairs"))["hits"][0]["page_id"]
    page = await get(client, f"pages/{quote(found, safe='')}")

    assert page["text"] == f"# Keys\n\n{QUOTE}"
    assert (page["previous"], page["page_number"]) == (None, 1)
    assert (await get(client, f"pages/{quote(page['next'], safe='')}"))["previous"] == found


@pytest.mark.parametrize("unknown", TRAVERSALS)
@pytest.mark.parametrize("thing", ["pages", "jobs"])
async def test_unknown_ids_are_not_found(client: TestClient, thing: str, unknown: str) -> None:
    assert (await error_of(await client.get(f"{WORKSPACE}/{thing}/{unknown}"), 404))[0] == "not_found"


@pytest.mark.parametrize("path", ["pages/../../../etc/passwd", "pages/%2e%2e/%2e%2e/config.toml", "..%2f..%2fetc"])
async def test_a_path_that_climbs_leads_nowhere(client: TestClient, path: str) -> None:
    from yarl import URL

    url = URL(f"{client.make_url('/')}api/v1/workspaces/local/{path}", encoded=True)

    assert (await client.session.get(url)).status == 404


async def test_documents_are_listed_with_the_reason_of_those_that_failed(office: Office, client: TestClient) -> None:
    broken = build_document("broken.pdf", office.shelf.source, revision=None, failed_reason="It is encrypted.")
    await office.shelf.corpus.save_failure(broken)
    documents = (await get(client, "documents"))["documents"]

    assert [(item["document"], item["failed_reason"]) for item in documents] == [
        ("broken.pdf", "It is encrypted."),
        ("house.md", None),
    ]


async def test_a_job_is_shown_as_the_tree_it_belongs_to(client: TestClient) -> None:
    answer = await (await client.post(f"{WORKSPACE}/chat", json={"message": QUESTION})).json()
    root = answer["message"]["jobs"][0]["id"]
    listed = (await get(client, "jobs"))["jobs"]
    tree = await get(client, f"jobs/{quote(root, safe='')}")
    child = await get(client, f"jobs/{quote(tree['jobs'][1]['id'], safe='')}")

    assert [job["id"] for job in listed] == [root] == [tree["tree"]["id"]]
    assert {job["kind"] for job in tree["jobs"]} >= {"request", "tool"}
    assert {node["id"] for node in tree["tree"]["children"]} == set(tree["jobs"][0]["children"])
    assert child == tree
    found = [item for job in tree["jobs"] if job["kind"] == "tool" for item in job["found"]]
    assert any(QUOTE in item["snippet"] for item in found)


async def test_a_job_of_another_workspace_is_not_found(office: Office, client: TestClient) -> None:
    await office.job_store.save(build_job("j9", workspace="other"))

    assert (await error_of(await client.get(f"{WORKSPACE}/jobs/j9"), 404))[0] == "not_found"
