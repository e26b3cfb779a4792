"""The side pane in a real browser: a source beside the thread, by click and by key, with the history and the focus."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from core.domain.passages import PageBox, Span
from storage.documents.page_images.boxes import find_boxes
from storage.documents.page_images.pages import Pictures
from storage.documents.pdf.recognition import is_installed
from tests.e2e.browsing import BROWSER_TEST, Browsing, browsing, say
from tests.integration.test_recognised_scan import MINUTES, scan
from tests.integration.test_recognised_scan import page as sheet
from tests.unit.bot.web.chat_place import ANSWER, KEY, ChatPlace, search
from tests.unit.bot.web.conftest import OpenBrowser, Shelves, browse, shelves
from tests.unit.bot.web.test_source_pane import STUDY, marking, season, shelve_pdf
from tests.unit.storage.documents.page_images.test_boxes import words_under
from tests.unit.storage.documents.pdf_files import build_pdf

__all__ = ["browse", "shelves"]  # fixtures

pytestmark = BROWSER_TEST

# What the thread's own scripts do: the pane's place, its styles, and links that open it.
WIRE = """async (hrefs) => {
  for (const name of ["source", "pane"]) {
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `/static/${name}.css` });
    await new Promise((loaded) => (sheet.onload = loaded, document.head.append(sheet)));
  }
  if (!document.getElementById("pane"))
    document.body.append(Object.assign(document.createElement("aside"), { id: "pane", hidden: true }));
  const list = hrefs.map((href, place) => ({ href, number: place + 1, label: `Other ${place + 1}` }));
  const { openPane } = await import("/static/pane.js");
  const links = list.map(({ href, number }, index) => {
    const link = Object.assign(document.createElement("a"), { href, id: `wired-${number}`, textContent: number });
    link.addEventListener("click", (event) => {
      event.preventDefault();
      openPane(href, link, { list, index });
    });
    return link;
  });
  document.querySelector("h1").before(...links);
}"""


@asynccontextmanager
async def answered() -> AsyncIterator[tuple[Page, Browsing]]:
    """A thread with an answer whose footnote, and the garden's page, are linked to the pane."""
    place = ChatPlace((search("t0"), ANSWER))
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", "# Garden\n\nThe garden has a shed.", title="House")
    async with place.open() as ada, browsing() as people:
        _, page = await people.person(str(ada.client.make_url("/")), "Ada")
        await say(page, "@footnote Where is the key?")
        await expect(page.locator("a.footnote")).to_have_count(1)
        href = await page.locator("a.footnote").get_attribute("href")
        assert href is not None
        await page.evaluate(WIRE, [href, f"{href.partition('#')[0]}/2"])
        yield page, people


async def test_a_source_opens_beside_the_thread_and_goes_with_back_and_escape() -> None:
    async with answered() as (page, _):
        before = page.url
        await page.click("#wired-1")
        pane = page.locator("#pane")
        await expect(pane.locator("mark")).to_contain_text("The key hangs under the stairs")
        await expect(pane).to_contain_text("Unchanged since this answer")
        await expect(pane.locator("[data-position]")).to_have_text("1 of 2")
        await expect(pane.locator("[data-also] a")).to_have_text(["2 Other 2"])
        assert "source=" in page.url

        await page.keyboard.press(".")
        await expect(pane.locator(".text")).to_contain_text("The garden has a shed.")
        await expect(pane.locator("[data-position]")).to_have_text("2 of 2")
        await page.go_back()
        await expect(pane).to_be_hidden()
        assert page.url == before
        await page.go_forward()
        await expect(pane.locator(".text")).to_contain_text("The garden has a shed.")
        await expect(pane.locator("[data-position]")).to_have_text("2 of 2")

        await page.keyboard.press("Escape")
        await expect(pane).to_be_hidden()
        await expect(page).to_have_url(before)
        await expect(page.locator("a.footnote")).to_have_count(1)  # the thread is still there


async def test_a_reader_with_a_keyboard_goes_into_the_pane_and_back_to_the_number() -> None:
    async with answered() as (page, _):
        await page.locator("#wired-1").focus()
        await page.keyboard.press("Enter")
        title = page.locator("#pane-title")
        await expect(title).to_be_focused()
        await page.keyboard.press(".")
        await expect(page.locator("#pane .text")).to_contain_text("The garden has a shed.")
        await expect(title).to_be_focused()
        await page.keyboard.press(",")
        await expect(page.locator("#pane mark")).to_contain_text("The key hangs")
        await page.keyboard.press("Escape")
        await expect(page.locator("#wired-1")).to_be_focused()
        assert "source=" not in page.url


async def test_an_address_with_a_source_opens_it_and_nothing_else() -> None:
    async with answered() as (page, people):
        await page.click("#wired-1")
        await expect(page.locator("#pane mark")).to_have_count(1)
        await page.reload()
        await page.evaluate(WIRE, [])
        await expect(page.locator("#pane mark")).to_contain_text("The key hangs")
        await page.keyboard.press("Escape")
        await expect(page.locator("#pane")).to_be_hidden()

        await page.goto(f"{page.url}?source=/chat/home")
        await page.evaluate(WIRE, ["/s/forged"])
        await expect(page.locator("#pane")).to_be_hidden()
        await page.click("#wired-1")
        await expect(page.locator("#pane")).to_contain_text("This link isn't valid")
        assert len(people.complaints) == 1  # the browser's own word on the 403
        people.complaints.clear()


