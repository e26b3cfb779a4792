"""The API keeps to its description, whatever is sent: requests made up by schemathesis, over a loopback port."""

import asyncio
import json
import threading
from collections.abc import Iterator
from functools import partial
from urllib.parse import quote

import pytest
import schemathesis
from aiohttp import ClientSession, web
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from bot.web.api.routes import OPENAPI_FILE, add_api
from bot.web.app import build_runner, build_web
from bot.web.pages.library import add_connection_pages
from tests.unit.bot.web.api.conftest import QUESTION, QUOTE, TOKEN, WORKSPACE, Office

pytestmark = pytest.mark.slow
EXAMPLES = 10  # made-up requests for each operation
KEY = "k1"  # of the one message that is there
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}


class Running:
    """The API on a loopback port, in a thread of its own, with one answered question in it."""

    def __init__(self) -> None:
        self.url = ""
        self.ids: dict[str, str] = {}
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))

    def __enter__(self) -> "Running":
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(60)
        self._loop.close()

    async def _serve(self) -> None:
        office = Office()
        await office.shelf.add("house.md", f"# Keys\n\n{QUOTE}", title="House")
        api = office.api(wait_seconds=5, token=TOKEN)
        additions = [partial(add_connection_pages, connections=office.connections), partial(add_api, api=api)]
        runner = build_runner(build_web(office.parts(), additions), shutdown_timeout=60)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        working = asyncio.create_task(office.worker.run())
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with ClientSession(self.url, headers={"Idempotency-Key": KEY, **AUTHORIZED}) as client:
            answer = await (await client.post(f"{WORKSPACE}/chat", json={"message": QUESTION})).json()
        self.ids = {
            "workspace": "local",
            "session_id": answer["session_id"],
            "message_id": KEY,
            "page_id": quote(answer["message"]["citations"][0]["page_id"], safe=""),
            "document_id": quote((await office.shelf.corpus.list_documents("local"))[0].id, safe=""),
            "job_id": answer["message"]["jobs"][0]["id"],
        }
        self._ready.set()
        await self._stopping.wait()
        await runner.cleanup()
        await office.worker.stop()
        await working


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with Running() as service:
        yield service


schema = schemathesis.openapi.from_dict(json.loads(OPENAPI_FILE.read_text(encoding="utf-8")))
bounded = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
# What a schema can't say is refused as well: a question of punctuation, a position in no document.
BEYOND_SCHEMAS = [positive_data_acceptance]


@schema.parametrize()
@bounded
def test_whatever_is_sent_the_api_keeps_to_its_description(case: schemathesis.Case, running: Running) -> None:
    if "workspace" in case.path_parameters:
        case.path_parameters["workspace"] = "local"
    response = case.call_and_validate(base_url=running.url, headers=AUTHORIZED, excluded_checks=BEYOND_SCHEMAS)

    assert response.status_code < 500


@schema.exclude(method="DELETE").include(path_regex="_id").parametrize()
@bounded
def test_what_is_there_is_shown_as_described(case: schemathesis.Case, running: Running) -> None:
    case.path_parameters.update({name: running.ids[name] for name in case.path_parameters})
    response = case.call_and_validate(base_url=running.url, headers=AUTHORIZED, excluded_checks=BEYOND_SCHEMAS)

    assert response.status_code != 404


async def test_the_longest_query_is_read_in_every_script(running: Running) -> None:
    async with ClientSession(running.url, headers=AUTHORIZED) as client:
        for sign in ("x", "é", "鍵", "😀"):
            async with client.get(f"{WORKSPACE}/search", params={"query": sign * 2000}) as response:
                assert (response.status, list(await response.json())) == (200, ["hits"])
        async with client.get(f"{WORKSPACE}/search", params={"query": "😀" * 2001}) as response:
            assert (response.status, list(await response.json())) == (422, ["error"])
