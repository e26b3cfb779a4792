"""Entering by a one-time link: what it gives, how often it opens, and how a session ends."""

from datetime import timedelta

import pytest

from bot.web.pages.sign_in import enter_path
from bot.web.security import HOW_TO_ENTER
from core.access.identity import LINK_SECONDS, OWNER_LASTS
from tests.entering import sign_in
from tests.unit.bot.web.conftest import Browser, OpenBrowser, Shelves, read

USED = "This link has been used or has expired."


@pytest.fixture
async def stranger(browse: OpenBrowser) -> Browser:
    return await browse(role=None)


@pytest.fixture
async def link(shelves: Shelves) -> str:
    return enter_path(await shelves.parts().sessions.new_code())


async def test_a_link_opens_once_and_gives_a_cookie_that_scripts_and_other_sites_do_not_get(
    stranger: Browser, link: str
) -> None:
    refused = await read(stranger, "/library", 403)
    first = await stranger.get(link, allow_redirects=False)
    cookie = first.headers["Set-Cookie"]
    opened = await stranger.get("/library")
    again = await stranger.get(link, allow_redirects=False)
    stranger.session.cookie_jar.clear()
    elsewhere = await read(stranger, link, 403)

    assert HOW_TO_ENTER in refused
    assert (first.status, first.headers["Location"], opened.status) == (303, "/", 200)
    assert cookie.startswith("footnote_session_")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; ")) and "Secure" not in cookie
    assert again.status == 303, "a browser that is in may open it again"
    assert USED in elsewhere and HOW_TO_ENTER in elsewhere


async def test_a_link_to_set_up_leads_there(stranger: Browser, shelves: Shelves) -> None:
    path = enter_path(await shelves.parts().sessions.new_code(), to_setup=True)

    assert (await stranger.get(path, allow_redirects=False)).headers["Location"] == "/setup"


async def test_a_look_ahead_does_not_use_the_link_up(stranger: Browser, link: str) -> None:
    assert (await stranger.head(link)).status == 405
    assert (await stranger.get(link, allow_redirects=False)).status == 303


@pytest.mark.parametrize("path", ["/enter/guessed", "/enter/%F0%9F%98%80", "/enter/%00"])
async def test_a_guessed_code_opens_nothing(stranger: Browser, path: str) -> None:
    assert USED in await read(stranger, path, 403)


async def test_links_and_sessions_expire(stranger: Browser, link: str, shelves: Shelves) -> None:
    sessions = shelves.parts().sessions
    kept = enter_path(await sessions.new_code())
    shelves.clock.advance(LINK_SECONDS - 1)
    assert (await stranger.get(kept, allow_redirects=False)).status == 303
    shelves.clock.advance(1)
    stranger.session.cookie_jar.clear()
    assert USED in await read(stranger, link, 403)

    await sign_in(stranger, lasts=OWNER_LASTS)
    shelves.clock.advance(OWNER_LASTS.total_seconds() - 1)
    assert (await stranger.get("/library")).status == 200
    shelves.clock.advance(1)
    assert (await stranger.get("/library")).status == 403


async def test_somebody_who_signed_out_is_a_stranger_also_with_the_cookie(browse: OpenBrowser) -> None:
    browser = await browse()
    cookies = {cookie.key: cookie.value for cookie in browser.session.cookie_jar}
    left = await browser.post("/sign-out", allow_redirects=False)
    browser.session.cookie_jar.clear()

    assert left.status == 303
    assert (await browser.get("/library", cookies=cookies)).status == 403


async def test_another_key_ends_all_sessions(shelves: Shelves) -> None:
    sessions = shelves.parts().sessions
    secret = await sessions.enter(await sessions.new_code())
    other = shelves.stores.sessions(shelves.clock, key="another")

    assert secret is not None and await sessions.find(secret) is not None
    assert await other.find(secret) is None
    assert other.service_id != sessions.service_id


@pytest.mark.parametrize(
    ("public_url", "host", "is_secure"),
    [
        ("https://foot.example", "foot.example", True),
        ("https://foot.example", "FOOT.example", True),
        ("http://foot.example", "foot.example", False),
        ("https://foot.example", "localhost", False),
    ],
)
async def test_over_tls_the_cookie_is_secure(
    browse: OpenBrowser, link: str, public_url: str, host: str, is_secure: bool
) -> None:
    stranger = await browse(role=None, public_url=public_url)
    entered = await stranger.get(link, allow_redirects=False, headers={"Host": host})

    assert ("Secure" in entered.headers["Set-Cookie"].split("; ")) == is_secure


async def test_where_a_request_comes_from_proves_nothing(stranger: Browser) -> None:
    """A plain proxy on this machine sends its own name as the host, and nothing about the client."""
    for path in ("/", "/library", "/jobs", "/library/uploads"):
        assert (await stranger.get(path, headers={"Host": "127.0.0.1"})).status == 403


def test_a_session_lasts_longer_than_a_link() -> None:
    assert timedelta(seconds=LINK_SECONDS) < OWNER_LASTS
