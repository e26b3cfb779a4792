"""Questions of commands while a service runs: streamed, in order, counted; stopped by Ctrl+C, kept when they die."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from tests.anthropic_server import AnthropicServer, Fault, Reply
from tests.anthropic_server.server import KEY, MODEL
from tests.e2e.serving import ServiceProcess
from tests.entering import SAME_SITE, cookies_of

pytestmark = pytest.mark.slow
PATIENCE = 120.0
NEVER = Fault(-1)


class Place:
    """A service whose model is the test's, and commands on its data directory."""

    def __init__(self, data_dir: Path, model: AnthropicServer, url: str = "") -> None:
        self.data_dir = data_dir
        self.model = model
        self.url = url

    async def begin(self, *arguments: str) -> Process:
        command = ["-m", "bot", "--data-dir", str(self.data_dir), *arguments]
        return await asyncio.create_subprocess_exec(sys.executable, *command, stdin=PIPE, stdout=PIPE, stderr=PIPE)

    async def run(self, *arguments: str) -> Any:
        """What a command prints as JSON."""
        process = await self.begin(*arguments, "--json")
        out, said = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert said == b"", said
        return json.loads(out)

    async def ask_and_wait_for_the_model(self, *arguments: str) -> Process:
        self.model.script(NEVER)
        self.model.busy.clear()
        process = await self.begin("ask", "Who built the clock?", *arguments)
        await asyncio.wait_for(self.model.busy.wait(), PATIENCE)
        return process

    async def answers(self) -> list[str]:
        """The first line of each stored answer, the conversation used last first."""
        sessions = f"{self.url}api/v1/workspaces/local/chat/sessions"
        found = json.loads(await fetch(sessions))["sessions"]
        shown = [json.loads(await fetch(f"{sessions}/{item['session_id']}")) for item in found]
        messages = [message for item in shown for message in item["messages"]]
        return [message["content"].splitlines()[0] for message in messages if message["role"] == "assistant"]

    async def until_answered(self, count: int) -> list[str]:
        async with asyncio.timeout(PATIENCE):
            while len(found := await self.answers()) < count:  # noqa: ASYNC110 - another process answers
                await asyncio.sleep(0.2)
        return found


@pytest.fixture
async def place(data_dir: Path) -> AsyncIterator[Place]:
    async with AnthropicServer() as model:
        environment = {
            "FOOTNOTE_PROVIDER__NAME": "anthropic",
            "FOOTNOTE_PROVIDER__MODEL": MODEL,
            "FOOTNOTE_PROVIDER__BASE_URL": model.url,
            "FOOTNOTE_PROVIDER__MAX_RETRIES": "0",
            "ANTHROPIC_API_KEY": KEY,
        }
        with ServiceProcess(data_dir, **environment) as service:
            said = await asyncio.to_thread(service.wait_ready)
            yield Place(service.data_dir, model, said["url"])


async def fetch(url: str) -> str:
    async with ClientSession(cookies=cookies_of(url)) as client, client.get(url) as reply:
        return await reply.text()


async def test_ctrl_c_stops_the_answer_and_it_is_stored_as_stopped(place: Place) -> None:
    asking = await place.ask_and_wait_for_the_model()
    asking.send_signal(signal.SIGINT)
    _, said = await asyncio.wait_for(asking.communicate(), PATIENCE)

    assert (asking.returncode, said.decode()) == (130, "footnote: stopped\n")
    assert await place.answers() == ["Stopped."]


async def test_a_command_that_is_killed_is_answered_in_its_conversation(place: Place) -> None:
    place.model.script(Reply.of("Before.", delay_seconds=2.0))
    asking = await place.begin("ask", "Who built the clock?")
    await asyncio.wait_for(place.model.busy.wait(), PATIENCE)
    asking.kill()
    await asking.communicate()

    assert await place.until_answered(1) == ["Before."]


async def test_a_question_outlives_its_service(place: Place, tmp_path: Path) -> None:
    asking = await place.ask_and_wait_for_the_model()
    notice = json.loads((place.data_dir / "service.lock").read_text())
    os.kill(notice["pid"], signal.SIGTERM)
    _, said = await asyncio.wait_for(asking.communicate(), PATIENCE)
    environment = {
        "FOOTNOTE_PROVIDER__NAME": "anthropic",
        "FOOTNOTE_PROVIDER__MODEL": MODEL,
        "FOOTNOTE_PROVIDER__BASE_URL": place.model.url,
        "ANTHROPIC_API_KEY": KEY,
    }
    with ServiceProcess(place.data_dir, **environment) as again:
        place.url = (await asyncio.to_thread(again.wait_ready))["url"]
        found = await place.until_answered(1)

    assert asking.returncode == 1
    assert "question is kept" in said.decode()
    assert found == ["Understood."]


async def test_questions_of_commands_are_counted_and_in_order_in_their_conversation(place: Place) -> None:
    first = await place.run("ask", "Who built the clock?")
    earlier = await place.ask_and_wait_for_the_model("--conversation", first["conversation_id"])
    later = await place.begin("ask", "And when?", "--conversation", first["conversation_id"], "--json")
    async with asyncio.timeout(PATIENCE):
        while 'status="queued"} 1.0' not in await fetch(f"{place.url}metrics"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    asked_before = len(place.model.requests)
    earlier.send_signal(signal.SIGINT)
    await earlier.communicate()
    out, _ = await asyncio.wait_for(later.communicate(), PATIENCE)
    counted = await fetch(f"{place.url}metrics")

    assert (asked_before, json.loads(out)["status"]) == (2, "answered")
    assert 'footnote_questions_total{outcome="answered",platform="terminal"} 2.0' in counted
    assert await place.answers() == ["Understood.", "Stopped.", "Understood."]


async def test_a_failed_question_is_asked_again_by_command_and_by_page(place: Place) -> None:
    place.model.script(Fault(401), Fault(401), Reply.of("At last."))
    failed = await (await place.begin("ask", "Who built the clock?", "--json")).communicate()
    job = json.loads(failed[0])["jobs"][0]["id"]
    async with (
        ClientSession(cookies=cookies_of(place.url), headers=SAME_SITE) as client,
        client.post(f"{place.url}jobs/{job}/retry") as reply,
    ):
        page = await reply.text()
    await place.until_answered(2)
    again = await place.run("jobs", "retry", job)

    assert "Who built the clock?" in page
    assert again["jobs"][0]["status"] == "done"
    answers = await place.answers()
    assert (len(answers), answers[0], answers[-1]) == (3, answers[1], "At last.")


async def test_the_terminal_chat_streams_through_the_service(place: Place) -> None:
    chat = await place.begin("chat", "--new", "--verbose")
    out, said = await asyncio.wait_for(chat.communicate(b"Who built the clock?\nAnd when?\n"), PATIENCE)

    assert (chat.returncode, said) == (0, b"")
    assert out.decode().count("Understood.") == 2
    assert await place.answers() == ["Understood.", "Understood."]
