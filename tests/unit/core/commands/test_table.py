"""The one command table, over the twins."""

from dataclasses import replace

import pytest

from core.answering import AnswerService
from core.commands import CommandCall, CommandResult, Commands
from core.conversations import Conversations
from core.domain.conversation import Conversation, ThreadAddress
from core.errors import BadInput, NotFound
from core.jobs import Jobs
from core.providers.scripted import says
from tests.unit.core.shelf import Shelf
from tests.unit.core.test_answering import SEARCH, Desk, message


class Counter:
    """Commands over a desk where one question was answered."""

    def __init__(self, desk: Desk, shelf: Shelf, conversation: Conversation) -> None:
        self.conversation: Conversation | None = conversation
        self.conversations = Conversations(desk.store, desk.clock)
        service: AnswerService = desk.service
        jobs = Jobs(desk.job_store, desk.store, lambda: service, desk.clock)
        self.commands = Commands(
            library=shelf.library,
            corpus=shelf.corpus,
            conversations=self.conversations,
            jobs=jobs,
            access=shelf.access,
            settings=shelf.settings,
        )

    async def __call__(self, name: str, argument: str = "") -> CommandResult:
        return await self.commands.run(
            CommandCall(
                name=name,
                argument=argument,
                workspace="local",
                conversation=self.conversation,
                author="ada",
                sees_all=True,
            )
        )


@pytest.fixture
async def run() -> Counter:
    shelf = Shelf()
    await shelf.add("house.md", "# Keys\n\nThe key hangs under the stairs.", "# Garden\n\nA shed.", title="House")
    desk = Desk(shelf, SEARCH, says("Under the stairs [1]."))
    answer = await desk.ask()
    return Counter(desk, shelf, await desk.store.get(answer.conversation_id, "local"))


async def test_help_lists_every_command_with_its_usage(run: Counter) -> None:
    text = (await run("help")).text

    assert all(f"`/{name}" in text for name, row in run.commands.table.items() if not row.for_channels)


async def test_an_unknown_command_names_near_ones(run: Counter) -> None:
    with pytest.raises(BadInput, match="/threads"):
        await run("thread")


async def test_threads_are_listed_opened_by_number_and_by_id(run: Counter) -> None:
    assert run.conversation is not None
    assert run.conversation.id in (await run("threads")).text
    by_number, by_id = await run("open", "1"), await run("open", run.conversation.id)

    assert by_number.open_conversation is not None and by_id.open_conversation is not None
    assert by_number.open_conversation.id == by_id.open_conversation.id == run.conversation.id
    with pytest.raises(NotFound):
        await run("open", "nope")


async def test_what_people_say_in_a_channel_is_in_no_list_of_threads(run: Counter) -> None:
    address = ThreadAddress(platform="web", workspace="local", channel="general", thread="")
    await run.conversations.create(replace(message("good morning"), address=address), title="#general")

    assert "#general" not in (await run("threads")).text
    assert (await run("open", "1")).open_conversation == run.conversation
    with pytest.raises(NotFound):
        await run("open", "2")


async def test_a_conversation_is_renamed_exported_and_deleted(run: Counter) -> None:
    assert (await run("rename", "Old keys")).open_conversation.title == "Old keys"
    exported = await run("export")
    assert exported.file_name is not None and exported.file_name.endswith(".md")
    assert exported.text.startswith("# Old keys")
    assert (await run("export", "json")).text.startswith("{")
    with pytest.raises(BadInput, match="pdf"):
        await run("export", "pdf")
    assert (await run("delete")).start_new
    with pytest.raises(NotFound):
        await run("export")


async def test_new_starts_afresh(run: Counter) -> None:
    assert (await run("new")).start_new


async def test_sources_search_and_pages_show_what_can_be_read(run: Counter) -> None:
    assert ": 1 document, 0 could" in (await run("sources")).text
    assert "House" in (await run("search", "stairs key")).text
    assert "Nothing found" in (await run("search", "zebra")).text
    assert "A shed." in (await run("page", "House 2")).text
    for name, argument in (("search", " "), ("page", "House"), ("page", "")):
        with pytest.raises(BadInput):
            await run(name, argument)


async def test_a_footnote_shows_its_passage_in_place(run: Counter) -> None:
    assert "**The key hangs under the stairs.**" in (await run("source", "[1]")).text
    with pytest.raises(BadInput, match="it has 1"):
        await run("source", "4")


async def test_jobs_tells_how_the_answer_was_made(run: Counter) -> None:
    text = (await run("jobs")).text

    assert "answer: done" in text
    assert "search: done" in text


async def test_commands_about_a_conversation_need_one(run: Counter) -> None:
    run.conversation = None
    with pytest.raises(BadInput, match="needs a conversation"):
        await run("rename", "x")


async def test_an_empty_conversation_has_no_last_answer(run: Counter) -> None:
    run.conversation = await run.conversations.create(message(thread="empty"))
    with pytest.raises(BadInput, match="no answer"):
        await run("jobs")
