"""Every page, dialog and state is free of what axe finds: at both widths, light and dark.

A page is one line of PAGES. A state that has to be prepared is a function in STATES.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from bot.cli.app import run
from bot.cli.demo import DEMO_FOLDER, load_examples
from tests.copying import copy_folder
from tests.e2e.browsing import BROWSER_TEST, browsing, say
from tests.e2e.serving import ServiceProcess
from tests.entering import enter

pytestmark = BROWSER_TEST
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDTHS = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
COLOURS = ("light", "dark")
QUESTION = load_examples()[0].question
IN_A_PDF = next(item.question for item in load_examples() if item.document.endswith(".pdf"))
FARES = "Route,Adult,Child\nSkerrow,12,6\nTern,9,4\n"
API = {
    "openapi": "3.0.0",
    "info": {"title": "Berths", "version": "1"},
    "paths": {
        "/berths": {
            "get": {
                "summary": "List the free berths of a day",
                "parameters": [{"name": "day", "in": "query", "required": True, "schema": {"type": "string"}}],
                "responses": {"200": {"description": "The berths, by number"}},
            }
        }
    },
}
EXTRAS = {"fares.csv": FARES, "berths.json": json.dumps(API), "cut.pdf": "%PDF-1.7 cut off"}


async def faults(page: Page, name: str) -> list[str]:
    """What axe finds in each look of the page as it is now: the rule, and the elements that break it."""
    found = []
    script = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    for (width, size), colours in product(WIDTHS.items(), COLOURS):
        await page.set_viewport_size({"width": size["width"], "height": size["height"]})
        await page.emulate_media(color_scheme=colours, reduced_motion="reduce")  # type: ignore[arg-type]
        await page.evaluate(script)
        options = {"runOnly": RULES, "resultTypes": ["violations"]}
        result = await page.evaluate("(options) => axe.run(options)", options)
        found += [f"{name}, {width}, {colours}: {_told(rule)}" for rule in result["violations"]]
    return found


def _told(rule: dict[str, Any]) -> str:
    places = "; ".join(f"{node['target']} {node['failureSummary']}" for node in rule["nodes"][:3])
    return f"{rule['id']} ({len(rule['nodes'])}): {places}"


@pytest.fixture(scope="module")
def demo_url(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A demo over the sample library, a table, an API and a file that can't be read."""
    place = tmp_path_factory.mktemp("axe")
    data = copy_folder(ingested, place / "data" / DEMO_FOLDER)
    (place / "more").mkdir()
    for name, text in EXTRAS.items():
        (place / "more" / name).write_text(text)
    assert run(["--data-dir", str(data), "ingest", str(place / "more"), "--source", "more", "--json"]) in (0, 1)
    with ServiceProcess(place / "data", "demo", "--serve") as process:
        assert process.process.stdout is not None
        yield enter(process.process.stdout.readline().split()[3])


@pytest.fixture(scope="module")
def empty_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ServiceProcess(tmp_path_factory.mktemp("axe") / "data") as process:
        yield process.wait_ready()["url"]


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    async with browsing() as people:
        _, page = await people.newcomer("about:blank")
        yield page
        people.complaints[:] = [said for said in people.complaints if "404" not in said]  # the browser's own word


async def answered(page: Page, question: str = QUESTION) -> None:
    await say(page, question)
    await expect(page.locator("a.footnote").first).to_be_visible()
    await expect(page.locator(".waiting")).to_have_count(0)


async def an_answer(page: Page) -> None:
    await answered(page)


async def an_open_menu(page: Page) -> None:
    await answered(page)
    await page.click(".row .menu > summary")


async def an_open_pane(page: Page) -> None:
    await answered(page)
    await page.locator("a.footnote").first.click()
    await expect(page.locator("#pane mark").first).to_be_visible()


async def a_pane_with_a_picture(page: Page) -> None:
    await answered(page, IN_A_PDF)
    await page.locator("a.footnote").first.click()
    await expect(page.locator("#pane .boxes rect").first).to_be_visible()


async def nothing_found(page: Page) -> None:
    await say(page, "Which dogs may travel?")
    await expect(page.locator(".from-bot[data-id]")).to_have_count(1)
    await expect(page.locator(".waiting")).to_have_count(0)


