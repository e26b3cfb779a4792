"""The demo as people meet it: the real service over the sample library, in a real browser."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.async_api import Locator, Page, expect

from bot.cli.demo import DEMO_FOLDER, load_examples
from tests import forked
from tests.copying import copy_folder
from tests.e2e.browsing import BROWSER_TEST, browsing, say
from tests.e2e.conftest import SAMPLES
from tests.e2e.serving import ServiceProcess
from tests.entering import enter

pytestmark = BROWSER_TEST
EXAMPLES = load_examples()
# Notes every state of an answer in the making: how long its draft is, and how many steps are shown.
WATCH = """() => {
  window.seen = [];
  new MutationObserver(() => {
    const [waiting] = document.querySelectorAll(".waiting");
    if (!waiting) return;
    const state = [waiting.querySelector(".draft").textContent.length, waiting.querySelectorAll(".step").length];
    if (String(window.seen.at(-1)) !== String(state)) window.seen.push(state);
  }).observe(document.getElementById("messages"), { childList: true, subtree: true, characterData: true });
}"""


class Demo:
    """A running demo."""

    def __init__(self, process: ServiceProcess) -> None:
        assert process.process.stdout is not None
        said = process.process.stdout.readline()
        assert said.startswith("Footnote is ready: http://127.0.0.1:"), process.log.read_text()
        self.url = enter(said.split()[3])
        self.data_dir = process.data_dir / DEMO_FOLDER

    def command(self, *arguments: str) -> str:
        """What a command prints that goes through the service."""
        return forked.run(["bot", "--data-dir", str(self.data_dir), *arguments], check=True).stdout


@pytest.fixture
def demo(ingested: Path, tmp_path: Path) -> Iterator[Demo]:
    copy_folder(ingested, tmp_path / "data" / DEMO_FOLDER)
    with ServiceProcess(tmp_path / "data", "demo", "--serve") as process:
        yield Demo(process)


async def opened_by(page: Page, link: Locator) -> Page:
    """The page that a link leads to, in a tab of its own."""
    source = await page.context.new_page()
    await source.goto(urljoin(page.url, await link.get_attribute("href") or ""))
    return source


async def answers(page: Page, count: int) -> None:
    """Wait until so many answers stand there, and none is in the making."""
    await expect(page.locator(".from-bot[data-id]")).to_have_count(count)
    await expect(page.locator(".waiting")).to_have_count(0)


COUNT = """() => { window.presses = 0; addEventListener("click", () => { window.presses += 1; }, true); }"""


async def ask_as_a_newcomer(demo: Demo, **options: Any) -> tuple[str, int]:
    """Type a question as soon as the page is there, and press Enter; gives who asked by the page, and the clicks."""
    async with browsing() as people:
        _, page = await people.newcomer(demo.url, **options)
        await page.evaluate(COUNT)
        await expect(page.locator("#text")).to_be_focused()
        await page.keyboard.type(EXAMPLES[0].question)
        await page.keyboard.press("Enter")
        await expect(page.locator("a.footnote").first).to_be_visible()
        await expect(page.locator(".answer")).to_contain_text(EXAMPLES[0].quote)
        await expect(page.locator("#threads a")).to_have_count(1)
        assert await page.locator("dialog[open]").count() == 0
        width = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert width <= 0, "it scrolls sideways"
        chips = await page.locator(".chips").bounding_box()
        rows = await page.locator(".from-bot .row").bounding_box()
        assert chips is not None and rows is not None
        assert rows["y"] + rows["height"] - chips["y"] <= 130, "the rows under an answer are two"
        return await page.locator("#person-name").inner_text(), await page.evaluate("window.presses")


async def test_a_newcomer_types_a_question_and_reads_the_first_footnote_without_a_click_or_a_name(demo: Demo) -> None:
    assert await ask_as_a_newcomer(demo) == ("You", 0)


async def test_a_newcomer_on_a_phone_does_the_same(demo: Demo) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    assert (await ask_as_a_newcomer(demo, **phone))[1] == 0


async def test_a_newcomer_presses_an_example_once(demo: Demo) -> None:
    async with browsing() as people:
        _, page = await people.newcomer(demo.url)
        await page.evaluate(COUNT)
        await page.locator(".examples button").first.click()
        await expect(page.locator("a.footnote").first).to_be_visible()
        assert await page.evaluate("window.presses") == 1
        await expect(page.locator("#messages")).not_to_contain_text("no language model")
        await expect(page.locator("#quotes-only")).to_be_visible()


async def test_a_question_is_asked_and_read_without_javascript(demo: Demo) -> None:
    async with browsing() as people:
        _, page = await people.newcomer(demo.url, java_script_enabled=False)
        await page.fill("#text", EXAMPLES[0].question)
        await page.click("#send")
        await expect(page.locator("a.footnote").first).to_be_visible()
        await page.click("a.footnote >> nth=0")
        marked = await page.locator("mark").first.inner_text()

    assert EXAMPLES[0].quote[:20] in marked


async def test_from_an_example_to_its_source_and_a_follow_up(demo: Demo) -> None:
    example = EXAMPLES[0]
    async with browsing() as people:
        _, page = await people.person(demo.url, "Ada")
        await page.evaluate(WATCH)
        await page.click(f".examples button >> text={example.question}")
        await answers(page, 1)
        seen = await page.evaluate("window.seen")
        assert len(seen) >= 3, "waiting, steps, a draft"
        assert max(length for length, _ in seen) > 0, "the draft is seen before the answer is posted"

        await expect(page.get_by_text(example.quote)).to_have_count(1)
        source = await opened_by(page, page.locator("a.footnote").first)
        await expect(source.locator("mark").first).to_contain_text(example.quote[:20])
        await expect(source.locator("mark").first).to_be_in_viewport()
        await page.bring_to_front()

        await say(page, "What went badly?")
        await answers(page, 2)
        await expect(page.locator(".said")).to_have_text([example.question, "What went badly?"])
        await expect(page.locator(".from-bot[data-id]").last.locator("a.footnote").first).to_be_visible()


async def test_a_number_opens_its_source_beside_the_answer_and_a_key_leads_back(demo: Demo) -> None:
    async with browsing() as people:
        _, page = await people.newcomer(demo.url)
        await page.click(f".examples button >> text={EXAMPLES[0].question}")
        await answers(page, 1)
        await page.evaluate(COUNT)
        number = page.locator("a.footnote").first
        await number.click()
        await expect(page.locator("#pane mark").first).to_contain_text(EXAMPLES[0].quote[:20])
        await expect(page.locator(".chip .is-open, .chip:has(.is-open)").first).to_be_visible()
        await expect(page.locator(".answer")).to_be_in_viewport()
        assert await page.evaluate("window.presses") == 1

        await page.reload()
        await expect(page.locator("#pane mark").first).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.locator("#pane")).to_be_hidden()
        await page.locator("a.footnote").first.focus()
        await page.keyboard.press("Enter")
        await expect(page.locator("#pane-title")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.locator("a.footnote").first).to_be_focused()
        await page.keyboard.press("n")
        await expect(page.locator("#text")).to_be_focused()
        assert urlsplit(page.url).path == "/"


async def test_keys_go_through_a_list_and_write_in_text_fields(demo: Demo) -> None:
    async with browsing() as people:
        _, page = await people.newcomer(f"{demo.url}library")
        links, boxes = page.locator(".list tbody a"), page.locator(".list tbody input")
        await expect(page.locator("#threads")).to_have_text("None yet.")  # the frame's script is there
        await page.keyboard.press("j")
        await expect(links.nth(0)).to_be_focused()
        await page.keyboard.press("j")
        await page.keyboard.press("x")
        await expect(boxes.nth(1)).to_be_checked()
        await page.keyboard.press("k")
        await expect(links.nth(0)).to_be_focused()
        await page.locator("#q").press_sequentially("jkx?")
        assert await page.locator("#q").input_value() == "jkx?"
        await expect(boxes.nth(0)).not_to_be_checked()
        await page.keyboard.press("Control+k")
        await expect(page.locator("#find")).to_be_focused()
        await page.locator("h1").click()
        await page.keyboard.press("?")
        await expect(page.locator("#keys")).to_contain_text("Choose the row")
        await page.uncheck("#keys-on")
        await page.keyboard.press("Escape")
        await expect(page.locator("#keys")).to_be_hidden()
        await page.keyboard.press("j")
        await expect(page.locator(".list a:focus")).to_have_count(0)


async def test_an_empty_library_says_so_and_takes_a_file_that_is_asked_about_at_once(tmp_path: Path) -> None:
    with ServiceProcess(tmp_path / "data") as service:
        async with browsing() as people:
            _, page = await people.newcomer(service.wait_ready()["url"])
            await page.evaluate(COUNT)
            await expect(page.locator("#hint")).to_contain_text("Nothing to read yet")
            await page.set_input_files("#drop-zone input.upload-input", SAMPLES / EXAMPLES[0].document)
            await expect(page.locator("#drop-zone li.read")).to_have_count(1)
            await expect(page.locator(".newest")).to_contain_text("New:")
            await expect(page.locator("#hint")).to_have_text("")
            await say(page, EXAMPLES[0].question)
            await expect(page.locator("a.footnote").first).to_be_visible()
            assert await page.evaluate("window.presses") <= 1, "the one that chooses the file"


async def test_a_footnote_into_a_pdf_shows_its_page(demo: Demo) -> None:
    [example] = [item for item in EXAMPLES if item.document.endswith(".pdf")]
    async with browsing() as people:
        _, page = await people.person(demo.url, "Ada")
        await page.click(f".examples button >> text={example.question}")
        await answers(page, 1)
        await expect(page.locator(".chip").first).to_contain_text("p. 3")
        source = await opened_by(page, page.locator("a.source").first)
        await expect(source.locator(".printed img")).to_have_js_property("naturalWidth", 1200)
        assert await source.locator(".printed img").count() == 1
        await expect(source.locator("mark").first).to_be_in_viewport()


async def test_threads_are_listed_renamed_deleted_and_those_of_the_terminal_read(demo: Demo) -> None:
    asked = await asyncio.to_thread(demo.command, "ask", EXAMPLES[1].question, "--json")
    async with browsing() as people:
        _, page = await people.person(demo.url, "Ada")
        await say(page, EXAMPLES[0].question)
        await answers(page, 1)
        await page.fill("#text", "/thr")
        await expect(page.locator("#completion li")).to_have_count(1)
        await page.press("#text", "Tab")
        await page.press("#text", "Enter")
        await expect(page.locator(".result li")).to_have_count(2)
        await expect(page.locator(".result")).to_contain_text(EXAMPLES[1].question)

        await page.click("#tools > summary")
        await page.click("#rename")
        await page.fill("#ask-input", "The gates")
        await page.keyboard.press("Enter")
        await expect(page.locator("#title")).to_have_text("The gates")
        await expect(page.locator("#threads a")).to_have_count(1)
        await page.click("#tools > summary")
        await page.click("#delete")
        await page.click("#ask-yes")
        await expect(page.locator("#title")).to_have_text("Ask your documents")

        await say(page, "/open 1")
        await expect(page.locator("#title")).to_have_text(EXAMPLES[1].question)
        await expect(page.locator("#elsewhere")).to_contain_text(json.loads(asked)["conversation_id"])
        await expect(page.locator("#composer")).to_be_hidden()
        await expect(page.locator(".answer")).to_contain_text(EXAMPLES[1].quote)
        await page.click("#place-ask")
        await expect(page.locator("#text")).to_be_visible()
    kept = json.loads(await asyncio.to_thread(demo.command, "conversations", "list", "--json"))["conversations"]
    assert [item["title"] for item in kept] == [EXAMPLES[1].question]  # the other one was deleted


async def test_two_people_see_each_other_s_questions_and_their_answers(demo: Demo) -> None:
    async with browsing() as people:
        _, one = await people.person(demo.url, "Ada")
        await say(one, EXAMPLES[0].question)
        await answers(one, 1)
        _, two = await people.person(one.url, "Ben")
        await say(two, "@Ada thank you!")
        await say(two, "What went badly?")
        for page, names in ((one, ["You", "Footnote", "Ben", "Ben"]), (two, ["Ada", "Footnote", "You", "You"])):
            await answers(page, 2)
            await expect(page.locator(".byline strong")).to_have_text([*names, "Footnote"])
            said = await page.locator(".said").all_inner_texts()
            assert said == [EXAMPLES[0].question, "@Ada thank you!", "What went badly?"]
