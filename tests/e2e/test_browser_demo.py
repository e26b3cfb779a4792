"""The demo as people meet it: the real service over the sample library, in a real browser."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from bot.cli.demo import DEMO_FOLDER, load_examples
from tests import forked
from tests.copying import copy_folder
from tests.e2e.browsing import BROWSER_TEST, browsing, say
from tests.e2e.serving import ServiceProcess

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
        self.url = said.split()[3]
        self.data_dir = process.data_dir / DEMO_FOLDER

    def command(self, *arguments: str) -> str:
        """What a command prints that goes through the service."""
        return forked.run(["bot", "--data-dir", str(self.data_dir), *arguments], check=True).stdout


@pytest.fixture
def demo(ingested: Path, tmp_path: Path) -> Iterator[Demo]:
    copy_folder(ingested, tmp_path / "data" / DEMO_FOLDER)
    with ServiceProcess(tmp_path / "data", "demo", "--serve") as process:
        yield Demo(process)


async def answers(page: Page, count: int) -> None:
    """Wait until so many answers stand there, and none is in the making."""
    await expect(page.locator(".from-bot[data-id]")).to_have_count(count)
    await expect(page.locator(".waiting")).to_have_count(0)


async def test_from_an_example_to_its_source_and_a_follow_up(demo: Demo) -> None:
    example = EXAMPLES[0]
    async with browsing() as people:
        context, page = await people.person(demo.url, "Ada")
        await page.evaluate(WATCH)
        await page.click(f"#welcome button >> text={example.question}")
        await answers(page, 1)
        seen = await page.evaluate("window.seen")
        assert len(seen) >= 3, "waiting, steps, a draft"
        assert max(length for length, _ in seen) > 0, "the draft is seen before the answer is posted"

        footnote = page.locator("a.footnote").first
        await footnote.hover()
        await expect(page.locator("#note blockquote")).to_contain_text(example.quote)
        await expect(page.locator(".source-about").first).to_contain_text(example.quote)
        async with context.expect_page() as opened:
            await footnote.click()
        source = await opened.value
        await expect(source.locator("mark").first).to_contain_text(example.quote[:20])
        await expect(source.locator("mark").first).to_be_in_viewport()

        await page.bring_to_front()
        await say(page, "What went badly?")
        await answers(page, 2)
        await expect(page.locator(".said")).to_have_text([example.question, "What went badly?"])
        await expect(page.locator(".from-bot[data-id]").last.locator("a.footnote").first).to_be_visible()


async def test_a_footnote_into_a_pdf_shows_its_page_small_and_large(demo: Demo) -> None:
    [example] = [item for item in EXAMPLES if item.document.endswith(".pdf")]
    async with browsing() as people:
        context, page = await people.person(demo.url, "Ada")
        await page.click(f"#welcome button >> text={example.question}")
        await answers(page, 1)
        small = page.locator("img.source-picture").first
        await expect(small).to_have_js_property("naturalWidth", 160)
        await expect(small).to_have_attribute("alt", "Image of page 3")
        async with context.expect_page() as opened:
            await page.locator("a.source").first.click()
        source = await opened.value
        await expect(source.locator(".printed img")).to_have_js_property("naturalWidth", 1200)
        assert await source.locator(".printed img").count() == 1
        await expect(source.locator("mark").first).to_be_in_viewport()


async def test_threads_are_listed_renamed_deleted_and_those_of_the_terminal_read(demo: Demo) -> None:
    asked = await asyncio.to_thread(demo.command, "ask", EXAMPLES[1].question, "--json")
    async with browsing() as people:
        _, page = await people.person(demo.url, "Ada")
        await say(page, f"@footnote {EXAMPLES[0].question}")
        await answers(page, 1)
        await page.fill("#text", "/thr")
        await expect(page.locator("#completion li")).to_have_count(1)
        await page.press("#text", "Tab")
        await page.press("#text", "Enter")
        await expect(page.locator(".result li")).to_have_count(2)
        await expect(page.locator(".result")).to_contain_text(EXAMPLES[1].question)

        await page.click("#rename")
        await page.fill("#ask-input", "The gates")
        await page.keyboard.press("Enter")
        await expect(page.locator("#title")).to_have_text("The gates")
        await expect(page.locator("#threads a")).to_have_count(1)
        await page.click("#delete")
        await page.click("#ask-yes")
        await expect(page.locator("#title")).to_have_text("#general")

        await say(page, "/open 1")
        await expect(page.locator("#title")).to_have_text(EXAMPLES[1].question)
        await expect(page.locator("#elsewhere")).to_contain_text(json.loads(asked)["conversation_id"])
        await expect(page.locator("#composer")).to_be_hidden()
        await page.locator("a.footnote").first.hover()
        await expect(page.locator("#note blockquote")).to_contain_text(EXAMPLES[1].quote)
        await page.click("#up")
        await expect(page.locator("#text")).to_be_visible()
    kept = json.loads(await asyncio.to_thread(demo.command, "conversations", "list", "--json"))["conversations"]
    assert [item["title"] for item in kept] == [EXAMPLES[1].question]  # the other one was deleted


async def test_two_people_see_each_other_s_questions_and_their_answers(demo: Demo) -> None:
    async with browsing() as people:
        _, one = await people.person(demo.url, "Ada")
        await say(one, f"@footnote {EXAMPLES[0].question}")
        await answers(one, 1)
        _, two = await people.person(one.url, "Ben")
        await say(two, "@Ada thank you!")
        await say(two, "What went badly?")
        for page in (one, two):
            await answers(page, 2)
            await expect(page.locator(".byline strong")).to_have_text(["Ada", "Footnote", "Ben", "Ben", "Footnote"])
            said = await page.locator(".said").all_inner_texts()
            assert said == [EXAMPLES[0].question, "@Ada thank you!", "What went badly?"]
