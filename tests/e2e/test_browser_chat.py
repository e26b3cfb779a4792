"""The chat in a real browser: what people see, press and hear, over stores in memory and a model that waits."""

from urllib.parse import urljoin

from playwright.async_api import expect

from core.domain.features import FeedbackReason, Rating
from core.errors import ProviderOverloaded
from tests.e2e.browsing import BROWSER_TEST, browsing, say
from tests.scripted import says
from tests.unit.bot.web.chat_place import ANSWER, KEY, ChatPlace, Visitor, search

pytestmark = BROWSER_TEST
QUESTION = "Where is the key?"


async def stocked(*questions: int) -> ChatPlace:
    """Each question is searched for once and answered; the numbers are those of questions whose answers wait."""
    turns = [turn for number in range(6) for turn in (search(f"t{number}"), ANSWER)]
    place = ChatPlace(tuple(turns))
    place.provider.held = {2 * number + 1 for number in questions}
    await place.shelf.add("house.md", f"# Keys\n\n{KEY}", "# Garden\n\nThe garden has a shed.", title="House")
    return place


def home_of(ada: Visitor, path: str = "/") -> str:
    return str(ada.client.make_url(path))


async def test_asking_streaming_reloading_and_the_source() -> None:
    place = await stocked(0)
    async with place.open() as ada, browsing() as people:
        context, page = await people.person(home_of(ada), "Ada")
        await page.click(f".examples button >> text={QUESTION}")
        for _ in range(2):  # as it is written, and after a reload in the middle: all of it, and nothing twice
            await expect(page.locator(".draft")).to_have_text(place.provider.said.strip())
            await expect(page.locator(".step")).to_have_text(
                ["Choosing what to read", "Searching for “where is the key”"]
            )
            await expect(page.locator(".waiting")).not_to_contain_text(" ms")
            await page.reload()
        await expect(page.locator(".said")).to_have_text(QUESTION)
        place.provider.go.set()

        footnote = page.locator("a.footnote")
        await expect(footnote).to_have_text("1")
        await expect(footnote).to_have_attribute("aria-label", "Footnote 1, House, Keys")
        await expect(page.locator(".waiting")).to_have_count(0)
        await expect(page.locator("#announcer")).to_have_text("Answer ready, 1 footnote.")
        await expect(page.locator("#messages").get_by_text(KEY.rstrip("."))).to_have_count(1)

        source = await context.new_page()
        await source.goto(urljoin(page.url, await footnote.get_attribute("href")))
        await expect(source.locator("mark").first).to_contain_text("The key hangs under the stairs")
        assert len(place.provider.requests) == 2  # the reloads asked nothing anew


async def test_who_finds_an_answer_not_helpful_may_say_why() -> None:
    place = await stocked()
    async with place.open() as ada, browsing() as people:
        _, page = await people.newcomer(home_of(ada))
        await say(page, QUESTION)
        await expect(page.locator("a.footnote")).to_have_count(1)
        await expect(page.locator(".why")).to_have_count(0)
        await page.get_by_role("button", name="Not helpful").press("Enter")
        await expect(page.locator(".why button")).to_have_text(
            ["Wrong source", "Out of date", "Missed something", "Other"]
        )
        await expect(page.get_by_role("button", name="Not helpful")).to_be_focused()
        await page.get_by_role("button", name="Out of date").press("Enter")
        await expect(page.locator(".why")).to_have_count(0)
        await expect(page.get_by_role("button", name="Not helpful")).to_have_attribute("aria-pressed", "true")

        [conversation] = await place.conversations.list_conversations("local")
        [given] = await place.shelf.stores.feedback.list_feedback(conversation.id)
        assert (given.rating, given.reason) == (Rating.DOWN, FeedbackReason.OUTDATED)


async def test_two_people_in_one_thread_and_an_answer_that_is_stopped() -> None:
    place = await stocked(1)
    async with place.open() as ada, browsing() as people:
        _, one = await people.person(home_of(ada), "Ada")
        await say(one, QUESTION)
        await expect(one.locator("a.footnote")).to_have_count(1)
        _, two = await people.person(one.url, "Ben")
        await say(two, "@Ada thank you!")
        await expect(one.locator(".said")).to_have_text([QUESTION, "@Ada thank you!"])
        await expect(two.locator("#unanswered")).to_be_empty()
        await say(two, "did you hang it there, Ada?")
        await expect(two.locator("#unanswered")).to_contain_text("Mention me")
        await say(two, "@footnote who hung it there?")

        await expect(one.locator(".draft")).to_contain_text("I have looked")
        await expect(one.locator(".stop")).to_have_count(0)
        await two.click(".stop")
        for page, names in (
            (one, ["You", "Footnote", "Ben", "Ben", "Ben"]),
            (two, ["Ada", "Footnote", "You", "You", "You"]),
        ):
            await expect(page.locator(".is-stopped")).to_contain_text("Stopped")
            await expect(page.locator(".byline strong")).to_have_text([*names, "Footnote"])
            assert await page.locator("a.footnote").count() == 1  # of the first answer alone


