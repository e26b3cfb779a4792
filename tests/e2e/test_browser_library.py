"""What was extracted, and answers whose sources change, in a real browser: over stores in memory."""

import re
from urllib.parse import urljoin

import pytest
from playwright.async_api import Page, expect

from core.domain.extracts import ExtractType
from tests.e2e.browsing import BROWSER_TEST, browsing, say
from tests.scripted import says
from tests.unit.bot.web.chat_place import ANSWER, KEY, ChatPlace, Visitor, search

pytestmark = BROWSER_TEST
NEW_KEY = "The key hangs under the lamp."
BUYS, MENDS, DECIDED = "Ann buys the red paint by 20 November.", "Ben mends the pump.", "The slipway is closed."
MINUTES = f"# Council\n\n{BUYS}\n\n{MENDS}\n\n{DECIDED}"


@pytest.fixture
async def place() -> ChatPlace:
    """A house whose key may be moved, and the minutes of a meeting."""
    made = ChatPlace((search(), ANSWER, search("t2"), says(f"{NEW_KEY[:-1]} [1].")))
    await made.shelf.add("house.md", f"# Keys\n\n{KEY}", title="House")
    minutes = await made.shelf.add("minutes.md", MINUTES, title="Minutes")
    items = [
        {"description": "buy the red paint", "owner": "Ann", "due_date": "2026-11-20", **standing(BUYS)},
        {"description": "mend the pump", "owner": "Ben", **standing(MENDS)},
    ]
    decisions = [{"text": "close the slipway", **standing(DECIDED)}]
    meeting = {"title": "Council", "date": "2026-05-12", "action_items": items, "decisions": decisions}
    await made.shelf.extract(minutes, ExtractType.MEETING, meeting)
    return made


def standing(text: str) -> dict[str, object]:
    return {"page_number": 1, "span": [MINUTES.index(text), MINUTES.index(text) + len(text)]}


def home_of(ada: Visitor, path: str = "/") -> str:
    return str(ada.client.make_url(path))


async def opened_by(page: Page, where: str) -> Page:
    """The page that the first of these links leads to, in a tab of its own."""
    source = await page.context.new_page()
    await source.goto(urljoin(page.url, await page.locator(where).first.get_attribute("href") or ""))
    return source


async def test_a_thread_is_told_of_a_change_sees_it_and_asks_again(place: ChatPlace) -> None:
    async with place.open() as ada, browsing() as people:
        _, page = await people.person(home_of(ada), "Ada")
        await say(page, "Where is the key?")
        await expect(page.locator("a.footnote")).to_have_count(1)
        await place.shelf.add("house.md", f"# Keys\n\n{NEW_KEY}", title="House", revision="r2")
        await place.staleness.check()

        note = page.locator(".is-note")
        await expect(note).to_contain_text("“House” no longer says what footnote 1 quotes")
        await expect(page.locator(".stale")).to_have_count(1)
        await expect(page.locator("button.again")).to_have_count(2)  # under the answer, and under the note
        source = await opened_by(page, "a.footnote")
        await expect(source.locator(".since del")).to_have_text("stairs")
        await expect(source.locator(".since ins")).to_have_text("lamp")
        await expect(source.locator("mark").first).to_contain_text("under the")

        await page.bring_to_front()
        await note.locator("button.again").click()
        await expect(page.locator(".from-bot[data-id]").last).to_contain_text("under the lamp")
        await expect(page.locator(".said")).to_have_text(["Where is the key?"] * 2)
        await expect(page.locator("button.again")).to_have_count(0)
        await page.reload()
        await expect(page.locator(".is-note")).to_have_count(1)
        assert await page.locator("button.again").count() == 0


async def test_rows_of_facts_lead_to_where_they_stand(place: ChatPlace) -> None:
    async with place.open() as ada, browsing() as people:
        _, page = await people.person(home_of(ada), "Ada")
        await say(page, "/facts open action items due before December 2026")
        result = page.locator(".result")
        await expect(result.locator("strong")).to_have_text(["buy the red paint"])
        await expect(result).to_contain_text("1 more says no date")
        await expect(result.locator("a.footnote")).to_have_count(2)
        source = await opened_by(page, ".result a.footnote")
        await expect(source.locator("mark").first).to_have_text(BUYS)
        assert await place.conversations.list_conversations("local") == []


