"""Direct messages: answered for the server that both are in, and for no other."""

import pytest

from core.errors import StorageError
from tests.integration.discordbot.house import House, buttons, texts, told, until
from tests.integration.discordbot.place import DiscordPlace


async def test_a_direct_message_is_answered_there(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send_dm("Where is the key?")
        [answer] = await house.answered(house.ada.user.dm_channel)
        assert "hangs under the stairs" in texts(answer)


async def test_a_follow_up_there_belongs_to_the_same_conversation(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ada.send_dm("Where is the key?")
        await house.answered(house.ada.user.dm_channel)
        await house.ada.send_dm("And who put it there?")
        await house.answered(house.ada.user.dm_channel, count=2)
        assert len(await place.conversations.list_conversations("local")) == 1


async def test_with_several_servers_in_common_none_is_guessed(place: DiscordPlace) -> None:
    async with place.open() as house:
        office = House(house.env, "Office")
        place.workspaces[office.guild.id] = "office"
        await house.ada.send_dm("Where is the key?")
        told = await house.shows("We share more than one server", house.ada.user.dm_channel)
        assert "/ask" in texts(told)
        assert await place.codes() == await place.codes("office") == []


async def test_servers_of_one_workspace_are_one(place: DiscordPlace) -> None:
    async with place.open() as house:
        House(house.env, "The other door")
        await house.ada.send_dm("Where is the key?")
        assert await house.answered(house.ada.user.dm_channel)


async def test_on_very_many_servers_nobody_is_looked_for(place: DiscordPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.discordbot.events.workspaces.MAX_GUILDS", 0)
    async with place.open() as house:
        await house.ada.send_dm("Where is the key?")
        assert await house.shows("I'm on too many servers", house.ada.user.dm_channel)


async def test_without_a_server_in_common_there_is_nothing_to_read(place: DiscordPlace) -> None:
    async with place.open() as house:
        stranger = house.env.create_user("stranger")
        await stranger.send_dm("Where is the key?")
        await house.shows("We don't share a server", stranger.dm_channel)
        assert await place.codes() == []


async def test_who_left_the_server_reads_nothing_any_more(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ben.send_dm("Where is the key?")
        await house.answered(house.ben.user.dm_channel)
        ben = house.ben.user
        house.guild.remove_member(house.ben)
        await house.env.settle()
        await ben.send_dm("And the other key?")
        await house.shows("We don't share a server", ben.dm_channel)
        assert await place.codes() == ["accepted"]


async def test_a_message_that_can_not_be_stored_is_not_met_with_silence(
    place: DiscordPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise StorageError("The disk is full.")

    async with place.open() as house:
        monkeypatch.setattr(place.entries, "accept", full)
        await house.ada.send_dm("Where is the key?")
        await house.shows("Send it again", house.ada.user.dm_channel)
        await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await house.shows("Send it again", house.channel)
        await house.ada.send(house.channel, "good morning")
        await house.env.settle()
        assert len(house.posts(house.channel)) == 1


async def test_a_server_reads_its_own_workspace_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        office = _office(place, house)
        await office.ben.send(office.channel, f"{office.bot} where is the key?")
        await office.shows("I have no documents to read here yet")
        assert place.provider.requests == []
        assert await place.codes("office") == ["accepted"]
        assert await place.codes() == []


async def test_sources_search_and_completions_show_nothing_of_another_server(place: DiscordPlace) -> None:
    async with place.open() as house:
        office = _office(place, house)
        assert "1 document" in told(await house.ada.slash(house.channel, "sources"))
        for command, options in (("sources", {}), ("search", {"words": "key"})):
            shown = told(await office.ada.slash(office.channel, command, **options))
            assert "I have no documents to read here yet" in shown
        assert await office.ada.autocomplete(office.channel, "page", "document", "", number=1) == []
        assert "house.md" in told(await office.ada.slash(office.channel, "page", document="house.md", number=1))


async def test_conversations_of_the_same_person_are_listed_in_their_server_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        office = _office(place, house)
        [conversation] = await place.conversations.list_conversations("local")
        assert "where is the key?" in told(await house.ada.slash(house.channel, "threads"))
        assert "where is the key?" not in told(await office.ada.slash(office.channel, "threads"))
        assert await office.ada.autocomplete(office.channel, "open", "thread", "") == []
        for command in ("open",):
            shown = told(await office.ada.slash(office.channel, command, thread=conversation.id))
            assert "No conversation" in shown
        for action in ("rename", "delete", "export"):
            shown = told(
                await office.ada.slash(office.channel, "threads", action=action, thread=conversation.id, title="Mine")
            )
            assert "No conversation" in shown


async def test_buttons_with_ids_of_another_server_find_nothing(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        named = buttons(house.posts()[0])
        office = _office(place, house)
        await office.ada.send(office.channel, f"{office.bot} where is the key?")
        await office.shows("I have no documents to read here yet")
        for label in ("Show sources", "👍", "⋯"):
            row = [{"type": 1, "components": [{"type": 2, "style": 2, "label": "X", "custom_id": named[label]}]}]
            office.env.backend.edit_message(office.thread.id, office.posts()[0].id, {"components": row})
            await office.env.settle()
            shown = told(await office.ada.click(office.posts()[0], custom_id=named[label]))
            assert "There is no message" in shown
            assert "stairs" not in shown


async def test_settings_of_one_server_are_no_others(place: DiscordPlace) -> None:
    async with place.open() as house:
        office = _office(place, house)
        await house.admin().slash(house.channel, "settings", name="auto_answer", value="on")
        await office.ben.send(office.channel, "where is the key?")
        assert await place.codes("office") == ["needs_mention"]


def _office(place: DiscordPlace, house: House) -> House:
    """Another server, with the same two people."""
    office = House(house.env, "Office")
    place.workspaces[office.guild.id] = "office"
    return office


async def test_a_server_bound_by_its_name_reads_that_workspace_and_old_questions_stay_answered_once(
    place: DiscordPlace,
) -> None:
    async with place.open() as house:
        await house.ask()
        await place.bindings.record_connected("discord", {str(house.guild.id): house.guild.name})
        await place.bindings.bind("discord", "house", "crew")
        await house.ada.send(house.channel, f"{house.bot} what is in crew?")
        await until(lambda: len(house.channel.threads) == 2)
        assert await place.codes("crew") == ["accepted"]
        async with place.asleep():
            await place.bindings.unbind("discord", "House")
        await house.env.settle()
        assert await place.codes("crew") == ["accepted"]
        assert await place.codes("local") == ["accepted"], "the question to the other workspace was asked here again"
