"""Several processes on one PostgreSQL database and one Qdrant server: a service, workers, and commands."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientTimeout
from sqlalchemy import create_engine, make_url, text

from tests import forked
from tests.anthropic_server import AnthropicServer, Call, Cite, Fault, Reply, Say
from tests.anthropic_server.server import KEY, MODEL
from tests.e2e.serving import ServiceProcess
from tests.entering import SAME_SITE, cookies_of
from tests.postgres import postgres_schema
from tests.qdrant_server import qdrant_server

pytestmark = pytest.mark.slow
PATIENCE = 120.0
LEASE = "12"  # seconds: what a killed worker had is taken over then, and what a slow one has is not
QUESTION = "When does the red kite of Ondar fly?"
QUOTE = "The red kite of Ondar flies at noon."
SEARCH = Reply.of("Let me look.", Call("search", {"query": "red kite"}))
ANSWER = (SEARCH, Reply.of(Say("At noon.", cites=(Cite(QUOTE),))))
THREAD = "chat/threads/general/t1"


class Fleet:
    """Starts processes that share everything but their data directories."""

    def __init__(self, folder: Path, model: AnthropicServer, database: str, index: str, stack: AsyncExitStack) -> None:
        self.model = model
        self._folder = folder
        self._database = database
        self._stack = stack
        self._environment = {
            "FOOTNOTE_DATABASE_URL": database,
            "FOOTNOTE_INDEX__URL": index,
            "FOOTNOTE_SERVICE__LEASE_SECONDS": LEASE,
            "FOOTNOTE_PROVIDER__NAME": "anthropic",
            "FOOTNOTE_PROVIDER__MODEL": MODEL,
            "FOOTNOTE_PROVIDER__BASE_URL": model.url,
            "ANTHROPIC_API_KEY": KEY,
        }

    async def start(self, name: str, *arguments: str, **environment: str) -> tuple[ServiceProcess, dict[str, Any]]:
        """A process that is ready, and what it said then."""
        place = self._folder / name / "data"
        place.parent.mkdir(exist_ok=True)
        process = ServiceProcess(place, *arguments, **self._environment, **environment)
        self._stack.enter_context(process)
        return process, await asyncio.to_thread(process.wait_ready)

    async def serve(self, *, parallel: int = 0) -> str:
        """The address of a service; by default its own worker is switched off."""
        _, said = await self.start("service", FOOTNOTE_SERVICE__PARALLEL=str(parallel))
        return str(said["url"])

    async def work(self, name: str) -> ServiceProcess:
        return (await self.start(name, "worker", "--json"))[0]

    async def run(self, *arguments: str) -> Any:
        """What a command in the service's data directory prints as JSON."""
        command = ["bot", "--data-dir", str(self._folder / "service" / "data"), *arguments, "--json"]
        done = await asyncio.to_thread(forked.run, command, env={**os.environ, **self._environment})
        assert (done.returncode, done.stderr) == (0, ""), done
        return json.loads(done.stdout)

    def attempts(self) -> list[int]:
        """How often each entry of the inbox was claimed, oldest first."""
        engine = create_engine(make_url(self._database).set(drivername="postgresql+psycopg"))
        with engine.connect() as connection:
            found = [int(count) for (count,) in connection.execute(text("SELECT attempts FROM inbox ORDER BY seq"))]
        engine.dispose()
        return found


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(AnthropicServer())
        database, index = stack.enter_context(postgres_schema()), stack.enter_context(qdrant_server())
        fleet = Fleet(tmp_path, model, database, index, stack)
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes" / "kites.md").write_text(f"# Kites\n\n{QUOTE}\n")
        assert (await fleet.run("ingest", str(tmp_path / "notes")))["documents"]["added"] == 1
        yield fleet


@pytest.fixture
async def browser() -> AsyncIterator[ClientSession]:
    async with ClientSession(
        cookies={"footnote_person": "Ada"}, headers=SAME_SITE, timeout=ClientTimeout(PATIENCE)
    ) as client:
        yield client


async def send(browser: ClientSession, url: str, key: str) -> dict[str, Any]:
    body = {"channel": "general", "thread": "t1", "text": QUESTION, "key": key}
    async with browser.post(f"{url}chat/messages", json=body, cookies=cookies_of(url)) as reply:
        return dict(await reply.json())


async def kinds_until(browser: ClientSession, url: str, last: str, key: str, opened: asyncio.Event) -> list[str]:
    """The kinds of a thread's events, up to the first `last` of a message key."""
    kinds = []
    async with browser.get(f"{url}{THREAD}/events", cookies=cookies_of(url)) as stream:
        opened.set()
        async for line in stream.content:
            name, _, value = line.decode().strip().partition(": ")
            if name == "event":
                kinds.append(value)
            elif name == "data" and kinds[-1] == last and json.loads(value)["key"] == key:
                return kinds
    raise AssertionError(f"the stream ended after {kinds}")