# The boxes as they are drawn: left, top, width and height in shares of the picture.
BOXES = """() => {
  const page = document.querySelector("#pane .paper img").getBoundingClientRect();
  return [...document.querySelectorAll("#pane .boxes rect")].map((rect) => {
    const box = rect.getBoundingClientRect();
    return [(box.left - page.left) / page.width, (box.top - page.top) / page.height,
            box.width / page.width, box.height / page.height];
  });
}"""


async def test_a_pdf_shows_boxes_over_the_words_of_its_quote(
    browse: OpenBrowser, shelves: Shelves, tmp_path: Path
) -> None:
    printed, file = await season(shelves, tmp_path)
    client = await browse()
    quotes = (STUDY, "Fuel 502,300 488,900")
    hrefs = [marking(printed, quote).replace("&part=pane", "#cited") for quote in quotes]
    async with browsing() as people:
        _, page = await people.newcomer(str(client.make_url("/library")))
        await page.evaluate(WIRE, hrefs)
        await page.click("#wired-1")
        for quote in quotes:
            await expect(page.locator("#pane mark").first).to_contain_text(quote.split()[-1])
            await page.locator("#pane .paper img").evaluate("(image) => image.decode()")
            boxes = [PageBox(*box) for box in await page.evaluate(BOXES)]
            assert "".join(words_under(boxes, file, 3).split()) == "".join(quote.split())
            await page.keyboard.press(".")
        await page.go_back()
        await expect(page.locator("#pane")).to_be_hidden()


@pytest.mark.skipif(not is_installed(), reason="needs the extra ocr: pip install 'footnote[ocr]'")
async def test_a_scanned_page_shows_boxes_over_the_words_of_its_quote(
    browse: OpenBrowser, shelves: Shelves, tmp_path: Path
) -> None:
    (tmp_path / "printed.pdf").write_bytes(build_pdf([sheet(MINUTES)]))
    file = tmp_path / "scan.pdf"
    file.write_bytes(scan([(sheet(MINUTES), 0)]))
    text, quote = "\n".join(MINUTES), " ".join(MINUTES[1].split()[2:])
    printed = await shelve_pdf(shelves, file, [text])
    client = await browse(page_images=Pictures(has_ocr=True))
    async with browsing() as people:
        _, page = await people.newcomer(str(client.make_url("/library")))
        await page.evaluate(WIRE, [marking(printed, quote).replace("&part=pane", "#cited")])
        await page.click("#wired-1")
        await expect(page.locator("#pane .unplaced")).to_have_text("Marked on the scanned page.")
        await page.locator("#pane .paper img").evaluate("(image) => image.decode()")
        boxes = await page.evaluate(BOXES)

        assert "with the cited passage marked" in (await page.locator("#pane img").get_attribute("alt") or "")
        start = text.index(quote)
        (expected,) = find_boxes(str(tmp_path / "printed.pdf"), 1, text, Span(start, start + len(quote)))
        assert boxes == [pytest.approx((expected.left, expected.top, expected.width, expected.height), abs=0.015)]


async def test_on_a_phone_the_pane_is_a_sheet_with_the_cited_part_in_view(
    browse: OpenBrowser, shelves: Shelves, tmp_path: Path
) -> None:
    printed, _ = await season(shelves, tmp_path)
    client = await browse()
    async with browsing() as people:
        phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
        _, page = await people.newcomer(str(client.make_url("/library")), **phone)
        await page.evaluate(WIRE, [marking(printed, STUDY).replace("&part=pane", "#cited")])
        await page.click("#wired-1")
        await page.locator("#pane .paper img").evaluate("(image) => image.decode()")
        sheet = await page.locator("#pane").bounding_box()
        desk = await page.locator("#pane .pane-desk").bounding_box()
        assert sheet is not None and desk is not None
        assert (sheet["width"], round(sheet["height"])) == (390, round(0.85 * 844))
        await expect(page.locator("#pane-title")).to_be_focused()
        for rect in await page.locator("#pane .boxes rect").all():
            box = await rect.bounding_box()
            assert box is not None
            assert desk["x"] <= box["x"] and box["x"] + box["width"] <= desk["x"] + desk["width"]
            assert desk["y"] <= box["y"] and box["y"] + box["height"] <= desk["y"] + desk["height"]
        assert (
            await page.locator("#pane .paper").evaluate("(paper) => getComputedStyle(paper).filter")
            == "brightness(0.92)"
        )

        await page.click("#pane [data-zoom=whole]")
        paper = await page.locator("#pane .paper").bounding_box()
        assert paper is not None and paper["height"] <= desk["height"] + 1
        await page.click("#pane [data-close]")
        await expect(page.locator("#pane")).to_be_hidden()
