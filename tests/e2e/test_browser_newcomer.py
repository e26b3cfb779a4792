"""A newcomer in the web app, from the demo and from an empty service: asks, opens a source, adds files, removes one.

Nothing asserts on the times that are in the report (`-rP`); `python -m tests.benchmarks.bench_newcomer` takes more.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.async_api import Page, expect

from bot.cli.demo import DEMO_FOLDER, load_examples
from core.access.availability import ANSWERS_LATER, LOOKS_AGAIN
from tests.copying import copy_folder
from tests.e2e.browsing import BROWSER_TEST, browsing, say
from tests.e2e.newcomer import (
    ASKED,
    LIGHT,
    Times,
    ask_first,
    ask_new,
    drop,
    long_pdf,
    open_source,
    reading_held,
    remove,
    settled,
    three_files,
)
from tests.e2e.serving import ServiceProcess

pytestmark = BROWSER_TEST
EXAMPLE = load_examples()[0]
TITLES = {"lighthouse": "lighthouse", "repairs": "Repairs", "fair": "Fair"}  # of the dropped files
FERRY = "How many horses pull the ferry?"
# What each page of an empty library says, and where it leads.
EMPTY = {
    "library": "Nothing here yet. Add documents, and ask about them as soon as they are read.",
    "library/extracts": "Nothing here yet",
    "library/graph": "Nothing links here yet.",
    "library/statistics": "No questions yet.",
    "jobs": "Nothing yet. Questions and the reading of documents are listed here.",
}


@pytest.fixture
def demo(ingested: Path, tmp_path: Path) -> Iterator[str]:
    copy_folder(ingested, tmp_path / "data" / DEMO_FOLDER)
    with ServiceProcess(tmp_path / "data", "demo", "--serve") as process:
        assert process.process.stdout is not None
        yield process.process.stdout.readline().split()[3]


async def ask_about_each(page: Page, times: Times) -> None:
    for question, document, words in ASKED:
        with times.step(f"asked about {document}"):
            await ask_new(page, question)
        await expect(page.locator(".answer")).to_contain_text(words)
        await expect(page.locator("a.footnote").first).to_have_attribute(
            "aria-label", re.compile(f"Footnote 1, {TITLES[document]}")
        )


async def test_a_newcomer_to_the_demo(demo: str) -> None:
    times = Times()
    async with browsing() as people:
        with times.step("the page takes a question"):
            _, page = await people.newcomer(demo)
            await expect(page.locator("#text")).to_be_focused()
        await ask_first(page, EXAMPLE.question, times)
        assert EXAMPLE.quote[:20] in await open_source(page, times)

        await page.click("#place-ask")
        await page.evaluate("window.dispatchEvent(new DragEvent('dragenter'))")
        await expect(page.locator(".upload-zone")).to_be_visible()
        told = await drop(page, three_files(), times)
        assert {"lighthouse.pdf: read, 3 pages", "repairs.docx: read, 1 page", "fair.md: read, 1 page"} <= set(told)
        assert any("sending" in line or "waiting" in line or "reading" in line for line in told), (
            "no progress was shown"
        )
        await ask_about_each(page, times)
        await remove(page, urljoin(demo, "/"), "lighthouse")
        await ask_new(page, ASKED[0][0])
        await expect(page.locator(".answer")).not_to_contain_text(LIGHT)
    print(times)  # noqa: T201 - the report


async def test_a_newcomer_to_an_empty_service(tmp_path: Path) -> None:
    times = Times()
    with ServiceProcess(tmp_path / "data") as service:
        url = service.wait_ready()["url"]
        async with browsing() as people:
            _, page = await people.newcomer(url)
            await expect(page.locator("#hint")).to_contain_text("Nothing to read yet")
            for path, sentence in EMPTY.items():
                await page.goto(f"{url}{path}")
                await expect(page.locator("main")).to_contain_text(sentence)

            await page.goto(url)
            await say(page, ASKED[0][0])
            await settled(page)
            await expect(page.locator(".answer")).to_contain_text(
                f"I have nothing to read yet. Add a document, and {ANSWERS_LATER}"
            )
            told = await drop(page, three_files(), times)
            assert "lighthouse.pdf: read, 3 pages" in told
            with times.step("all read to the early question's answer"):
                await expect(page.locator("a.footnote").first).to_be_visible()
            await expect(page.locator(".said")).to_have_text(ASKED[0][0])
            await settled(page)
            assert LIGHT in await open_source(page, times)
            await ask_about_each(page, times)

            await page.goto(url)
            await page.evaluate("window.dispatchEvent(new DragEvent('dragenter'))")
            await expect(page.locator(".upload-zone")).to_be_visible()
            files = {"tides.pdf": long_pdf(), "torn.pdf": "%PDF-1.7 torn", "buoy.md": "# Buoy\n\nIt rings.\n"}
            async with reading_held(page, service.process.pid, files):
                await expect(page.locator("#drop-zone li.waiting, #drop-zone li.reading").first).to_be_visible()
                shown = await page.context.new_page()
                await shown.goto(f"{url}library")
                await expect(shown.locator(".sources .status")).to_contain_text("Reading 1 of")
                await say(page, FERRY)
                await settled(page)
                await expect(page.locator(".answer")).to_contain_text(re.compile("Still reading [123] file"))
                await expect(page.locator(".answer")).to_contain_text(LOOKS_AGAIN)
            with times.step("the held files to the answer that follows"):
                await expect(page.locator(".answer")).not_to_contain_text(LOOKS_AGAIN)
            await expect(page.locator(".said")).to_have_text(FERRY)

            await expect(shown.locator(".sources .status")).to_have_text("1 could not be read")
            await expect(shown.locator("#failures")).to_contain_text("torn.pdf")
            await expect(shown.locator("#failures").get_by_role("button", name="Try torn.pdf again")).to_be_visible()
            await remove(page, url, "Fair")
            await ask_new(page, "Who mends the pump?")
            await expect(page.locator(".answer")).not_to_contain_text("Ben")
    print(times)  # noqa: T201 - the report