async def the_name(page: Page) -> None:
    await page.click("#person")
    await expect(page.locator("dialog#ask")).to_be_visible()


async def the_keys(page: Page) -> None:
    await page.locator("h1").click()
    await page.keyboard.press("?")
    await expect(page.locator("dialog#keys")).to_be_visible()


async def chosen_documents(page: Page) -> None:
    await page.locator(".list tbody input").first.check()


async def the_steps(page: Page) -> None:
    await answered(page)
    await page.click(".row .menu > summary")
    await page.click("a.how")
    await page.locator("summary").first.click()


async def before_removing(page: Page) -> None:
    await page.locator(".list tbody input").first.check()
    await page.click(".chosen-bar .danger")


async def a_refused_link(page: Page) -> None:
    await page.fill("#upload-url", "http://127.0.0.1/")
    await page.keyboard.press("Enter")
    await expect(page.locator("li.refused")).to_be_visible()


Prepare = Callable[[Page], Awaitable[None]]
# Names of states: the address where they begin, and how to get there.
STATES: dict[str, tuple[str, Prepare]] = {
    "an answer": ("", an_answer),
    "an open menu": ("", an_open_menu),
    "an open pane": ("", an_open_pane),
    "a pane with a picture": ("", a_pane_with_a_picture),
    "nothing found": ("", nothing_found),
    "the question for a name": ("", the_name),
    "the list of keys": ("library", the_keys),
    "chosen documents": ("library", chosen_documents),
    "a refused link": ("library/uploads", a_refused_link),
    "before removing": ("library", before_removing),
    "the steps of an answer": ("", the_steps),
}
PAGES = (
    "",
    "library",
    "library?q=ferry",
    "library?q=zzz",
    "library/uploads",
    "library/extracts",
    "library/extracts?type=action_item",
    "library/extracts?q=owner:Nobody",
    "library/graph",
    "library/statistics",
    "jobs",
    "settings",
    "no-such-page",
)
EMPTY_PAGES = (
    "",
    "library",
    "library/uploads",
    "library/extracts",
    "library/graph",
    "library/statistics",
    "jobs",
    "settings",
)


FAULTY = """<title>Faulty</title><main><h1>Faulty</h1><input><p style="color: #bbb; background: #fff">Pale</p>
<style>a { display: block; font-size: 8px }</style><a href="/1">One</a><a href="/2">Two</a></main>"""


async def test_axe_finds_what_is_wrong(empty_url: str, page: Page) -> None:
    await page.set_content(FAULTY)
    found = " ".join(await faults(page, "faulty"))
    for rule in ("html-has-lang", "label", "color-contrast", "target-size"):
        assert rule in found


async def test_every_page_is_accessible(demo_url: str, page: Page) -> None:
    found = []
    await page.goto(demo_url)
    await answered(page)
    for path in PAGES:
        await page.goto(f"{demo_url}{path}")
        found += await faults(page, f"/{path}")
    assert found == []


async def test_every_page_of_an_empty_library_is_accessible(empty_url: str, page: Page) -> None:
    found = []
    for path in EMPTY_PAGES:
        await page.goto(f"{empty_url}{path}")
        found += await faults(page, f"/{path}")
    await page.goto(empty_url)
    await say(page, QUESTION)
    await expect(page.locator(".from-bot[data-id]")).to_have_count(1)
    found += await faults(page, "asked while empty")
    assert found == []


@pytest.mark.parametrize("name", STATES)
async def test_every_state_is_accessible(demo_url: str, page: Page, name: str) -> None:
    path, prepare = STATES[name]
    await page.set_viewport_size({"width": 1280, "height": 900})
    await page.goto(f"{demo_url}{path}")
    await prepare(page)
    assert await faults(page, name) == []


async def test_every_kind_of_document_is_accessible(demo_url: str, page: Page) -> None:
    await page.goto(f"{demo_url}library")
    rows = await page.locator(".list tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [row.querySelector('.minor').textContent, row.querySelector('a').href])"
    )
    one_of_each = dict(rows)
    assert {"PDF", "Notes", "Web pages", "Sheets", "APIs", "Text", "Foundry"} <= set(one_of_each)
    found = []
    for kind, href in one_of_each.items():
        await page.goto(href)
        found += await faults(page, kind)
    assert found == []
