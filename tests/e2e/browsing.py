"""Chromium on the chat page: people with a browser each, in which no script fails and nothing is refused."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, async_playwright, expect

from tests.entering import browser_cookies

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
BROWSER_TEST = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: install it to run the browser tests"),
]
PATIENCE_MS = 120_000  # a machine that runs everything at once is slow, and that is no fault of the page
SERVICE_GONE = "net::ERR_"  # what a browser says of a service that was stopped


@dataclass
class Browsing:
    """A browser for several people, and what it complained about."""

    browser: Browser
    complaints: list[str] = field(default_factory=list)

    async def newcomer(self, address: str, *, is_signed_in: bool = True, **options: Any) -> tuple[BrowserContext, Page]:
        """A browser of the owner that was never here, at an address; `options` are those of a context."""
        context = await self.browser.new_context(**options)
        if is_signed_in:
            await context.add_cookies(browser_cookies())
        context.set_default_timeout(PATIENCE_MS)
        context.on("weberror", lambda error: self.complaints.append(f"a script failed: {error.error}"))
        context.on("console", self._hear)
        context.on("dialog", self._refuse)
        page = await context.new_page()
        await page.goto(address)
        return context, page

    async def person(self, address: str, name: str, **options: Any) -> tuple[BrowserContext, Page]:
        """The browser of a person who has given a name, at an address of the chat."""
        context, page = await self.newcomer(urljoin(address, "/"), **options)
        await page.click("#person")
        await page.fill("#ask-input", name)
        await page.keyboard.press("Enter")
        await expect(page.locator("#person-name")).to_have_text(name)
        if page.url != address:
            await page.goto(address)
        return context, page

    async def _refuse(self, dialog: Dialog) -> None:
        self.complaints.append(f"a script asks: {dialog.message}")
        await dialog.dismiss()

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and SERVICE_GONE not in message.text:
            self.complaints.append(f"{message.text} {message.location}")


@asynccontextmanager
async def browsing() -> AsyncIterator[Browsing]:
    """A patient browser; whatever its pages complain about fails the test."""
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        people = Browsing(browser)
        yield people
        await browser.close()
    assert people.complaints == [], people.complaints


async def say(page: Page, text: str) -> None:
    """Write a message, and send it."""
    await page.fill("#text", text)
    await page.press("#text", "Enter")
