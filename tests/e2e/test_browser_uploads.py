"""A newcomer with an empty library: files are dropped, read, asked about and removed, in a real browser."""

import io
import json
from pathlib import Path
from urllib.parse import quote

from docx import Document
from playwright.async_api import Page, expect

from tests.e2e.browsing import BROWSER_TEST, PATIENCE_MS, browsing
from tests.e2e.serving import ServiceProcess
from tests.e2e.test_api import call
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
            context = await people.browser.new_context()
            context.set_default_timeout(PATIENCE_MS)
            page = await context.new_page()
            await page.goto(f"{url}library")
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
            await expect(page.locator("main")).to_contain_text("1 answer cites it and will be marked.")
            assert "season.pdf" in found(url, "lighthouse painted green")
            await page.click(".notice button")
            await expect(page.locator(".list tbody tr")).to_have_count(2)
            assert "season.pdf" not in found(url, "lighthouse painted green")
            assert sorted(path.name for path in (data_dir / "uploads").rglob("*.*") if path.is_file()) == [
                "fair.md",
                "repairs.docx",
            ]


async def test_without_a_script_a_form_does_the_same(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with ServiceProcess(data_dir) as service:
        url = service.wait_ready()["url"]
        async with browsing() as people:
            context = await people.browser.new_context(java_script_enabled=False)
            context.set_default_timeout(PATIENCE_MS)
            page = await context.new_page()
            await page.goto(f"{url}library")
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
