"""What a newcomer waits for in the browser, and how much its pages weigh.

    python -m tests.benchmarks.bench_newcomer

A demo that is ready, in Chromium; goals: all styles and scripts of a page under 80 kB, first paint under 300 ms.
"""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect
from rich.console import Console
from rich.table import Table

from bot.cli.demo import load_examples
from tests.e2e.browsing import browsing
from tests.e2e.newcomer import ASKED, WEIGHT, Times, ask_first, ask_new, drop, open_source, three_files
from tests.e2e.serving import ColdServiceProcess
from tests.entering import enter

PAGES = ("", "library", "library/extracts", "library/graph", "library/statistics", "jobs")


def main() -> None:
    load = f"load of the machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    with tempfile.TemporaryDirectory() as place, ColdServiceProcess(Path(place) / "data", "demo", "--serve") as demo:
        assert demo.process.stdout is not None
        url = enter(demo.process.stdout.readline().split()[3])
        times, weights = asyncio.run(walk(url))
    Console().print(f"A newcomer in the browser ({load})")
    Console().print(times)
    table = Table("page", "styles and scripts, kB", "first paint, ms")
    for name, weight in weights.items():
        table.add_row(name, f"{weight['bytes'] / 1000:.1f}", f"{weight['paint']:.0f}")
    Console().print(table)


async def walk(url: str) -> tuple[Times, dict[str, Any]]:
    """Do what a newcomer does; return the times, and the weight of each page."""
    times, weights = Times(), {}
    async with browsing() as people:
        with times.step("the page takes a question"):
            _, page = await people.newcomer(url)
            await expect(page.locator("#text")).to_be_focused()
        await ask_first(page, load_examples()[0].question, times)
        weights["a thread"] = await weigh(page)
        await open_source(page, times)
        weights["a thread, source opened"] = await weigh(page)
        await page.click("#place-ask")
        await page.evaluate("window.dispatchEvent(new DragEvent('dragenter'))")
        await expect(page.locator(".upload-zone")).to_be_visible()
        await drop(page, three_files(), times)
        with times.step(f"asked about {ASKED[0][1]}"):
            await ask_new(page, ASKED[0][0])
        for path in PAGES:
            await page.goto(f"{url}{path}")
            weights[f"/{path}"] = await weigh(page)
    return times, weights


async def weigh(page: Page) -> dict[str, float]:
    await page.wait_for_load_state("networkidle")
    found: dict[str, float] = await page.evaluate(WEIGHT)
    return found


if __name__ == "__main__":
    main()