async def answers_of(browser: ClientSession, url: str) -> list[dict[str, Any]]:
    async with browser.get(f"{url}{THREAD}", cookies=cookies_of(url)) as reply:
        shown = await reply.json()
    assert shown["waiting"] == []
    return [message for message in shown["messages"] if message["role"] == "assistant"]


async def test_a_worker_alone_answers_what_a_service_took_on_every_door(fleet: Fleet, browser: ClientSession) -> None:
    url = await fleet.serve()
    await fleet.work("worker")
    fleet.model.script(*ANSWER * 3)
    opened = asyncio.Event()
    watching = asyncio.create_task(kinds_until(browser, url, "end", "web:local:general:k1", opened))
    await opened.wait()
    sent = await send(browser, url, "k1")
    kinds = await asyncio.wait_for(watching, PATIENCE)
    (answer,) = await answers_of(browser, url)
    asking = {"json": {"message": QUESTION}, "cookies": cookies_of(url)}
    async with browser.post(f"{url}api/v1/workspaces/local/chat", **asking) as reply:
        by_api = (await reply.json())["message"]
    asked = await fleet.run("ask", QUESTION)

    assert (sent["accepted"], kinds[-1]) == (True, "end")
    assert "begin" not in kinds  # the service itself answered nothing
    assert answer["status"] == "answered"
    assert answer["sources"][0]["notes"][0]["number"] == 1
    for found in (by_api, asked):
        assert (found["status"], found["citations"][0]["quote"], found["grounded"]) == ("answered", QUOTE, True)
        assert [job["kind"] for job in found["jobs"]].count("tool") == 1
        assert found["usage"]["output_tokens"] > 0
    assert fleet.attempts() == [1, 1, 1]


async def test_a_worker_that_is_killed_in_an_answer_is_taken_over_from(fleet: Fleet, browser: ClientSession) -> None:
    url = await fleet.serve()
    first = await fleet.work("first worker")
    fleet.model.script(Fault(-1), *ANSWER)  # the first request never gets a reply
    opened = asyncio.Event()
    watching = asyncio.create_task(kinds_until(browser, url, "end", "web:local:general:k1", opened))
    await opened.wait()
    await send(browser, url, "k1")
    await asyncio.wait_for(fleet.model.busy.wait(), PATIENCE)
    await fleet.work("second worker")
    held = fleet.attempts()
    await asyncio.to_thread(first.end, signal.SIGKILL)
    await asyncio.wait_for(watching, PATIENCE)
    (answer,) = await answers_of(browser, url)

    assert held == [1]  # a process that starts leaves the others' work alone
    assert fleet.attempts() == [2]
    assert (answer["status"], len(answer["sources"])) == ("answered", 1)


async def test_a_worker_that_is_told_to_stop_hands_its_work_over_at_once(fleet: Fleet, browser: ClientSession) -> None:
    url = await fleet.serve()
    first = await fleet.work("first worker")
    fleet.model.script(Fault(-1), *ANSWER)
    await send(browser, url, "k1")
    await asyncio.wait_for(fleet.model.busy.wait(), PATIENCE)
    await fleet.work("second worker")
    opened = asyncio.Event()
    watching = asyncio.create_task(kinds_until(browser, url, "end", "web:local:general:k1", opened))
    await opened.wait()
    code, _ = await asyncio.to_thread(first.end)
    await asyncio.wait_for(watching, PATIENCE)

    assert code == 0
    assert [answer["status"] for answer in await answers_of(browser, url)] == ["answered"]


async def test_an_answer_that_another_process_makes_is_stopped_from_the_page(
    fleet: Fleet, browser: ClientSession
) -> None:
    url = await fleet.serve()
    await fleet.work("worker")
    fleet.model.script(Fault(-1))
    opened = asyncio.Event()
    watching = asyncio.create_task(kinds_until(browser, url, "end", "web:local:general:k1", opened))
    await opened.wait()
    await send(browser, url, "k1")
    await asyncio.wait_for(fleet.model.busy.wait(), PATIENCE)
    async with browser.post(f"{url}chat/stop", json={"key": "web:local:general:k1"}, cookies=cookies_of(url)) as reply:
        stopped = reply.status
    await asyncio.wait_for(watching, PATIENCE)

    assert stopped == 200
    assert [answer["status"] for answer in await answers_of(browser, url)] == ["stopped"]


async def test_two_services_show_each_other_s_questions_and_answers(fleet: Fleet, browser: ClientSession) -> None:
    url = await fleet.serve(parallel=8)
    _, said = await fleet.start("second service")
    fleet.model.script(*ANSWER)
    opened = asyncio.Event()
    watching = asyncio.create_task(kinds_until(browser, said["url"], "end", "web:local:general:k1", opened))
    await opened.wait()
    await send(browser, url, "k1")
    await asyncio.wait_for(watching, PATIENCE)

    shown = [await answers_of(browser, address) for address in (url, said["url"])]
    assert [[answer["status"] for answer in answers] for answers in shown] == [["answered"]] * 2
    assert fleet.attempts() == [1]
