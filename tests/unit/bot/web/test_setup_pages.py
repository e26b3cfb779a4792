"""The wizard's pages: who may open them, what they take and show, and how a step ends."""

import asyncio
import re
from collections.abc import Callable
from functools import partial
from urllib.parse import urlencode

import pytest

import bot.web.pages.setup
from bot.web.pages.settings import Overview, PlatformState, TeamState, add_settings
from bot.web.pages.setup import NEW_LINK, NO_LINK, SetupParts, SetupRun, add_setup
from bot.web.security import SETUP_LASTS
from core.domain.corpus import Source
from core.domain.identity import Role
from tests.builders import build_document, build_pages
from tests.entering import sign_in
from tests.unit.bot.web.conftest import Browser, OpenBrowser, Shelves, read
from tests.unit.bot.web.scripted_wizard import BAD_TOKEN, GOOD_TOKEN, NO_INTENT, ScriptedWizard

DISCORD = PlatformState(
    name="Discord",
    is_on=True,
    is_connected=True,
    bots=["Footnote Tern"],
    teams=[TeamState(name="Tern Islands Ferries", workspace="local")],
)
SLACK = PlatformState(name="Slack", is_on=False, is_connected=False, bots=[], teams=[])
OVERVIEW = Overview(
    platforms=(DISCORD, SLACK), model="", reading=0, public_url="", is_open=False, can_set_up=True
)  # fmt: skip


class Restarted:
    def __init__(self) -> None:
        self.event = asyncio.Event()

    def __call__(self) -> None:
        self.event.set()


async def describe() -> Overview:
    return OVERVIEW


@pytest.fixture
def wizard() -> ScriptedWizard:
    return ScriptedWizard()


@pytest.fixture
def run() -> SetupRun:
    return SetupRun()


@pytest.fixture
def restarted() -> Restarted:
    return Restarted()


@pytest.fixture
async def browser(browse: OpenBrowser, wizard: ScriptedWizard, run: SetupRun, restarted: Restarted) -> Browser:
    """A browser that opened a link."""
    setup = SetupParts(open_wizard=lambda: wizard, run=run, restart=restarted)
    return await browse(partial(add_settings, overview=describe), partial(add_setup, setup=setup))


async def send(browser: Browser, step: str, do: str, status: int = 303, **answers: str | list[str]) -> str:
    """Press a button of a step's form; gives where it leads to, or the page."""
    kinds = {"token": "secret", "servers": "choices", "folder": "text", "links": "lines"}
    fields = {f"{kinds.get(name, 'choice')}.{name}": value for name, value in answers.items()}
    data = urlencode({"step": step, "do": do, **fields}, doseq=True)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    response = await browser.post("/setup", data=data, headers=headers, allow_redirects=False)
    text = await response.text()
    assert response.status == status, text
    return response.headers["Location"] if status == 303 else text


@pytest.mark.parametrize("path", ["/setup", "/setup?step=token", "/setup/done"])
async def test_set_up_opens_for_two_hours_after_the_link(browser: Browser, shelves: Shelves, path: str) -> None:
    await read(browser, path)
    shelves.clock.advance(SETUP_LASTS.total_seconds())
    text = await read(browser, path, 403)

    assert NO_LINK in text and NEW_LINK in text


async def test_later_nothing_is_taken(browser: Browser, shelves: Shelves, wizard: ScriptedWizard) -> None:
    shelves.clock.advance(SETUP_LASTS.total_seconds())

    assert NO_LINK in await send(browser, "token", "continue", 403, token=GOOD_TOKEN)
    assert wizard.stored == {}


@pytest.mark.parametrize("role", [Role.ADMIN, Role.MEMBER])
async def test_set_up_is_for_the_owner_alone(browser: Browser, wizard: ScriptedWizard, role: Role) -> None:
    await sign_in(browser, role)

    assert NO_LINK in await read(browser, "/setup", 403)
    assert NO_LINK in await send(browser, "token", "continue", 403, token=GOOD_TOKEN)
    assert wizard.stored == {}


async def test_a_form_of_another_site_is_refused(browser: Browser, wizard: ScriptedWizard) -> None:
    foreign = await browser.post("/setup", data={"step": "platform"}, headers={"Origin": "https://evil.example"})

    assert foreign.status == 403
    assert wizard.stored == {}


async def test_an_answer_leads_to_the_next_step_and_a_skipped_one_too(browser: Browser, wizard: ScriptedWizard) -> None:
    assert await send(browser, "platform", "continue", platform="discord") == "/setup?step=token"
    assert await send(browser, "token", "skip") == "/setup?step=server"
    assert (wizard.stored, wizard.skipped) == ({"platform": {"platform": "discord"}}, ["token"])


async def test_a_wrong_token_is_told_with_its_fix_and_never_sent_back(browser: Browser) -> None:
    page = await send(browser, "token", "continue", 200, token="secret-but-wrong")

    assert BAD_TOKEN.replace("'", "&#39;") in page
    assert "Problem: " in page and 'href="https://discord.com/developers"' in page
    assert "secret-but-wrong" not in page


async def test_a_warning_is_shown_once_and_does_not_hold_the_step_up(browser: Browser) -> None:
    page = await send(browser, "token", "continue", 200, token=GOOD_TOKEN)
    seen = re.search(r'name="seen" value="([^"]+)"', page)
    assert seen and NO_INTENT in page and "Warning: " in page
    data = {"step": "token", "do": "continue", "seen": seen[1], "secret.token": ""}
    on = await browser.post("/setup", data=data, allow_redirects=False)

    assert (on.status, on.headers["Location"]) == (303, "/setup?step=server")


