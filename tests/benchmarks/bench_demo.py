"""The time from a fresh clone to the first answer.

    python -m tests.benchmarks.bench_demo [--no-browser] [--no-cache]

Clones what is committed, runs `make demo` at a pseudo-terminal and, if Chromium is installed, opens the page, types a
question and waits for a footnote. Then it sends an example over HTTP; without a browser, that is the first answer.
Goal: 60 s on two quiet cores, with the packages in pip's cache (run it twice). --no-cache downloads them again.
"""

import argparse
import asyncio
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

from playwright.async_api import async_playwright
from rich.console import Console
from rich.table import Table

from bot.cli.demo import load_examples
from tests.entering import browser_cookies, enter, headers_of

ROOT = Path(__file__).parents[2]
GOAL_SECONDS = 60.0
TOTAL = "from the clone to the first answer"
TIMEOUT_SECONDS = 900.0  # for the address; a cold cache and a slow line
ANSWER_SECONDS = 60.0
PAUSE_SECONDS = 0.05
END_SECONDS = 20.0
STAMP = ".venv/.footnote-runtime"  # made by the Makefile after the installation
READY = re.compile(r"Footnote is ready: (http://\S+)")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--no-browser", action="store_true")
    arguments.add_argument("--no-cache", action="store_true", help="download all packages again")
    chosen = arguments.parse_args()
    if chosen.no_cache:
        os.environ["PIP_NO_CACHE_DIR"] = "1"
    cache = "without" if chosen.no_cache else "with"
    load = f"load of the machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {cache} pip's cache"
    with tempfile.TemporaryDirectory() as folder:
        stages = measure(Path(folder), with_browser=CHROMIUM is not None and not chosen.no_browser)
    table = Table("stage", "seconds", title=f"From a clone to the first answer ({load})")
    for name, seconds in stages.items():
        table.add_row(name, f"{seconds:.1f}")
    Console().print(table)
    total = stages[TOTAL]
    Console().print(f"{total:.0f} s: the goal of {GOAL_SECONDS:.0f} s is {'met' if total < GOAL_SECONDS else 'missed'}")


def measure(folder: Path, *, with_browser: bool) -> dict[str, float]:
    """Return seconds by stage; TOTAL is the sum of the stages before it."""
    began = time.time()
    clone = folder / "footnote"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    cloned = time.time()
    with Terminal(clone, folder / "data") as terminal:
        link = terminal.wait_for_link()
        ready = time.time()
        set_up = (clone / STAMP).stat().st_mtime
        url = enter(link)
        fetch(url)
        shown = time.time()
        stages = {
            "clone": cloned - began,
            "installing the runtime": set_up - cloned,
            "reading the sample library, starting the service": ready - set_up,
            "the page answers": shown - ready,
        }
        if with_browser:
            question = load_examples()[1].question
            stages["a browser takes questions"], stages["a typed one has a footnote"] = asyncio.run(
                browse(url, question)
            )
        before = time.time()
        ask_first_example(url)
        asked = {"the first example, over HTTP": time.time() - before}
    if with_browser:
        return {**stages, TOTAL: sum(stages.values()), **asked}
    return {**stages, **asked, TOTAL: sum((stages | asked).values())}


class Terminal:
    """`make demo` in a clone, typed at a terminal; Ctrl+C at the end."""

    def __init__(self, clone: Path, data_dir: Path) -> None:
        self._clone = clone
        # Without the person's own settings and library; without a display no browser is opened.
        left_out = ("FOOTNOTE_", "DISPLAY", "WAYLAND_DISPLAY", "VIRTUAL_ENV", "PYTHONPATH")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        self._environment = {**kept, "FOOTNOTE_DATA_DIR": str(data_dir), "TERM": "xterm", "COLUMNS": "200"}
        self._said = ""
        self._end = threading.Event()

    def __enter__(self) -> "Terminal":
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            ["make", "demo"],
            cwd=self._clone,
            env=self._environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGINT)
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join()
        os.close(self._ours)

    def wait_for_link(self) -> str:
        """Return the printed link. RuntimeError with the output if it ends or takes too long."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while (found := READY.search(self._said)) is None:
            if self._end.wait(PAUSE_SECONDS) or time.monotonic() > deadline:
                raise RuntimeError(f"`make demo` did not say where it serves: {self._said[-2000:]}")
        return found[1]

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._ours, 65536)
            except OSError:  # Linux says so when the last process has closed the other side
                break
            if not piece:
                break
            self._said += piece.decode("utf-8", "replace")
        self._end.set()


def fetch(url: str, body: dict[str, str] | None = None) -> Any:
    """Return the response of an address: parsed if it is JSON, else text."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers_of(url)})
    with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as reply:
        text = reply.read().decode()
        return json.loads(text) if reply.headers.get_content_type() == "application/json" else text


def ask_first_example(url: str) -> None:
    """Ask it in the web chat, and wait for its footnotes. RuntimeError if there are none."""
    example = fetch(f"{url}chat/home")["examples"][0]
    post = {"channel": "general", "thread": "", "text": example, "key": "first"}
    thread = fetch(f"{url}chat/messages", post)["thread"]
    deadline = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < deadline:
        messages = fetch(f"{url}chat/threads/general/{thread}")["messages"]
        if len(messages) > 1:
            if messages[1]["sources"]:
                return
            raise RuntimeError(f"the first example has no footnote: {messages[1]}")
        time.sleep(PAUSE_SECONDS)
    raise RuntimeError("the first example was not answered")


async def browse(url: str, question: str) -> tuple[float, float]:
    """Return seconds until the page takes a question, and from the typed question until its first footnote."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = await browser.new_context()
        await context.add_cookies(browser_cookies())
        page = await context.new_page()
        page.set_default_timeout(ANSWER_SECONDS * 1000)
        began = time.time()
        await page.goto(url)
        await page.locator("#text:focus").wait_for()
        opened = time.time()
        await page.keyboard.type(question)
        await page.keyboard.press("Enter")
        await page.locator("a.footnote").first.wait_for()
        seen = time.time()
        await browser.close()
    return opened - began, seen - opened


if __name__ == "__main__":
    main()
