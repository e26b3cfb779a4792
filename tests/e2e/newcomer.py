"""What a newcomer does in the web app, as steps that a test checks and a benchmark times."""

import asyncio
import io
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from docx import Document
from playwright.async_api import Page, expect

from tests.e2e.browsing import say
from tests.unit.storage.documents.pdf_files import build_pdf

LIGHT = "The lighthouse of Skerrow was painted green in April."
RAMP = "Ramp three closes for repairs on Monday."
PUMP = "Ben mends the pump before the harbour fair."
# Questions about the dropped files, the file that answers each, and words of the answer.
ASKED = (
    ("What was painted green in April?", "lighthouse", "painted green"),
    ("When does ramp three close?", "repairs", "on Monday"),
    ("Who mends the pump?", "fair", "Ben mends"),
)
# Drops files as a person does, on the page's drop zone: {name: text, or a list of bytes}.
DROP = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, data] of Object.entries(files)) {
    transfer.items.add(new File([typeof data === "string" ? data : new Uint8Array(data)], name));
  }
  const zone = document.querySelector(".upload-zone");
  for (const kind of ["dragenter", "dragover", "drop"]) {
    zone.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }
}"""
# Notes all that the lines of files say.
WATCH = """() => {
  window.told = [];
  new MutationObserver(() => {
    for (const line of document.querySelectorAll(".upload-line, .upload-files li")) {
      if (!window.told.includes(line.textContent)) window.told.push(line.textContent);
    }
  }).observe(document.getElementById("drop-zone"), { childList: true, subtree: true, characterData: true });
}"""
COUNT = """() => { window.presses = 0; addEventListener("click", () => { window.presses += 1; }, true); }"""
# Bytes of styles and scripts that the page has loaded, before any compression, and when it first painted.
WEIGHT = """async () => {
  const names = performance.getEntriesByType("resource").map((entry) => entry.name);
  const own = [...new Set(names)].filter((name) => /\\.(css|js)(\\?|$)/.test(name));
  const sizes = await Promise.all(own.map(async (name) => (await (await fetch(name)).arrayBuffer()).byteLength));
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), paint: paint ? paint.startTime : 0 };
}"""


class Times:
    """Seconds by step, in order."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.seconds[name] = time.monotonic() - began

    def __str__(self) -> str:
        return "\n".join(f"{name:45} {seconds:6.2f} s" for name, seconds in self.seconds.items())


def three_files() -> dict[str, str | list[int]]:
    """A PDF, a Word file and a Markdown file."""
    document, file = Document(), io.BytesIO()
    document.add_heading("Repairs", 1)
    document.add_paragraph(RAMP)
    document.save(file)
    pages = [[(50, 700, line)] for line in (LIGHT, "The second page.", "The third page.")]
    return {
        "lighthouse.pdf": list(build_pdf(pages)),
        "repairs.docx": list(file.getvalue()),
        "fair.md": f"# Fair\n\n{PUMP}\n",
    }


async def ask_first(page: Page, question: str, times: Times) -> None:
    """Type as soon as the page is there, and press Enter: a footnote comes without any click."""
    await page.evaluate(COUNT)
    with times.step("typed question to first footnote"):
        await expect(page.locator("#text")).to_be_focused()
        await page.keyboard.type(question)
        await page.keyboard.press("Enter")
        await expect(page.locator("a.footnote").first).to_be_visible()
    assert await page.evaluate("window.presses") == 0


async def open_source(page: Page, times: Times) -> str:
    """Press the first number, and go back with a key; gives what is marked."""
    with times.step("number to its page"):
        await page.locator("a.footnote").first.click()
        await expect(page.locator("#pane mark").first).to_be_visible()
    marked = await page.locator("#pane mark").first.inner_text()
    await page.keyboard.press("Escape")
    await expect(page.locator("#pane")).to_be_hidden()
    return marked


async def drop(page: Page, files: dict[str, Any], times: Times) -> list[str]:
    """Drop files on the page that is open, and wait until they are read; gives all that their lines said."""
    await page.evaluate(WATCH)
    with times.step(f"{len(files)} files dropped to all read"):
        await page.evaluate(DROP, files)
        for name in files:
            await expect(page.locator("#drop-zone li.read", has_text=name)).to_have_count(1)
    told: list[str] = await page.evaluate("window.told")
    return told


async def ask_new(page: Page, question: str) -> None:
    """Ask in a thread of its own, and wait for the answer."""
    await page.click("#place-ask")
    await expect(page.locator("body.is-new")).to_have_count(1)
    await page.wait_for_load_state()  # before, no script takes the key that sends
    await say(page, question)
    await settled(page)


async def settled(page: Page, count: int = 1) -> None:
    await expect(page.locator(".from-bot[data-id]")).to_have_count(count)
    await expect(page.locator("#messages .waiting")).to_have_count(0)


async def remove(page: Page, url: str, title: str) -> None:
    """Remove a document on the library page, which tells first what that causes."""
    await page.goto(f"{url}library")
    await page.locator(".list tr", has_text=title).locator("input").check()
    await page.click(".chosen-bar .danger")
    await expect(page.locator("main")).to_contain_text("answers that rest on it are deleted for good")
    await page.click(".notice button")
    await expect(page.locator(".list tr", has_text=title)).to_have_count(0)


@asynccontextmanager
async def reading_held(page: Page, service: int, files: dict[str, Any]) -> AsyncIterator[None]:
    """Drop files, and hold the process in which a service (by its id) reads them, until the end of the block."""
    await page.evaluate(DROP, files)
    readers = await asyncio.to_thread(_wait_for_children, service)
    for reader in readers:
        os.kill(reader, signal.SIGSTOP)
    try:
        yield
    finally:
        for reader in readers:
            os.kill(reader, signal.SIGCONT)


def long_pdf() -> list[int]:
    """A file that takes long enough to be caught while it is read."""
    return list(build_pdf([[(50, 700, f"Page {number} of the tide tables.")] for number in range(1, 300)]))


def _wait_for_children(process: int) -> list[int]:
    while not (found := Path(f"/proc/{process}/task/{process}/children").read_text().split()):
        time.sleep(0.01)
    return [int(child) for child in found]