async def test_extracts_are_browsed_by_type_and_filter_and_lead_to_their_place(place: ChatPlace) -> None:
    async with place.open() as ada, browsing() as people:
        _, page = await people.person(home_of(ada), "Ada")
        await page.goto(home_of(ada, "/library/extracts"))
        await page.click(".kinds >> text=action item")
        await expect(page.locator(".hits li")).to_have_count(2)
        await expect(page.locator(".kinds [aria-current]")).to_have_text("action item")
        await page.fill("#q", "owner:Ben")
        await page.press("#q", "Enter")
        await expect(page.locator(".hits li")).to_have_count(1)
        await expect(page.locator(".hits dl")).to_contain_text("mend the pump")
        await page.click(".kinds >> text=decision")
        await expect(page.locator("main h2")).to_have_text("No matching rows")
        await page.fill("#q", "slipway")
        await page.press("#q", "Enter")
        await expect(page.locator(".hits li")).to_contain_text(f"“{DECIDED}”")
        await page.click(".hits a")
        await expect(page.locator("mark").first).to_have_text(DECIDED)
        await page.click("text=Extracted data")
        await expect(page.locator("h1")).to_have_text("Data of Minutes")
        assert DECIDED in await page.locator("main").inner_text()


async def test_what_is_gone_leads_on_through_each_door(place: ChatPlace) -> None:
    async with place.open() as ada, browsing() as people:
        _, page = await people.person(home_of(ada), "Ada")
        await say(page, "Where is the key?")
        await expect(page.locator("a.footnote")).to_have_count(1)
        gone = {"/c/general/never": "thread", "/library/documents/never": "document", "/library/pages/never": "passage"}
        for path, thing in gone.items():
            await page.goto(home_of(ada, path))
            await expect(page.locator("h1")).to_have_text(f"This {thing} is gone")
        for door, there in (
            ("Ask a question", "#text"),
            ("Open the library", "#documents"),
            ("Find a thread", "#text"),
        ):
            await page.goto(home_of(ada, "/no-such-page"))
            await page.locator(".tile", has_text=door).click()
            await expect(page.locator(there)).to_be_visible()
        await expect(page.locator("#threads a")).to_have_text(["Where is the key?"])
        refused = [people.complaints.pop() for _ in people.complaints[:]]
        assert {said.split(" {")[0] for said in refused} == {
            "Failed to load resource: the server responded with a status of 404 (Not Found)"  # the browser's own word
        }


async def test_a_source_names_the_other_threads_that_use_it(place: ChatPlace) -> None:
    async with place.open() as ada, browsing() as people:
        _, page = await people.person(home_of(ada), "Ada")
        await say(page, "Where is the key?")
        await page.locator("a.footnote").click()
        await expect(page.locator("#pane mark").first).to_be_visible()
        assert await page.locator("#pane .used").count() == 0  # only this thread uses it
        await page.goto(home_of(ada))
        await say(page, "Where is the key hidden?")
        await page.locator("a.footnote").click()
        used = page.locator("#pane .used")
        await expect(used).to_contain_text("1 answer")
        await used.get_by_role("link").click()
        await expect(page.locator("#title")).to_have_text("Where is the key?")
        await expect(page).to_have_url(re.compile("/c/general/"))
        await page.goto(home_of(ada, "/library/find?name=house"))
        await expect(page.locator(".used a")).to_have_count(2)
        assert await page.locator(".used").inner_text()


async def test_the_map_of_connections_fits_a_phone(place: ChatPlace) -> None:
    async with place.open() as ada, browsing() as people:
        shed = await place.shelf.add("shed.md", "# Shed\n\nSee [[House]].", title="Shed")
        link = {"source": "Shed", "kind": "links to", "target": "House", "target_document": "house.md"}
        await place.shelf.extract(shed, ExtractType.RELATION, link)
        _, page = await people.newcomer(home_of(ada, "/library/graph"), viewport={"width": 390, "height": 844})
        for width, shown in ((390, "narrow"), (1280, "wide")):
            await page.set_viewport_size({"width": width, "height": 844})
            graph = page.locator(".graph:visible")
            await expect(graph).to_have_class(f"graph {shown}")
            sides = await graph.evaluate("graph => [graph.parentElement.scrollWidth, graph.parentElement.clientWidth]")
            assert sides[0] <= sides[1]
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