async def test_commands_renaming_and_deleting() -> None:
    place = await stocked()
    async with place.open() as ada, browsing() as people:
        _, page = await people.person(home_of(ada), "Ada")
        await say(page, QUESTION)
        await expect(page.locator("a.footnote")).to_have_count(1)
        await page.fill("#text", "/thr")
        await expect(page.locator("#completion li")).to_have_count(1)
        await page.press("#text", "Tab")
        await page.press("#text", "Enter")
        await expect(page.locator(".result")).to_contain_text(QUESTION)

        await page.click("#tools > summary")
        await page.click("#rename")
        await page.fill("#ask-input", "The <b>key</b>")
        await page.keyboard.press("Enter")
        await expect(page.locator("#title")).to_have_text("The <b>key</b>")
        await expect(page.locator("#threads")).to_contain_text("The <b>key</b>")
        async with page.expect_download() as download:
            await page.click("#tools > summary")
            await page.click("#export-markdown")
        assert (await download.value).suggested_filename.endswith(".md")

        await page.click("#tools > summary")
        await page.click("#delete")
        await page.click("#ask-yes")
        await expect(page.locator("#title")).to_have_text("Ask your documents")
        await expect(page.locator("#threads")).to_have_text("None yet.")


async def test_a_page_survives_the_end_of_a_service_and_goes_on_with_the_next() -> None:
    place = await stocked()
    async with browsing() as people:
        async with place.open() as ada:
            port = ada.client.port
            _, page = await people.person(home_of(ada), "Ada")
            await say(page, QUESTION)
            await expect(page.locator("a.footnote")).to_have_count(1)
        await expect(page.locator("#offline")).to_be_visible()
        place.begin()
        async with place.open(port=port):
            await expect(page.locator("#offline")).to_be_hidden()
            await say(page, "and again, where?")
            await expect(page.locator("a.footnote")).to_have_count(2)
            assert await page.locator(".said").all_inner_texts() == [QUESTION, "and again, where?"]


async def test_each_state_of_an_answer_says_what_it_is_and_what_to_do_next() -> None:
    table = "Keys [1]:\n\n| Key | Place |\n|---|---|\n| front | stairs |"
    many = " ".join(f"Key {number} hangs on hook {number} [{number}]." for number in range(1, 6))
    down = [ProviderOverloaded("Claude did not reply.")] * 4
    place = ChatPlace((search("t1"), says(table), search("t2"), says(many), *down))
    for number in range(1, 6):
        text = f"# Hooks\n\nKey {number} hangs on hook {number}. Where is the key?"
        await place.shelf.add(f"{number}.md", text, title=f"Room {number}")
    async with place.open() as ada, browsing() as people:
        _, page = await people.newcomer(home_of(ada))
        await say(page, "Which keys are there?")
        await expect(page.locator(".answer table tr")).to_have_count(2)
        await expect(page.locator(".answer")).not_to_contain_text("|")

        await say(page, "Where is every key?")
        chips = page.locator(".from-bot[data-id]").last.locator(".chip")
        await expect(chips).to_have_count(3)
        await chips.last.click()
        await expect(chips).to_have_count(5)
        await expect(chips.nth(2).locator("a").last).to_be_focused()

        await say(page, "And now?")
        failed = page.locator(".from-bot[data-id]").last
        await expect(failed).to_contain_text("No answer this time.")
        await expect(failed).to_contain_text("Claude did not reply.")
        await expect(failed.get_by_role("link", name="What happened")).to_be_visible()
        await failed.get_by_role("button", name="Try again").click()
        await expect(page.locator(".said")).to_have_text(
            ["Which keys are there?", "Where is every key?", "And now?", "And now?"]
        )
        assert await failed.locator(".row").count() == 0, "nothing to rate, nothing to copy"


async def test_a_guest_finds_a_thread_in_a_channel_and_others_see_a_guest() -> None:
    place = await stocked()
    async with place.open() as ada, browsing() as people:
        _, one = await people.newcomer(home_of(ada))
        await expect(one.locator("#threads")).to_have_text("None yet.")
        await expect(one.locator("#channels-part")).to_be_hidden()
        await one.goto(home_of(ada, "/c/house"))
        await expect(one.locator("#title")).to_have_text("#house")
        await say(one, QUESTION)
        await expect(one.locator("a.footnote")).to_have_count(1)
        await expect(one.locator("#channels")).to_have_text("#house")

        _, two = await people.newcomer(home_of(ada))
        await two.locator("h1").click()  # single letters are keys outside of text fields alone
        await two.keyboard.press("/")
        await two.keyboard.type("WHERE")
        await two.keyboard.press("Enter")
        await expect(two.locator("a.footnote")).to_have_count(1)
        await expect(two.locator(".byline strong")).to_have_text(["Guest", "Footnote"])
        await expect(two.locator(".byline").first).to_be_visible()
        await expect(one.locator(".byline strong")).to_have_text(["You", "Footnote"])
        assert two.url == one.url
