"""The tiles beside an empty library, and the sample library that one of them adds."""

from functools import partial

import pytest

from bot.web.pages.samples import SampleLibrary, add_sample_tile
from core.domain.identity import Role
from tests.entering import sign_in
from tests.unit.bot.web.conftest import Browser, OpenBrowser


@pytest.fixture
def done() -> list[str]:
    return []


@pytest.fixture
async def browser(browse: OpenBrowser, done: list[str]) -> Browser:
    async def add() -> None:
        done.append("added")

    async def remove() -> None:
        done.append("removed")

    return await browse(partial(add_sample_tile, samples=SampleLibrary(name="samples", add=add, remove=remove)))


async def test_the_sample_library_is_added_and_removed_by_forms(browser: Browser, done: list[str]) -> None:
    replies = [
        await browser.post("/library/samples", data={"do": do}, allow_redirects=False) for do in ("add", "remove")
    ]

    assert [(reply.status, reply.headers["Location"]) for reply in replies] == [(303, "/"), (303, "/library")]
    assert done == ["added", "removed"]


async def test_only_admins_add_it(browser: Browser, done: list[str]) -> None:
    await sign_in(browser, Role.MEMBER)
    refused = await browser.post("/library/samples", data={"do": "add"})

    assert (refused.status, done) == (403, [])
