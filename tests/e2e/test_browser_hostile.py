"""Script in names, questions and documents, seen in a real browser: all of it is words, none of it runs."""

import asyncio
from pathlib import Path

from playwright.async_api import expect

from bot.cli.app import run
from tests.e2e.browsing import BROWSER_TEST, browsing, say
from tests.e2e.serving import ServiceProcess

pytestmark = BROWSER_TEST
IMAGE = "<img src=x onerror=alert(1)>"
SCRIPT = "<script>alert(2)</script>"
FACT = f"The lamp of Ondar is lit at dusk {IMAGE}{SCRIPT} by the keeper."
NOTE = f"# {SCRIPT} The lamp\n\n{FACT} [more](javascript:alert(3))\n\n<svg onload=alert(4)></svg>\n"


async def test_markup_of_people_and_documents_is_shown_as_words(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / f"{IMAGE}.md").write_text(NOTE)
    ingest = ["--data-dir", str(tmp_path / "data"), "ingest", str(folder), "--source", "<b>notes", "--json"]
    assert await asyncio.to_thread(run, ingest) == 0
    with ServiceProcess(tmp_path / "data") as service:
        url = service.wait_ready()["url"].rstrip("/")
        async with browsing() as people:
            context, page = await people.person(f"{url}/c/general", f"{IMAGE} Ada")
            await say(page, f"{SCRIPT} when is the lamp of Ondar lit?")
            await expect(page.locator(".from-bot[data-id]")).to_have_count(1)
            await expect(page.locator(".said")).to_contain_text(SCRIPT)
            await expect(page.locator(".answer")).to_contain_text("The lamp of Ondar is lit at dusk")
            await expect(page.locator("#person-name")).to_have_text(f"{IMAGE} Ada")
            source = await context.new_page()
            await source.goto(f"{url}{await page.locator('a.source').first.get_attribute('href')}")
            await expect(source.locator("mark").first).to_contain_text("The lamp of Ondar")
            assert await source.locator(".text a[href^='javascript']").count() == 0
            for path in ("/jobs", "/library", f"/library?q={IMAGE}"):
                await page.goto(url + path)
                await expect(page.locator("main")).to_contain_text("<")
