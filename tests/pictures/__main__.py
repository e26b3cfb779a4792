"""Makes the pictures of docs/pictures anew, from the demo in a real browser: `python -m tests.pictures [FOLDER]`.

All but two are taken light, dark and on a phone. Where Noto fonts are installed, they look as those in the
repository.
"""

import asyncio
import io
import sys
import tempfile
from asyncio.subprocess import DEVNULL
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.async_api import Page, expect

from bot.cli.demo import DEMO_FOLDER, load_examples
from tests.e2e.browsing import Browsing, browsing, say
from tests.e2e.serving import ColdServiceProcess
from tests.entering import enter
from tests.pictures.setup import take_setup

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
SMALL: dict[str, Any] = {"viewport": {"width": 1000, "height": 640}}
WIDE: dict[str, Any] = {"viewport": {"width": 1000, "height": 760}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 780}, "is_mobile": True, "has_touch": True}
LOOKS = {"": DESK, "-dark": {**DESK, "color_scheme": "dark"}, "-phone": PHONE}
# What else is asked before the pictures of the library are taken.
MORE = ("List the decisions of the harbour council", "Which dogs may travel?", "How much does a parking place cost?")
COLOURS = 256  # of a picture: pages have few
LARGEST = 200 * 1024  # bytes of a picture


async def ask(page: Page, question: str, count: int) -> None:
    """Ask, and wait until so many answers stand there."""
    await say(page, question)
    await expect(page.locator(".from-bot[data-id]")).to_have_count(count)
    await expect(page.locator(".waiting")).to_have_count(0)


async def ask_more(people: Browsing, url: str) -> None:
    """Questions that the library answers from two documents, and one that it does not answer."""
    _, page = await people.person(url, "Ben")
    for question in MORE:
        await page.goto(url)
        await ask(page, question, 1)


async def show_box(page: Page) -> None:
    """The box for a first question."""
    await expect(page.locator("#text")).to_be_focused()
    await expect(page.locator("#threads a")).to_have_count(1)


async def show_thread(page: Page) -> None:
    """A thread without an open source."""
    await expect(page.locator("#text")).to_be_focused()  # the page has come to rest
    await expect(page.locator(".from-bot[data-id]")).to_have_count(2)


async def show_source(page: Page) -> None:
    """The last answer of a thread, with its source beside it."""
    await show_thread(page)
    await page.locator("a.footnote").last.click()
    await expect(page.locator("#pane mark").first).to_be_visible()
    await expect(page.locator("#pane .boxes rect").first).to_be_visible()
    await expect(page.locator("#pane img")).to_have_js_property("complete", True)


async def show_passage(page: Page) -> None:
    """The cited passage, and the page as it is printed."""
    await page.locator(".printed img").scroll_into_view_if_needed()
    await expect(page.locator(".printed img")).to_have_js_property("naturalWidth", 1200)
    await page.locator("mark").first.scroll_into_view_if_needed()


async def show_steps(page: Page) -> None:
    """The steps of an answer, one of them unfolded."""
    await page.locator("summary").nth(2).click()


async def show_documents(page: Page) -> None:
    """The list of documents."""
    await expect(page.locator("table").last.locator("tbody tr").first).to_be_visible()


async def take(url: str, folder: Path) -> None:
    """Ask what the pictures show, then take each in every look."""
    gates, _, boat = (example.question for example in load_examples())
    site = url.rstrip("/")
    async with browsing() as people:
        _, page = await people.person(url, "Ada")
        await ask(page, gates, 1)
        job = await page.locator("a.how").first.get_attribute("href")
        await ask(page, boat, 2)
        source = await page.locator("a.source").last.get_attribute("href")
        shots: dict[str, tuple[str, Callable[[Page], Awaitable[None]]]] = {
            "ask": (f"{site}/", show_box),
            "chat": (page.url, show_source),
            "source-viewer": (f"{site}{source}", show_passage),
            "job-tree": (f"{site}{job}", show_steps),
            "library": (f"{site}/library", show_documents),
        }
        for look, options in LOOKS.items():
            _, page = await people.person(url, "Ada", reduced_motion="reduce", **options)
            for name, (address, prepare) in shots.items():
                await page.goto(address)
                await prepare(page)
                save(await page.screenshot(animations="disabled"), folder / f"{name}{look}.png")
        await ask_more(people, url)
        await take_library(people, site, folder)


async def take_library(people: Browsing, site: str, folder: Path) -> None:
    """The pages around the library, in every look."""
    pages = {
        "statistics": f"{site}/library/statistics",
        "connections": f"{site}/library/graph",
        "data": f"{site}/library/extracts",
        "activity": f"{site}/jobs",
    }
    for look, options in {"": WIDE, "-dark": {**WIDE, "color_scheme": "dark"}, "-phone": PHONE}.items():
        _, page = await people.newcomer(site, reduced_motion="reduce", **options)
        for name, address in pages.items():
            await page.goto(address)
            save(await page.screenshot(animations="disabled"), folder / f"{name}{look}.png")


async def take_changes(url: str, data_dir: Path, folder: Path) -> None:
    """An answer whose source has changed since, with its note; and the rows that were extracted."""
    with tempfile.TemporaryDirectory() as place:
        note = Path(place) / "tides" / "berths.md"
        note.parent.mkdir()
        for quay in ("north quay", "new pier"):
            note.write_text(f"# Berths\n\nThe berth of the mail boat is at the {quay}.\n")
            command = [sys.executable, "-m", "bot", "--data-dir", str(data_dir), "ingest", str(note.parent)]
            done = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL, stderr=DEVNULL)
            assert await done.wait() == 0
            if quay == "north quay":
                await _ask_about_berths(url)
        async with browsing() as people:
            _, page = await people.person(url, "Ada", reduced_motion="reduce", **SMALL)
            await page.click("#threads a >> nth=0")
            await expect(page.locator(".is-note")).to_be_visible()
            save(await page.screenshot(animations="disabled"), folder / "stale-answer.png")
            await page.goto(f"{url.rstrip('/')}/library/extracts?type=action_item")
            save(await page.screenshot(animations="disabled"), folder / "extracts.png")


async def _ask_about_berths(url: str) -> None:
    async with browsing() as people:
        _, page = await people.person(url, "Ada")
        await ask(page, "Where is the berth of the mail boat?", 1)


def save(picture: bytes, file: Path) -> None:
    """As a small PNG."""
    written = io.BytesIO()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    # Few but strong colours (a red word, an avatar) keep theirs: the median cut makes them muddy.
    image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        written, "PNG", optimize=True
    )
    if written.tell() > LARGEST:
        raise SystemExit(f"{file.name} has {written.tell()} bytes: show less of the page.")
    file.write_bytes(written.getvalue())


def main() -> None:
    """Start a demo of its own, and leave nothing but the pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, ColdServiceProcess(Path(place) / "data", "demo", "--serve") as demo:
        assert demo.process.stdout is not None
        url = enter(demo.process.stdout.readline().split()[3])
        asyncio.run(take(url, folder))
        asyncio.run(take_changes(url, demo.data_dir / DEMO_FOLDER, folder))
    asyncio.run(take_setup(folder, save))


if __name__ == "__main__":
    main()