async def test_a_stored_token_is_not_shown_and_stays_when_its_field_is_empty(
    browser: Browser, wizard: ScriptedWizard
) -> None:
    await send(browser, "token", "continue", 200, token=GOOD_TOKEN)
    page = await read(browser, "/setup?step=token")
    await send(browser, "token", "check", 200, token="")

    assert GOOD_TOKEN not in page and "Stored. It is never shown again." in page and "Replace" in page
    assert wizard.stored["token"] == {"token": GOOD_TOKEN}


async def test_checks_are_made_anew_at_every_look(browser: Browser, wizard: ScriptedWizard) -> None:
    await send(browser, "token", "continue", 200, token=GOOD_TOKEN)
    before = await read(browser, "/setup?step=token")
    wizard.has_intent = True
    after = await read(browser, "/setup?step=token")

    assert NO_INTENT in before and NO_INTENT not in after and "Message Content Intent is on." in after


async def test_lines_are_taken_one_by_one_and_blanks_are_cut(browser: Browser, wizard: ScriptedWizard) -> None:
    await send(browser, "documents", "continue", way="links", folder=" /srv ", links=" https://a.example \r\n\r\nb ")
    assert wizard.stored["documents"] == {"way": "links", "folder": "/srv", "links": ("https://a.example", "b")}


async def test_several_choices_are_taken(browser: Browser, wizard: ScriptedWizard) -> None:
    wizard.servers.append("Tuesday Table")
    await send(browser, "server", "continue", servers=["tern islands ferries", "tuesday table"])

    assert wizard.stored["server"] == {"servers": ("tern islands ferries", "tuesday table")}
    await send(browser, "server", "continue", servers=[""])  # what the form sends if none is chosen
    assert wizard.stored["server"] == {"servers": ()}
    assert "Copy" in await read(browser, "/setup?step=server")


async def test_save_and_finish_later_keeps_what_is_entered(browser: Browser, wizard: ScriptedWizard) -> None:
    assert await send(browser, "documents", "later", way="folder", folder="/srv") == "/"
    assert wizard.stored["documents"] == {"way": "folder", "folder": "/srv"}


async def test_an_unknown_step_is_an_ordinary_page(browser: Browser) -> None:
    assert "This page is gone" in await read(browser, "/setup?step=nowhere", 404)


async def test_finishing_restarts_the_service_and_shows_what_is_connected(
    browser: Browser,
    shelves: Shelves,
    run: SetupRun,
    restarted: Restarted,
    monkeypatch: pytest.MonkeyPatch,
    wizard: ScriptedWizard,
    library: Callable[[], None],
) -> None:
    monkeypatch.setattr(bot.web.pages.setup, "RESTART_AFTER_SECONDS", 0.0)
    assert await send(browser, "done", "finish") == "/setup/done"
    waiting = await read(browser, "/setup/done")
    async with asyncio.timeout(60):
        await restarted.event.wait()
    run.is_restarting = False  # as the new service does
    done = " ".join((await read(browser, "/setup/done")).split())

    assert wizard.is_finished
    assert "Starting with the new settings" in waiting and 'http-equiv="refresh"' in waiting
    assert "Footnote Tern is online on Discord, in Tern Islands Ferries." in done
    assert "1 document read, 0 failed." in done and "Answers are quotes." in done
    assert "Or say it in Discord: <strong>@Footnote Tern</strong>" in done and 'action="/ask"' in done


@pytest.fixture
async def library(shelves: Shelves) -> None:
    source = Source(id="s", workspace="local", name="Handbook", kind="folder", location="/srv")
    await shelves.corpus.save_source(source)
    document = build_document("fleet.md", source)
    await shelves.corpus.switch_revision(document, build_pages(document, "One."), [])


async def test_what_can_not_be_finished_is_told_on_the_last_screen(browser: Browser, wizard: ScriptedWizard) -> None:
    wizard.trouble = "Can't write config.toml: the disk is full. Free some space, then finish again."
    page = await send(browser, "done", "finish", 200)

    assert "the disk is full" in page and "Finish and start" in page


async def test_a_service_that_did_not_start_is_told_with_its_reason(browser: Browser, run: SetupRun) -> None:
    run.problem = "Discord refuses the bot's token."
    page = await read(browser, "/setup/done")

    assert "Footnote did not start with the new settings" in page and "Discord refuses the bot&#39;s token." in page
    assert 'href="/setup"' in page


async def test_settings_tell_what_is_connected_and_the_way_to_change_it(browser: Browser, library: None) -> None:
    page = " ".join(re.sub(r"<[^>]+>", " ", await read(browser, "/settings")).split())

    assert "Connected as Footnote Tern" in page and "Tern Islands Ferries reads the workspace “local”." in page
    assert "Slack Not connected." in page
    assert "it reads the workspace “local”: 1 document from Handbook." in page
    assert "Only browsers that opened a link of the terminal." in page
    assert "run footnote link --setup on the machine" in page


async def test_the_colours_are_chosen_in_settings_and_stay(browser: Browser) -> None:
    assert 'data-theme="system"' in await read(browser, "/settings")
    await browser.post("/settings", data={"theme": "dark"})
    assert 'data-theme="dark"' in await read(browser, "/library")
    refused = await browser.post("/settings", data={"theme": "<script>"})

    assert refused.status == 400
