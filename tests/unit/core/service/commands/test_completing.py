"""What a half-typed value may become."""

from dataclasses import replace

import pytest

from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings
from core.service.commands.table import MOST_COMPLETIONS
from tests.unit.core.service.commands.counter import HERE, Counter, stocked


@pytest.fixture
async def run() -> Counter:
    counter = await stocked()
    await counter.shelf.add("boat house.md", "# Boats\n\nTwo.", title="The boat house")
    await counter.shelf.add("log.json", "# Log\n\nWe sailed.", title="Captain's log", kind="foundry")
    return counter


async def values(run: Counter, command: str, option: str, typed: str, **changes: object) -> list[str]:
    found = await run.commands.complete(replace(run.call, name=command, **changes), option, typed)
    return [item.value for item in found]


async def test_documents_that_begin_with_what_was_typed_come_first(run: Counter) -> None:
    assert await values(run, "ask", "document", "HOUSE") == ["handbook/house.md", "handbook/boat house.md"]
    assert await values(run, "page", "document", "zebra") == []
    assert len(await values(run, "summary", "name", "")) == 3


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/su", ["/summary "]),
        ("/summary handbook/b", ["/summary handbook/boat house.md"]),
        ("/summary HANDBOOK/LOG", ["/summary handbook/log.json"]),
        ("/summary zebra", []),
        ("/unknown h", []),
        ("/new ", []),
        ("/mu", []),  # for channels
    ],
)
async def test_a_line_in_a_terminal_continues_with_a_command_or_its_first_value(
    run: Counter, line: str, expected: list[str]
) -> None:
    call = replace(run.call, name="", address=None)
    assert await run.commands.complete_line(call, line) == expected


async def test_journals_are_journals_alone(run: Counter) -> None:
    assert await values(run, "ask", "journal", "") == ["handbook/log.json"]


async def test_what_the_channel_may_not_read_is_not_proposed(run: Counter) -> None:
    await run.shelf.settings.save_channel(ChannelAddress.of(HERE), ChannelSettings(sources=frozenset()))

    assert await values(run, "ask", "document", "") == []


async def test_threads_and_choices_are_those_that_the_person_may_use(run: Counter) -> None:
    mine = await run.begin("keys")
    await run.begin("bens", owner="ben")

    assert await values(run, "threads", "thread", "") == [mine.id]
    assert await values(run, "threads", "action", "re") == ["resume", "rename"]


async def test_proposals_fit_a_platform_and_name_what_they_mean(run: Counter) -> None:
    for number in range(MOST_COMPLETIONS + 5):
        await run.shelf.add(f"{'deep/' * 30}{number}.md", "# Deep\n\nDown.", title="Deep " * 40)
    found = await run.commands.complete(replace(run.call, name="ask"), "document", "deep")

    assert len(found) == MOST_COMPLETIONS
    assert all(len(item.label) <= 100 for item in found)
    assert all(item.value.startswith("local/handbook/deep") for item in found), "an id, where the path is too long"


@pytest.mark.parametrize(("command", "option"), [("ask", "question"), ("ask", "nothing"), ("nothing", "document")])
async def test_what_can_not_be_completed_has_no_proposals(run: Counter, command: str, option: str) -> None:
    assert await values(run, command, option, "h") == []
