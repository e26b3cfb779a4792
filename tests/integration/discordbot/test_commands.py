"""Slash commands: every row of core's table, for the one who gives it, at once."""

import asyncio

import pytest

from core.domain.extracts import ExtractType
from core.domain.incoming import ChannelAddress, ThreadAddress
from core.domain.service import ChannelSettings
from core.errors import StorageError
from core.knowledge.search.documents import JOURNAL_KIND
from core.work.commands import CommandCall, CommandResult
from tests.integration.discordbot.house import buttons, link_of, menus, texts, told, until
from tests.integration.discordbot.place import KEY, DiscordPlace


async def test_every_command_of_the_table_is_a_slash_command(place: DiscordPlace) -> None:
    async with place.open() as house:
        offered = set(house.ada.available_commands(house.channel))
        assert set(place.client.parts.commands.table) <= {name.split()[0] for name in offered}
        assert {"library add", "library list", "library remove"} <= offered
        assert {"ask", "threads", "summary", "sources", "search", "page", "source", "stop", "why", "help"} <= offered


async def test_a_question_by_command_is_shown_and_answered_in_a_thread_on_it(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "ask", question="where is the key?")
        await house.answered()
        [shown] = house.posts(house.channel)
        assert "ada** asks: where is the key?" in texts(shown)
        assert house.thread.id == shown.id
        assert house.thread.name == "where is the key?"
        [conversation] = await place.conversations.list_conversations("local")
        assert conversation.owner == str(house.ada.id)


async def test_a_question_by_command_in_a_thread_is_answered_there(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        await house.ben.slash(house.thread, "ask", question="and why?")
        await house.answered(count=2)
        assert len(house.channel.threads) == 1
        assert house.posts(house.channel) == []


async def test_a_question_of_one_document_alone_is_put_with_it(place: DiscordPlace) -> None:
    await place.shelf.add("garden.md", "# Garden\n\nThe key of the shed is lost.", title="Garden")
    async with place.open() as house:
        choices = await house.ada.autocomplete(house.channel, "ask", "document", "gar", question="where?")
        assert [choice["name"] for choice in choices] == ["Garden (garden.md)"]
        await house.ada.slash(house.channel, "ask", question="where is the key?", document=choices[0]["value"])
        await until(lambda: place.provider.requests)
        [entry] = await place.entries.recent("local")
        assert entry.incoming.document == "garden.md"


async def test_an_unknown_document_is_one_sentence_and_nothing_is_asked(place: DiscordPlace) -> None:
    async with place.open() as house:
        result = await house.ada.slash(house.channel, "ask", question="where?", document="nowhere.md")
        assert "nowhere.md" in told(result)
        assert await place.codes() == []


async def test_journals_are_completed_by_their_titles(place: DiscordPlace) -> None:
    await place.shelf.add("salt.md", "# Salt\n\nx", title="Saltmarsh", kind=JOURNAL_KIND)
    async with place.open() as house:
        choices = await house.ada.autocomplete(house.channel, "ask", "journal", "", question="where?")
        assert [choice["name"] for choice in choices] == ["Saltmarsh (salt.md)"]


async def test_a_summary_is_asked_for_in_the_open(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, "summary", name="house.md")
        await until(lambda: house.posts(house.channel))
        assert "Summarise “House”." in texts(house.posts(house.channel)[0])
        [entry] = await place.entries.recent("local")
        assert entry.incoming.query_type == "summary"


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("sources", {}, "1 document"),
        ("search", {"words": "key"}, "under the stairs"),
        ("page", {"document": "house.md", "number": 1}, KEY),
        ("help", {}, "/threads"),
        ("new", {}, "Each question in a channel starts a conversation"),
        ("why", {}, "haven't received a message from you here"),
        ("stop", {}, "You don't have a question in progress here"),
        ("jobs", {}, "needs a conversation"),
        ("source", {"footnote": 1}, "needs a conversation"),
        ("keep", {}, "needs a conversation"),
    ],
)
async def test_what_a_command_tells_is_for_who_gave_it_alone(
    place: DiscordPlace, name: str, options: dict, words: str
) -> None:
    async with place.open() as house:
        assert words in told(await house.ada.slash(house.channel, name, **options))
        assert house.posts(house.channel) == []


