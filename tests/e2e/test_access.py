"""`footnote access explain`: why people can see a document in a place, or can't, with and without a running service."""

import asyncio
from pathlib import Path

import pytest

from bot.config import load_config
from bot.runtime.system import author_name
from bot.wiring.parts import open_parts
from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings, PersonAddress, PositionHolder
from tests.e2e.conftest import Footnote
from tests.e2e.serving import ServiceProcess

CLUB = ChannelAddress(platform="slack", workspace="local", channel="C0123CLUB")
BOARD = ChannelAddress(platform="slack", workspace="local", channel="C0123BOARD")
STORY = "the-clockmaker-of-tern.txt"
TITLE = "The Clockmaker of Tern"


def arrange(data_dir: Path, positions: dict[PositionHolder, int]) -> None:
    """Set positions in the story, and other sources for the board."""

    async def work() -> None:
        async with open_parts(load_config(None, data_dir=data_dir, workspace=None)) as app:
            story = await app.library.find_document(STORY, await app.access.scope(app.workspace))
            for holder, last in positions.items():
                await app.stores.settings.save_position(holder, story.id, last)
            await app.stores.settings.save_channel(BOARD, ChannelSettings(sources=frozenset({"minutes"})))

    asyncio.run(work())


def words(text: str) -> str:
    """In one line, however wide the terminal is."""
    return " ".join(text.split())


def test_the_command_line_itself_reads_all_up_to_its_persons_positions(footnote: Footnote, data_dir: Path) -> None:
    me = PersonAddress(workspace="local", person=author_name())
    open_ = footnote("access", "explain", "--document", STORY)
    arrange(data_dir, {me: 2})
    bound = footnote("access", "explain", "--document", STORY, "--json").json
    hits = footnote("search", "Corrigan wound the clock", "--document", STORY, "--json").json["hits"]

    assert (open_.code, open_.err) == (0, "")
    told = words(open_.out)
    assert f"What {author_name()} reads in the workspace local, outside of channels:" in told
    assert "✓ sample library: May be read: without a channel all sources of the workspace may be." in told
    assert f"All of “{TITLE}” can be read here" in told
    assert (bound["thread"], bound["person"], bound["alone"]) == (None, author_name(), True)
    assert (bound["document"]["verdict"], bound["document"]["last_page"]) == ("up_to", 2)
    assert bound["document"]["chapter"] == "Chapter One: The Island That Was Late"
    assert {hit["page_number"] for hit in hits} <= {1, 2}


def test_a_channel_is_told_with_its_sources_its_positions_and_what_would_change_them(
    footnote: Footnote, data_dir: Path
) -> None:
    arrange(data_dir, {CLUB: 2, PersonAddress(workspace="local", person="U1"): 1})
    club = ("access", "explain", "--channel", "slack:C0123CLUB")
    closed = words(footnote(*club, "--document", STORY).out)
    footnote("sources", "readers", "sample library", "everyone")
    told = words(footnote(*club, "--document", STORY).out)
    person = words(footnote(*club, "--thread", "17.5", "--person", "U1", "--document", STORY).out)
    alone = footnote(*club, "--person", "U1", "--alone", "--document", STORY, "--json").json
    board = footnote("access", "explain", "--channel", "slack:C0123BOARD", "--document", STORY, "--json").json

    assert "✗ sample library: May not be read" in closed and "sources readers 'sample library' READER" in closed
    assert "What anybody reads in slack:C0123CLUB of the workspace local, where others read along:" in told
    assert f"{TITLE} (stories/{STORY}): up to page 2, the channel's position" in told
    assert f"“{TITLE}” can be read here up to page 2 (Chapter One: The Island That Was Late)" in told
    assert f'/position "{TITLE}" PLACE --channel' in told
    assert "slack:C0123CLUB, thread 17.5" in person
    assert "up to page 1, U1's position (the channel's position is up to page 2)" in person
    assert [item["holder"] for item in alone["positions"][0]["held"]] == ["channel", "person"]
    assert (alone["alone"], alone["document"]["last_page"]) == (True, 1)
    assert board["sources"] == [
        {
            "source": "sample library",
            "source_type": "folder",
            "readable": False,
            "reason": "not_allowed",
            "sentence": "May not be read: it is not one of the channel's sources (minutes).",
        }
    ]
    assert (board["document"]["verdict"], board["document"]["last_page"]) == ("nothing", 0)
    assert board["positions"] == []


@pytest.mark.slow
def test_a_running_service_says_the_same_as_none(footnote: Footnote, data_dir: Path) -> None:
    arrange(data_dir, {CLUB: 2, PersonAddress(workspace="local", person=author_name()): 1})
    commands = (
        ("access", "explain"),
        ("access", "explain", "--document", STORY),
        ("access", "explain", "--channel", "slack:C0123CLUB", "--person", "U1", "--document", STORY, "--json"),
        ("access", "explain", "--channel", "slack:guild:C0123CLUB:1.5", "--document", STORY, "--json"),
        ("access", "explain", "--document", "no such thing"),
        ("access", "explain", "--channel", "slack:#club"),
    )
    without = [footnote(*command) for command in commands]
    with ServiceProcess(data_dir) as service:
        service.wait_ready()
        through = [footnote(*command) for command in commands]

    assert [(item.code, item.out, item.err) for item in through] == [
        (item.code, item.out, item.err) for item in without
    ]
    assert [item.code for item in without] == [0, 0, 0, 0, 1, 1]
    assert without[3].json["document"]["reason"] == "other_workspace"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--channel", "teams:1"), 1, "Unknown platform 'teams'"),
        (("--channel", "general"), 1, "'general' isn't a channel. Write PLATFORM:ID"),
        (("--channel", "discord:general"), 1, "isn't a channel of discord"),
        (("--document", "the constitution of Mars"), 1, "There is no document 'the constitution of Mars'"),
        (("--document", ""), 1, "The document's name is empty"),
        (("--thread", "17.5"), 2, "--thread names a thread of a channel"),
    ],
)
def test_what_can_not_be_explained_is_one_clear_sentence(
    footnote: Footnote, arguments: tuple[str, ...], code: int, said: str
) -> None:
    refused = footnote("access", "explain", *arguments)

    assert (refused.code, refused.out) == (code, "")
    assert said in refused.err and "Traceback" not in refused.err


def test_another_workspace_has_no_names_of_this_one(footnote: Footnote) -> None:
    found = footnote("--workspace", "guild", "access", "explain")
    refused = footnote("--workspace", "guild", "access", "explain", "--document", STORY)

    assert "There are no sources in the workspace guild" in words(found.out)
    assert "sample library" not in found.out
    assert (refused.code, TITLE in refused.err) == (1, False)
