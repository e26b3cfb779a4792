"""A newcomer with an empty library: files are dropped, read, asked about and removed, in a real browser."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from docx import Document
from playwright.async_api import Page, expect

from bot.service.rooms import OperatorAlone
from bot.web.app import build_web
from bot.web.pages.uploads import add_uploads
from core.domain.identity import Role
from core.ports.documents import FetchLink
from storage.sources.web_pages import fetch_link
from tests.e2e.browsing import BROWSER_TEST, browsing
from tests.e2e.serving import ServiceProcess
from tests.e2e.test_api import call
from tests.entering import sign_in
from tests.integration.upload_place import UploadPlace
from tests.unit.bot.web.conftest import Shelves
from tests.unit.storage.documents.pdf_files import build_pdf

pytestmark = BROWSER_TEST
BASE = "/api/v1/workspaces/local"
LIGHT = "The lighthouse of Skerrow was painted green in April."
RAMP = "Ramp three closes for repairs on Monday."
PUMP = "Ben mends the pump before the harbour fair."
# Drops files on the zone as a person does: {name: text, or a list of bytes}.
DROP = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, data] of Object.entries(files)) {
    transfer.items.add(new File([typeof data === "string" ? data : new Uint8Array(data)], name));
  }
  const zone = document.querySelector(".upload-zone");
  zone.dispatchEvent(new DragEvent("dragover", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  zone.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""
# Notes all that the lines of files say.
WATCH = """() => {
  window.told = new Set();
  new MutationObserver(() => {
    for (const line of document.querySelectorAll(".upload-line")) window.told.add(line.textContent);
  }).observe(document.getElementById("drop-zone"), { childList: true, subtree: true });
}"""


def build_docx(text: str) -> bytes:
    document, file = Document(), io.BytesIO()
    document.add_heading("Repairs", 1)
    document.add_paragraph(text)
    document.save(file)
    return file.getvalue()


def found(url: str, words: str) -> list[str]:
    return [hit["document"] for hit in call(url, f"{BASE}/search?query={quote(words)}")[1]["hits"]]


async def told(page: Page) -> list[str]:
    return json.loads(await page.evaluate("JSON.stringify([...window.told])"))


async def test_dropped_files_are_read_asked_about_and_removed(tmp_path: Path) -> None:
    files = {
        "season.pdf": list(build_pdf([[(50, 700, line)] for line in (LIGHT, "The second page.", "The third page.")])),
        "repairs.docx": list(build_docx(RAMP)),
        "fair.md": f"# Fair\n\n{PUMP}\n",
        "notes.pages": "x",
        "long.md": "word " * 300_000,
    }
    data_dir = tmp_path / "data"
    with ServiceProcess(data_dir, FOOTNOTE_INGEST__MAX_FILE_MB="1") as service:
        url = service.wait_ready()["url"]
        async with browsing() as people:
            _, page = await people.newcomer(f"{url}library")
            await expect(page.locator(".lead")).to_contain_text("Nothing here yet")
            await expect(page.locator(".upload-zone")).to_contain_text("Up to 1 MB a file.")

            await page.goto(f"{url}library/uploads")
            await expect(page.locator(".upload-limit")).to_have_text("Up to 1 MB a file.")
            await page.evaluate(WATCH)
            await page.evaluate(DROP, files)
            await expect(page.locator(".upload-summary")).to_have_text("3 read, 2 could not be read")
            await expect(page.locator("li.read")).to_have_count(3)
            lines = await told(page)
            assert "notes.pages: Pages files can't be read. Export it as PDF or Word." in lines
            assert "long.md: Larger than 1 MB. Split the file." in lines
            assert {"season.pdf: sending", "season.pdf: read, 3 pages", "repairs.docx: read, 1 page"} <= set(lines)
            assert any("waiting" in line or "reading" in line for line in lines)

            asked_of = {"What was painted green?": "season.pdf", "When does ramp three close?": "repairs.docx"}
            for question, document in asked_of.items():
                asked = call(url, f"{BASE}/chat", {"message": question})[1]["message"]
                assert [citation["document"] for citation in asked["citations"]] == [document], asked

            await page.goto(f"{url}library")
            await expect(page.locator(".sources .status")).to_have_text("Up to date")
            await expect(page.locator(".list tbody tr")).to_have_count(3)
            await page.locator(".list tr", has_text="season").locator("input").check()
            await page.click(".chosen-bar .danger")
            await expect(page.locator("main")).to_contain_text("answers that rest on it are deleted for good")
            assert "season.pdf" in found(url, "lighthouse painted green")
            await page.click(".notice button")
            await expect(page.locator(".list tbody tr")).to_have_count(2)
            assert "season.pdf" not in found(url, "lighthouse painted green")
            assert sorted(path.name for path in (data_dir / "uploads").rglob("*.*") if path.is_file()) == [
                "fair.md",
                "repairs.docx",
            ]


@asynccontextmanager
async def linked_site(page: str) -> AsyncIterator[str]:
    """A website on this machine; the address of its only page."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=page, content_type="text/html")

    site = web.Application()
    site.router.add_get("/ferries", answer)
    async with TestServer(site) as server:
        yield str(server.make_url("/ferries"))


