"""A document changes, and what was answered from it says so: on the command line and in the terminal's chat."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, CookieJar

from tests.e2e.conftest import Footnote
from tests.e2e.serving import ServiceProcess
from tests.entering import SAME_SITE, cookies_of

PATIENCE = 120.0
QUESTION = "When does the night ferry to Skerra sail?"
FIRST = "# Night ferry\n\nThe night ferry to Skerra sails at half past ten from the east pier.\n"
SECOND = "# Night ferry\n\nThe night ferry to Skerra sails at a quarter to midnight from the west pier.\n"


@pytest.fixture
def notes(tmp_path: Path, footnote: Footnote) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text(FIRST)
    assert footnote("ingest", str(folder), "--source", "notes").code == 0
    return folder


def test_a_changed_document_makes_its_answers_stale_a_moved_passage_does_not_and_a_removed_one_empties_them(
    footnote: Footnote, notes: Path
) -> None:
    answer = footnote("ask", QUESTION, "--json").json
    assert answer["citations"][0]["document"] == "ferry.md"
    assert footnote("conversations", "stale", "--json").json == {"stale": []}

    (notes / "ferry.md").write_text(f"# Before\n\nSomething new.\n\n{FIRST}")
    footnote("ingest", str(notes), "--source", "notes")
    assert footnote("conversations", "stale", "--json").json == {"stale": []}
    assert "No stale answers." in footnote("conversations", "stale").out

    (notes / "ferry.md").write_text(SECOND)
    footnote("ingest", str(notes), "--source", "notes")
    [stale] = footnote("conversations", "stale", "--json").json["stale"]
    assert (stale["conversation_id"], stale["question"]) == (answer["conversation_id"], QUESTION)
    assert stale["message_id"] == answer["message_id"]
    assert stale["lost"][0]["fate"] == "changed"
    assert stale["lost"][0]["quote"] == answer["citations"][0]["quote"]
    assert "no longer says" in " ".join(footnote("conversations", "stale").out.split())

    (notes / "ferry.md").unlink()
    footnote("ingest", str(notes), "--source", "notes")
    assert footnote("conversations", "stale", "--json").json == {"stale": []}  # emptied: it rested on the document
    shown = footnote("conversations", "show", answer["conversation_id"]).out
    assert QUESTION in shown
    assert "half past ten" not in shown


@pytest.mark.slow
async def test_a_thread_of_the_service_gets_one_note_though_the_service_is_killed(
    footnote: Footnote, notes: Path, data_dir: Path
) -> None:
    with ServiceProcess(data_dir) as service:
        page = Page(service.wait_ready()["url"])
        await page.ask(QUESTION)
        (notes / "ferry.md").write_text(SECOND)
        assert (await asyncio.to_thread(footnote, "ingest", str(notes), "--source", "notes")).code == 0
        service.end(signal.SIGKILL)
    for change in ("Ask the harbour master.", "Dogs travel for nothing."):
        with ServiceProcess(data_dir) as service:
            page.url = service.wait_ready()["url"]
            [note] = await page.notes()
            assert "no longer says what footnote" in note["html"]
            assert note["again"][0]["question"] == QUESTION
            (notes / "ferry.md").write_text(f"{SECOND}\n{change}\n")
            assert (await asyncio.to_thread(footnote, "ingest", str(notes), "--source", "notes")).code == 0
            assert (await asyncio.to_thread(footnote, "sources", "--json")).code == 0
            service.end(signal.SIGKILL)
    with ServiceProcess(data_dir) as service:
        page.url = service.wait_ready()["url"]
        assert len(await page.notes()) == 1


class Page:
    """The chat page of a service, and a thread of it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._thread = ""

    async def ask(self, text: str) -> None:
        cookies = {"cookies": cookies_of(self.url), "cookie_jar": CookieJar(unsafe=True)}
        async with ClientSession(**cookies, headers=SAME_SITE) as session:
            await session.post(f"{self.url}chat/person", json={"name": "Ada"})
            body = {"channel": "general", "thread": "", "text": f"@footnote {text}", "key": "k1"}
            async with session.post(f"{self.url}chat/messages", json=body) as response:
                self._thread = (await response.json())["thread"]
        await self._until(lambda state: len(state["messages"]) == 2)

    async def notes(self) -> list[dict[str, Any]]:
        """All of the thread, when there is one."""
        state = await self._until(lambda state: any(item.get("note") for item in state["messages"]))
        return [item for item in state["messages"] if item.get("note")]

    async def _until(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE), ClientSession(cookies=cookies_of(self.url)) as session:
            while True:
                async with session.get(f"{self.url}chat/threads/general/{self._thread}") as response:
                    state = dict(await response.json())
                if is_so(state) and not state["waiting"]:
                    return state
                await asyncio.sleep(0.1)