async def test_a_footnotes_link_is_renewed(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        shown = await house.ben.slash(house.thread, "source", footnote=1)
        assert KEY in told(shown)
        assert link_of(shown.response.message) == ["https://footnote.example.org/s/1"]


async def test_control_commands_do_not_wait_behind_the_running_question(place: DiscordPlace) -> None:
    async with place.open() as house:
        place.provider.held = {1}
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await house.drafts("I have looked")
        assert "I'm working on it" in told(await house.ada.slash(house.thread, "why"))
        assert "running" in told(await house.ada.slash(house.thread, "jobs"))
        assert "Stopping" in told(await house.ada.slash(house.thread, "stop"))
        await until(lambda: "Stop" not in buttons(house.posts()[0]))
        assert "stopped" in told(await house.ada.slash(house.thread, "why"))


async def test_why_tells_of_a_message_that_was_left_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send(house.channel, "where is the key?")
        assert "didn't mention me" in told(await house.ada.slash(house.channel, "why"))


async def test_extracted_rows_are_told_with_their_footnotes(place: DiscordPlace) -> None:
    document = await place.shelf.add("council.md", "Ann buys paint.", title="Council")
    item = {"description": "buy paint", "owner": "Ann", "page_number": 1, "span": [0, 15]}
    await place.shelf.extract(document, ExtractType.MEETING, {"title": "Council", "action_items": [item]})
    async with place.open() as house:
        told_of = told(await house.ada.slash(house.channel, "facts", question="open action items of Ann"))
        assert "buy paint" in told_of and "“Ann buys paint.”" in told_of
        assert told_of.count("[[1]](https://") == 2  # where the row stands, and beside its quote
        completed = await house.ada.autocomplete(house.channel, "extract", "document", "coun")
        assert [choice["name"] for choice in completed] == ["Council (council.md)"]
        listed = await house.ada.slash(house.channel, "extract", document=completed[0]["value"], type="action_item")
        assert "1 row" in told(listed)
        assert house.posts(house.channel) == []


async def test_what_was_found_in_a_thread_is_summed_up_for_who_asks(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        result = await house.ben.slash(house.thread, "recap")
        assert result.response.ephemeral
        assert "where is the key?" in told(result) and "Page 1 of" in told(result)
        assert "needs a conversation" in told(await house.ben.slash(house.channel, "recap"))


async def test_settings_are_for_those_who_manage_the_server(place: DiscordPlace) -> None:
    async with place.open() as house:
        eve = house.admin()
        refused = told(await house.ben.slash(house.channel, "settings", name="language", value="German"))
        assert "admin" in refused.lower()
        await eve.slash(house.channel, "settings", name="language", value="German")
        await house.ask()
        assert "German" in str(place.provider.requests[0].system)


async def test_help_has_a_menu_of_tasks(place: DiscordPlace) -> None:
    async with place.open() as house:
        shown = await house.ada.slash(house.channel, "help")
        assert "Ask me what the documents say" in told(shown)
        [menu] = menus(shown.response.message)
        listed = told(await house.ada.select(shown.response.message, ["spoilers"], custom_id=menu.custom_id))
        assert "Books without spoilers" in listed and "/position" in listed


async def test_a_command_that_takes_long_is_acknowledged_in_time_and_answered_later(
    place: DiscordPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.open() as house:
        _make_slow(place, monkeypatch)
        result = await house.ada.slash(house.channel, "help")
        await house.env.advance_time(2)
        assert result.deferred and result.ephemeral and not result.followups
        await house.env.advance_time(60)
        assert "/threads" in told(result)


async def test_a_question_that_takes_long_to_put_is_still_put_in_the_open(
    place: DiscordPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.open() as house:
        _make_slow(place, monkeypatch)
        result = await house.ada.slash(house.channel, "ask", question="where is the key?")
        await house.env.advance_time(2)
        assert result.deferred and not result.ephemeral
        await house.env.advance_time(60)
        await house.answered()
        assert house.thread.name == "where is the key?"


async def test_a_command_that_fails_inside_is_one_sentence(
    place: DiscordPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(call: object) -> None:
        raise RuntimeError("a fault")

    place.may_fail = True
    async with place.open() as house:
        monkeypatch.setattr(place.client.parts.commands, "run", broken)
        assert "Something went wrong in Footnote" in told(await house.ada.slash(house.channel, "help"))
        monkeypatch.undo()
        assert "/threads" in told(await house.ada.slash(house.channel, "help"))


def _make_slow(place: DiscordPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command takes a minute, on Discord's clock."""
    run = place.client.parts.commands.run

    async def slowly(call: CommandCall) -> CommandResult:
        await asyncio.sleep(60)
        return await run(call)

    monkeypatch.setattr(place.client.parts.commands, "run", slowly)


async def test_a_question_that_is_refused_does_not_stay_in_the_channel(place: DiscordPlace) -> None:
    async with place.open() as house:
        limited = ChannelSettings(questions_per_minute=1)
        address = ThreadAddress(platform="discord", workspace="local", channel=str(house.channel.id), thread="")
        await place.settings.save_channel(ChannelAddress.of(address), limited)
        await house.ada.slash(house.channel, "ask", question="where is the key?")
        await house.answered()
        refused = await house.ada.slash(house.channel, "ask", question="and the shed?")
        assert "You can ask again at" in "".join(texts(item.message) for item in refused.followups)
        assert [texts(item) for item in house.posts(house.channel)] == ["**ada** asks: where is the key?"]
        assert len(house.channel.threads) == 1


async def test_a_question_that_can_not_be_stored_does_not_stay_in_the_channel(
    place: DiscordPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise StorageError("The disk is full.")

    async with place.open() as house:
        monkeypatch.setattr(place.entries, "accept", full)
        refused = await house.ada.slash(house.channel, "ask", question="where is the key?")
        assert "I couldn't save this message" in "".join(texts(item.message) for item in refused.followups)
        assert house.posts(house.channel) == []
