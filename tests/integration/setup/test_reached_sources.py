"""The step of the documents asks each source once, names a fault, and accepts the source when it is entered again."""

import base64
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bot.config import load_config
from bot.presentation.setup_screens import Tone
from bot.setup.wizard import Wizard
from storage.sources import building
from tests.integration.sources.site import Page, Site, serving

AGAIN = "To use it anyway, enter it once more."


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as opened:
        yield opened


@pytest.fixture
async def asked(wizard: Wizard) -> Wizard:
    await wizard.submit("platform", {"platform": "local"})
    return wizard


async def told(wizard: Wizard, **answers: str) -> tuple[Tone, str]:
    [found] = await wizard.submit("documents", answers)
    return found.tone, found.sentence


async def allowed(wizard: Wizard, **answers: str) -> tuple[Tone, str]:
    """Allow an address on this machine, and return the finding."""
    tone, sentence = await told(wizard, **answers)
    assert tone is Tone.PROBLEM
    assert sentence.endswith(
        "is in your own network, which is read only if you allow it. Enter it once more to allow that."
    )
    return await told(wizard, **answers)


async def written(wizard: Wizard, file: Path) -> list[dict[str, Any]]:
    await wizard.finish()
    load_config(file)
    sources: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8")).get("sources", [])  # noqa: ASYNC240
    return sources


def content(file: str) -> str:
    return Path(file).read_text(encoding="utf-8")


def wants(header: str) -> Page:
    """Return a page that needs this authorisation."""

    async def answer(request: web.Request) -> web.Response:
        is_known = request.headers.get("Authorization") == header
        return web.json_response({"results": []}) if is_known else web.Response(status=401)

    return Page(handler=answer)


async def test_an_address_of_the_own_network_is_read_only_if_the_person_allows_it(
    asked: Wizard, site: Site, config_file: Path
) -> None:
    site.pages["/rules"] = Page("<h1>Rules</h1>")
    given = {"kind": "url_list", "urls": f"{site.url}/rules"}

    assert await allowed(asked, **given) == (Tone.OK, f"{site.url}/rules is read when Footnote starts.")
    assert site.without_robots() == ["/rules"]
    [source] = await written(asked, config_file)
    assert source["allow_private"] is True


async def test_a_page_that_is_not_there_is_told_and_used_anyway(asked: Wizard, site: Site, config_file: Path) -> None:
    given = {"kind": "url_list", "urls": f"{site.url}/gone"}

    assert await allowed(asked, **given) == (
        Tone.PROBLEM,
        f"{site.url}/gone was not found. Check the address. {AGAIN}",
    )
    assert await told(asked, **given) == (Tone.OK, f"{site.url}/gone is read when Footnote starts.")
    [source] = await written(asked, config_file)
    assert source["allow_private"] is True


async def test_a_page_that_robots_txt_forbids_is_told(asked: Wizard, site: Site) -> None:
    site.pages["/robots.txt"] = Page("User-agent: *\nDisallow: /", media_type="text/plain")

    assert await allowed(asked, kind="url_list", urls=f"{site.url}/rules") == (
        Tone.PROBLEM,
        f"{site.url}/rules does not let Footnote read it. Choose another page. {AGAIN}",
    )


async def test_a_host_that_does_not_answer_is_told(asked: Wizard) -> None:
    assert await allowed(asked, kind="url_list", urls="http://127.0.0.1:9/rules") == (
        Tone.PROBLEM,
        f"http://127.0.0.1:9/rules can't be reached. Check the address and this machine's network. {AGAIN}",
    )


async def test_a_host_that_never_ends_its_answer_is_given_up(
    asked: Wizard, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "REACH_SECONDS", 0.3)

    _, sentence = await allowed(asked, kind="git", git_url=f"{silent}/crew/handbook.git")
    assert sentence.startswith(f"{silent}/crew/handbook.git can't be reached.")


async def test_a_wiki_tells_a_missing_token_from_a_wrong_one(asked: Wizard, site: Site, config_file: Path) -> None:
    pair = base64.b64encode(b"ada@example.org:right").decode()
    site.pages["/wiki/rest/api/content"] = wants(f"Basic {pair}")
    given = {"kind": "confluence", "confluence_url": f"{site.url}/wiki", "spaces": "OPS", "user": "ada@example.org"}
    place = f"{site.url}/wiki (OPS)"

    assert await allowed(asked, **given) == (
        Tone.PROBLEM,
        f"{place} can't be read without a token. Paste one. {AGAIN}",
    )
    assert (await allowed(asked, **given, confluence_token="wrong"))[1] == (
        f"{place} refuses this token. Check the token and its rights. {AGAIN}"
    )
    assert (await allowed(asked, **given, confluence_token="right"))[0] is Tone.OK
    [source] = await written(asked, config_file)
    assert content(source["token_file"]) == "right\n"


async def test_a_repository_is_asked_for_and_the_typed_token_is_kept_for_the_second_time(
    asked: Wizard, site: Site, config_file: Path
) -> None:
    """The browser doesn't fill a secret in again."""
    given = {"kind": "git", "git_url": f"{site.url}/crew/handbook.git"}
    [first] = await asked.submit("documents", {**given, "git_token": "typed"})
    assert first.tone is Tone.PROBLEM
    assert (await told(asked, **given))[1] == (
        f"{site.url}/crew/handbook.git was not found. Check the address. {AGAIN}"
    )
    assert (await told(asked, **given))[0] is Tone.OK

    assert site.asked == ["/crew/handbook.git/info/refs?service=git-upload-pack"]
    assert "Authorization" not in site.heads[0]  # never in the clear
    [source] = await written(asked, config_file)
    assert content(source["token_file"]) == "typed\n"
