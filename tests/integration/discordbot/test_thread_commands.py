"""/threads and what is done with a conversation by command."""

import discord
import pytest

from tests.builders import build_incoming
from tests.integration.discordbot.house import buttons, link_of, texts, told, until
from tests.integration.discordbot.place import DiscordPlace

KEY = "under the stairs"


async def test_conversations_are_listed_with_links_to_their_threads(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        shown = told(await house.ada.slash(house.channel, "threads"))
        assert "Your conversations" in shown
        assert f"[where is the key?](https://discord.com/channels/{house.guild.id}/{house.thread.id})" in shown
        assert "No conversations yet" in told(await house.ben.slash(house.channel, "threads"))
        here = told(await house.ben.slash(house.channel, "threads", show="here"))
        assert "where is the key?" in here


async def test_a_long_list_is_paged_by_buttons_that_survive_a_restart(place: DiscordPlace) -> None:
    async with place.open() as house:
        for number in range(23):
            await _conversation(place, house, number)
        shown = await house.ada.slash(house.channel, "threads")
        assert "page 1 of 3" in told(shown)
        await place.restart()
        turned = await house.ada.click(shown.response.message, label="Next page")
        assert turned.acknowledged
        page = texts(shown.response.message)
        assert "page 2 of 3" in page
        assert "11. " in page and "20. " in page
        assert set(buttons(shown.response.message)) == {"Previous page", "Next page"}


async def test_opening_gives_the_link_and_threads_are_completed_by_title(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        [choice] = await house.ada.autocomplete(house.channel, "open", "thread", "where")
        assert choice["name"] == "where is the key?"
        opened = await house.ada.slash(house.channel, "open", thread=choice["value"])
        assert "where is the key?" in told(opened)
        assert link_of(opened.response.message) == [f"https://discord.com/channels/{house.guild.id}/{house.thread.id}"]


async def test_a_renamed_conversation_renames_its_thread(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        await house.ada.slash(house.thread, "rename", title="Keys of the house")
        await until(lambda: house.thread.name == "Keys of the house")
        [conversation] = await place.conversations.list_conversations("local")
        assert conversation.title == "Keys of the house"


async def test_only_who_began_it_or_an_admin_renames_and_deletes(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        eve = house.admin()
        assert "Only a moderator or the person who started" in told(
            await house.ben.slash(house.thread, "rename", title="Mine")
        )
        assert "Only a moderator or the person who started" in told(await house.ben.slash(house.thread, "delete"))
        await eve.slash(house.thread, "delete")
        await house.env.advance_time(1)
        assert await place.conversations.list_conversations("local") == []


@pytest.mark.parametrize("restarts", [False, True], ids=["goes on", "restarts"])
async def test_deleting_a_conversation_deletes_its_answers_there(place: DiscordPlace, restarts: bool) -> None:
    async with place.open() as house:
        await house.ask()
        await house.ada.send(house.thread, "And in the garden?")
        await house.answered(count=2)
        await house.ada.slash(house.thread, "delete")
        if restarts:
            await place.restart()
        await until(lambda: not any(KEY in texts(post) for post in house.posts(house.thread)))
        assert all(entry.incoming.text == "" for entry in await place.entries.recent("local"))
        await until(lambda: house.thread.name == "Deleted question")  # people's messages stay in it


@pytest.mark.parametrize(("wanted", "content"), [("json", b"where is the key?"), ("pdf", b"%PDF-")])
async def test_a_conversation_is_exported_as_a_file_for_who_asked(
    place: DiscordPlace, wanted: str, content: bytes
) -> None:
    async with place.open() as house:
        await house.ask()
        result = await house.ada.slash(house.thread, "export", format=wanted)
        assert result.response.ephemeral
        [file] = result.response.attachments
        assert file.filename.endswith(f".{wanted}")
        assert content in house.env.backend.cdn.get(file.url)


async def test_a_person_gets_all_that_is_stored_about_them_and_nothing_about_others(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        for person, has_asked in ((house.ada, True), (house.ben, False)):
            result = await person.slash(house.thread, "mydata")
            [file] = result.response.attachments
            content = house.env.backend.cdn.get(file.url)
            assert result.response.ephemeral
            assert (b"where is the key?" in content) is has_asked
            assert KEY.encode() not in content


async def _conversation(place: DiscordPlace, house, number: int) -> None:
    asked = build_incoming(f"Question {number}", thread=f"{number}", author=str(house.ada.id))
    await place.conversations.open(asked)


async def test_the_conversation_of_a_private_thread_is_not_there_for_the_rest_of_the_channel(
    place: DiscordPlace,
) -> None:
    async with place.open() as house:
        thread = await place.client.get_channel(house.channel.id).create_thread(
            name="wages", type=discord.ChannelType.private_thread
        )
        [wages] = house.channel.threads
        await thread.add_user(discord.Object(house.ada.id))
        await house.ada.send(wages, f"{house.bot} where is the key?")
        await house.answered(wages)
        [conversation] = await place.conversations.list_conversations("local")
        assert "where is the key?" in told(await house.ada.slash(house.channel, "threads", show="here"))
        for archived in (False, True):
            await thread.edit(archived=archived)
            listed = told(await house.ben.slash(house.channel, "threads", show="here"))
            assert "No conversations yet" in listed
            refused = await house.ben.slash(house.channel, "threads", action="export", thread=conversation.id)
            assert "No conversation" in told(refused)


async def test_an_archived_thread_is_still_listed(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        await place.client.get_channel(house.thread.id).edit(archived=True)
        assert "where is the key?" in told(await house.ben.slash(house.channel, "threads", show="here"))


async def test_a_conversation_is_linked_where_it_is_wherever_it_is_listed(place: DiscordPlace) -> None:
    async with place.open() as house:
        await house.ask()
        shown = told(await house.ada.user.slash("threads"))
        assert f"https://discord.com/channels/{house.guild.id}/{house.thread.id}" in shown
        await house.ada.send_dm("And in the garden?")
        direct = house.ada.user.dm_channel
        await house.answered(direct)
        assert f"https://discord.com/channels/@me/{direct.id}" in told(await house.ada.slash(house.channel, "threads"))
