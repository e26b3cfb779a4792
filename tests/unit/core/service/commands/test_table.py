"""The table as a whole: what is bound, found, shown and taken apart."""

from pathlib import Path

import pytest

from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings, FollowUps, Listening
from core.errors import BadInput
from core.service.commands.help import TOPICS
from core.work.commands import OptionKind
from tests.unit.core.service.commands.counter import HERE, answered, stocked

COMMANDS_PAGE = Path(__file__).parents[5] / "docs" / "commands.md"
EVERYWHERE = {
    *("ask", "summary", "threads", "open", "new", "rename", "delete", "forget", "export", "recap"),
    *("sources", "search", "page", "source", "facts", "extract", "position", "jobs", "help"),
    *("settings", "mute", "listen", "unmute"),
}


async def test_the_table_holds_what_is_bound_and_nothing_else() -> None:
    serving, alone = await stocked(), await stocked(serves=False)

    assert set(alone.commands.table) == EVERYWHERE
    assert set(serving.commands.table) == {*EVERYWHERE, "stop", "why"}


async def test_help_begins_with_how_to_ask_and_three_commands() -> None:
    run = await stocked()
    result = await run("help")
    asking, reading, *listed = result.text.split("\n\n")

    assert asking.startswith("**Ask me what the documents say.**") and reading.startswith("Here I can read **")
    lines = "".join(listed).splitlines()
    assert [line.split()[1] for line in lines] == ["`/ask", "`/search", "`/threads"]
    assert result.menu is not None and f"/help {next(iter(TOPICS))}" in result.full_text


@pytest.mark.parametrize(
    ("follow_ups", "said"),
    [
        (FollowUps.ASKER, "there you can go on without a mention."),
        (FollowUps.NAMED, "I answer in a thread; mention me there, too."),
        (FollowUps.ALL, "there, and in other threads I was called into, you can all go on without a mention."),
    ],
)
async def test_help_says_what_holds_in_the_channel_s_threads(follow_ups: FollowUps, said: str) -> None:
    run = await stocked()
    await run.shelf.settings.save_channel(ChannelAddress.of(HERE), ChannelSettings(follow_ups=follow_ups))

    assert (await run("help")).text.split("\n\n")[0].endswith(said)


async def test_help_says_that_a_muted_thread_needs_a_mention() -> None:
    run = await stocked()
    await run.shelf.settings.save_listening(HERE, Listening.MUTED)

    assert "mention me there, too" in (await run("help")).text
    assert "mention" not in (await run("help", direct=True)).text.casefold().partition("\n")[0]


async def test_each_command_belongs_to_one_task() -> None:
    run = await stocked()
    told = [name for topic in TOPICS.values() for name in topic.commands]

    assert len(told) == len(set(told))
    assert set(run.commands.table) <= {*told, "ask", "help"}


@pytest.mark.parametrize("topic", TOPICS)
async def test_a_task_lists_its_commands_that_are_there(topic: str) -> None:
    run = await stocked()
    text = (await run("help", topic)).text
    there = {name for name in TOPICS[topic].commands if name in run.commands.table}

    assert text.startswith(f"**{TOPICS[topic].title}**")
    assert {name for name in run.commands.table if f"- `/{name} " in text or f"- `/{name}`" in text} == there


async def test_help_with_other_words_is_help() -> None:
    run = await stocked()
    assert (await run("help", "me please")).text == (await run("help")).text


async def test_all_lists_every_command_with_its_usage() -> None:
    run = await stocked()
    text = (await run("help", "all")).text

    assert all(f"`/{row.name} {row.usage}`" in text or f"`/{row.name}`" in text for row in run.commands.table.values())


async def test_the_page_about_commands_tells_of_each_as_it_is_used() -> None:
    run = await stocked()
    text = COMMANDS_PAGE.read_text(encoding="utf-8").replace(r"\|", "|")

    for row in run.commands.table.values():
        usage = f"/{row.name} {row.usage}".rstrip()
        assert f"| `{usage}` | {row.help} |" in text


async def test_in_a_terminal_help_leaves_out_what_is_for_channels() -> None:
    run = await stocked()
    text = (await run("help", "all", address=None)).text

    assert "/threads" in text
    assert not any(f"`/{name}" in text for name in ("settings", "mute", "listen", "unmute"))


async def test_an_unknown_command_names_near_ones() -> None:
    run = await stocked()
    with pytest.raises(BadInput, match="/threads"):
        await run("thread")


async def test_control_commands_are_known_by_their_mark() -> None:
    table = (await stocked()).commands.table

    assert {name for name, row in table.items() if row.control} == {"stop", "why", "jobs", "help"}


async def test_every_row_can_be_made_into_a_form() -> None:
    for row in (await stocked()).commands.table.values():
        names = [option.name for option in row.options]
        assert len(set(names)) == len(names) <= 25
        assert row.help and row.help[0].islower() and len(row.help) <= 100
        optional = [option.required for option in row.options]
        assert optional == sorted(optional, reverse=True), "forms ask for what is required first"
        for option in row.options:
            assert option.name.isidentifier() and option.name.islower() and option.help
            assert (option.kind is OptionKind.CHOICE) == bool(option.choices)


@pytest.mark.parametrize(
    ("name", "typed", "form"),
    [
        ("page", "House 2", {"document": "House", "number": "2"}),
        ("search", "stairs", {"words": "stairs"}),
        ("source", "[1]", {"footnote": "1"}),
        ("rename", "Old keys", {"title": "Old keys"}),
        ("export", "json", {"format": "json"}),
        ("threads", "all 1", {"show": "all", "page": "1"}),
        ("ask", "where? --document house.md --private", {"question": "where?", "document": "House", "private": "true"}),
        ("settings", "limit 5", {"name": "limit", "value": "5"}),
    ],
)
async def test_a_form_and_a_typed_line_give_the_same(name: str, typed: str, form: dict[str, str]) -> None:
    run = await answered()
    rights = {"sees_all": True, "is_admin": True}

    assert await run(name, typed, **rights) == await run(name, options=form, **rights)