@asynccontextmanager
async def filling(folder: Path, fetch: FetchLink, place: UploadPlace | None = None) -> AsyncIterator[str]:
    """The library's pages over real uploads and their real ingest; links are fetched by `fetch`.

    With a `place`, people of Slack can read, too.
    """
    others_read, place = place is not None, place or UploadPlace(folder)
    shelves = Shelves(stores=place.stores, index=place.index)
    additions = shelves.additions(place.uploads, fetch)
    if others_read:
        additions.access.audiences["slack"] = OperatorAlone()
    app = build_web(shelves.parts(), [partial(add_uploads, additions=additions)])
    reading = asyncio.create_task(place.uploads.work(["local"]))
    async with TestClient(TestServer(app)) as client:
        await sign_in(client, Role.OWNER)
        yield str(client.make_url("/library/uploads"))
    reading.cancel()
    await asyncio.wait({reading})


async def test_a_pasted_link_is_read_opened_and_taken_back(tmp_path: Path) -> None:
    near = partial(fetch_link, allowed=lambda address: True)
    page_text = f"<title>Ferries</title><h1>Ferries</h1><p>{PUMP}</p>"
    async with linked_site(page_text) as link, filling(tmp_path, near) as url, browsing() as people:
        _, page = await people.newcomer(url)
        await page.get_by_label("Or paste a link").fill(link)
        await page.keyboard.press("Enter")
        line = page.locator(".upload-files li")
        await expect(line).to_contain_text(f"Added {link}: 1 page.")
        await expect(page.get_by_label("Or paste a link")).to_have_value("")
        opened = await page.context.new_page()
        await opened.goto(await line.get_by_text("Open").evaluate("link => link.href"))
        await expect(opened.locator("main")).to_contain_text(PUMP)

        await page.bring_to_front()
        await page.get_by_role("button", name="Undo").click()
        await expect(line).to_contain_text(f"You took {link} back. It can't be read any more.")
        await expect(page.get_by_role("button", name="Undo")).to_have_count(0)
        assert (await opened.goto(opened.url)).status == 404  # type: ignore[union-attr]
        assert people.complaints.pop().startswith("Failed to load resource")  # the browser's own word

        await page.get_by_label("Or paste a link").fill(f"{link}/gone")
        await page.get_by_role("button", name="Add link").click()
        await expect(page.locator("li.refused")).to_contain_text("The server answered 404. Check the address.")


@pytest.mark.parametrize("has_script", [True, False])
async def test_where_others_read_the_page_asks_for_the_readers_before_it_adds_a_file(
    tmp_path: Path, has_script: bool
) -> None:
    place = UploadPlace(tmp_path)
    fair = {"name": "fair.md", "mimeType": "", "buffer": f"# Fair\n\n{PUMP}\n".encode()}
    async with (
        filling(tmp_path, partial(fetch_link, allowed=lambda address: False), place) as url,
        browsing() as people,
    ):
        _, page = await people.newcomer(url, java_script_enabled=has_script)
        if has_script:
            await page.evaluate(DROP, {"fair.md": f"# Fair\n\n{PUMP}\n"})
        else:
            await page.set_input_files("#upload-files", [fair])
            await page.click(".upload-zone button")
        assert await page.locator("select:invalid").count() > 0
        assert place.on_disk() == [] and await page.locator(".upload-files li").count() == 0

        choice = page.get_by_label("Who may read it in chats?").first
        await choice.select_option("some")
        await page.get_by_label("Certain readers").first.fill("role:7")
        await (page.keyboard.press("Tab") if has_script else page.click(".upload-zone button"))
        await expect(page.locator("li.read")).to_have_text("fair.md: read, 1 page")
        assert [*(await place.corpus.narrowed("local")).values()] == [frozenset({frozenset({"role:7"})})]

        await page.reload()
        await expect(choice).to_have_value("some" if has_script else "")  # the browser remembers it


async def test_the_service_reads_no_link_of_the_own_network(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "data") as service:
        url = service.wait_ready()["url"]
        async with browsing() as people:
            _, page = await people.newcomer(f"{url}library")
            await page.get_by_label("Or paste a link").fill(f"{url}metrics")
            await page.get_by_role("button", name="Add link").click()
            await expect(page.locator("li.refused")).to_contain_text("is an address of your own network")
            assert await page.get_by_role("button", name="Undo").count() == 0


async def test_without_a_script_a_link_is_added_too(tmp_path: Path) -> None:
    near = partial(fetch_link, allowed=lambda address: True)
    site = linked_site(f"<h1>Fair</h1><p>{PUMP}</p>")
    async with site as link, filling(tmp_path, near) as url, browsing() as people:
        _, page = await people.newcomer(url, java_script_enabled=False)
        await page.fill("#upload-url", link)
        await page.get_by_role("button", name="Add link").click()
        await expect(page.locator("li.read")).to_contain_text(f"Added {link}: 1 page.")  # it loads itself again
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator("li.undone")).to_contain_text("It can't be read any more.")
        assert await page.get_by_role("button", name="Undo").count() == 0


async def test_without_a_script_a_form_does_the_same(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with ServiceProcess(data_dir) as service:
        url = service.wait_ready()["url"]
        async with browsing() as people:
            _, page = await people.newcomer(f"{url}library", java_script_enabled=False)
            given = [("fair.md", f"# Fair\n\n{PUMP}\n"), ("old.doc", "x")]
            await page.set_input_files(
                "#upload-files", [{"name": name, "mimeType": "", "buffer": text.encode()} for name, text in given]
            )
            await page.click(".upload-zone button")
            await expect(page.locator("li.refused")).to_have_text(
                "old.doc: Old Word files can't be read. Export it as .docx."
            )
            await expect(page.locator("li.read")).to_have_text("fair.md: read, 1 page")  # the page loads itself again
            await page.click("text=fair.md")
            assert PUMP in await page.locator("main").inner_text()
