"""Footnotes of posted answers, through the real service on both platforms: the page or the passage that they open."""

import re
from html import unescape
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.discord_server import text_of as discord_text_of
from tests.e2e.discord_service import DiscordService, history
from tests.e2e.discord_service import buttons as discord_buttons
from tests.e2e.platform_service import ANSWER, PUBLIC_URL, TEAM, PlatformService
from tests.e2e.slack_service import SlackService
from tests.e2e.test_slack_buttons import bold_in
from tests.slack_server import Message, text_of
from tests.slack_server.choosing import blocks_of

pytestmark = pytest.mark.slow
LONGEST_LINK = 50  # characters after the address
LINK = re.compile(r"https?://[^\s)\"'<>|]+")
MARK = re.compile(r"<mark\b[^>]*>(.*?)</mark>", re.DOTALL)
TOWERS = "# Towers\n\nThe tower of Brix was built by the mason Halva.\n"
TOWERS_QUESTION = "Who built the tower of Brix?"
TOWERS_ANSWER = "built by the mason Halva"
TOWERS_ADDRESS = "https://towers.example/wiki/towers.md"


def of_towers(service: PlatformService, folder: Path) -> None:
    """A source whose documents have addresses of their own; before the start."""
    folder.mkdir()
    (folder / "towers.md").write_text(TOWERS, encoding="utf-8")
    service.more_config += [
        "[[sources]]",
        'kind = "folder"',
        'name = "towers"',
        f'workspace = "{TEAM}"',
        f'path = "{folder}"',
        'readers = ["members"]',
        'link_template = "https://towers.example/wiki/{path}"',
    ]


def links_of(message: Message) -> list[str]:
    """Every address that a Slack message leads to, in its blocks and in its text."""
    return list(dict.fromkeys(LINK.findall(str([blocks_of(message), message.text]))))


async def marked(service: PlatformService, link: str) -> str:
    """What is marked on the page of a short link, which says nothing of what it leads to."""
    path = link.removeprefix(f"{PUBLIC_URL}/").partition("#")[0]
    assert len(link.removeprefix(PUBLIC_URL)) < LONGEST_LINK
    assert not re.search("kite|ondar|team", path, re.IGNORECASE)
    async with ClientSession() as browser, browser.get(service.url + path) as reply:
        assert reply.status == 200
        page = await reply.text()
    assert "Kites" in page
    return unescape(" ".join(MARK.findall(page)))


async def test_with_an_address_footnotes_on_slack_open_the_page_with_the_passage_marked(
    slack_service: SlackService,
) -> None:
    service = slack_service
    general, ada = service.settle_in()
    await service.start()
    asked = await service.ask(ada, general)
    [answer] = service.finals(general, asked)
    [link] = links_of(answer)  # of the number, and of the source below
    assert f"[[1]]({link})" in text_of(answer)
    assert ANSWER in await marked(service, link)


@pytest.mark.parametrize("slack_service", ["socket"], indirect=True)  # over HTTP, Slack needs an address
async def test_without_an_address_footnotes_on_slack_open_the_passage_in_chat(
    slack_service: SlackService, tmp_path: Path
) -> None:
    service = slack_service
    service.public_url = None
    general, ada = service.settle_in()
    of_towers(service, tmp_path / "towers")
    await service.start()
    asked = await service.ask(ada, general)
    [answer] = service.finals(general, asked)
    assert "[1]" in text_of(answer)
    assert links_of(answer) == []
    opened = await ada.click(answer, "Show sources")
    await service.until(lambda: opened.modal, "the passages")
    assert opened.modal is not None
    assert any(ANSWER in words for words in bold_in(opened.modal))

    await service.run("sync", "towers")
    asked = await service.ask(ada, general, TOWERS_QUESTION)
    [answer] = service.finals(general, asked)
    assert TOWERS_ANSWER in text_of(answer)
    assert links_of(answer) == [TOWERS_ADDRESS]
    assert f"[[1]]({TOWERS_ADDRESS})" in text_of(answer)


async def test_with_an_address_footnotes_on_discord_open_the_page_with_the_passage_marked(
    discord_service: DiscordService,
) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    general, ada = guild.create_text_channel("general"), server.person("ada", guild)
    await service.start()
    thread = await service.ask(ada, general)
    [answer] = await service.answered(thread)
    [link] = set(LINK.findall(answer))
    assert f"[[1]]({link})" in answer
    assert ANSWER in await marked(service, link)


async def test_without_an_address_footnotes_on_discord_open_the_passage_in_chat(
    discord_service: DiscordService, tmp_path: Path
) -> None:
    service, server = discord_service, discord_service.server
    service.public_url = None
    guild = service.join("House", TEAM)
    general, ada = guild.create_text_channel("general"), server.person("ada", guild)
    of_towers(service, tmp_path / "towers")
    await service.start()
    thread = await service.ask(ada, general)
    [answer] = await service.answered(thread)
    assert "[1]" in answer.replace("\\", "")
    assert LINK.findall(answer) == []
    [post] = [one for one in history(thread) if ANSWER in str(one.components) or ANSWER in one.content]
    [stored] = service.finals(thread)
    shown = await ada.click(post, custom_id=discord_buttons(stored)["Show sources"])
    assert shown.ephemeral
    [cited] = [said for one in server.answers(thread) if one.is_ephemeral for said in [discord_text_of(one)]]
    assert f"**The red kite of Ondar {ANSWER}.**" in cited

    await service.run("sync", "towers")
    asked = await ada.mention(general, TOWERS_QUESTION)
    [answer] = await service.answered(await service.thread_on(general, asked.id))
    assert TOWERS_ANSWER in answer
    assert set(LINK.findall(answer)) == {TOWERS_ADDRESS}
