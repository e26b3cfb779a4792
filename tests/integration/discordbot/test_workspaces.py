"""Several servers are several workspaces, strictly apart."""

from tests.integration.discordbot.house import House, buttons, told
from tests.integration.discordbot.place import DiscordPlace


async def test_a_server_reads_its_own_workspace_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        office = _office(place, house)
        await office.ben.send(office.channel, f"{office.bot} where is the key?")
        await office.answered()
        assert "under the stairs" not in str(place.provider.requests[-1].messages)
        assert await place.codes("office") == ["accepted"]
        assert await place.codes() == []


async def test_sources_search_and_completions_show_nothing_of_another_server(place: DiscordPlace) -> None:
    async with place.open() as house:
        office = _office(place, house)
        assert "1 document" in told(await house.ada.slash(house.channel, "sources"))
        assert "Nothing can be read here" in told(await office.ada.slash(office.channel, "sources"))
        assert "Nothing found" in told(await office.ada.slash(office.channel, "search", words="key"))
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
        await office.answered()
        for label in ("Show passages", "Helpful", "Show steps"):
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
