"""Documents that people add on Discord: by a command, a menu or an upload; proposals, refusals, Undo, restarts."""

from typing import Any

import discord
import pytest
from simcord.results import InteractionResult

from bot.discordbot.actions.handler import LibraryRules
from core.domain.service import InboxStatus
from core.errors import StorageError
from core.ports.documents import WebFile
from tests.integration.discordbot.house import House, buttons, texts, told, until
from tests.integration.discordbot.place import DiscordPlace
from tests.integration.platform_files import LIMITS

MOAT = b"# The moat\n\nThe moat is three metres deep.\n\n# The bridge\n\nIt is blue."
ADDED = "Added moat.md: 2 pages."
NOT_PERMITTED = "Only an admin, or somebody whom an admin permits, can"


async def add(house: House, person: Any, name: str = "moat.md", data: bytes = MOAT) -> InteractionResult:
    return await person.slash(house.channel, "library add", file=(name, data))


def posts(house: House) -> list[discord.Message]:
    return house.posts(house.channel)


async def shows(house: House, words: str) -> discord.Message:
    """Wait for a post of the channel with these words, and return it."""
    return await house.shows(words, house.channel)


async def documents(place: DiscordPlace) -> dict[str, str | None]:
    """Path -> web address of all uploads."""
    found = await place.shelf.corpus.list_documents("local")
    return {item.path: item.url for item in found if item.source_kind == "upload"}


async def test_an_admin_adds_a_file_and_takes_it_back(place: DiscordPlace) -> None:
    async with place.open() as house:
        eve = house.admin()
        await add(house, eve)
        post = await shows(house, ADDED)
        assert (
            texts(post)
            == f"{ADDED} It can be read in: the terminal, the web app. In chats, it is for all members, without guests."
        )
        assert list(buttons(post)) == ["Undo"]
        asked = await house.ben.click(post, label="Undo")
        assert NOT_PERMITTED in told(asked)
        assert list(await documents(place)) == ["moat.md"]
        await eve.click(post, label="Undo")
        post = await shows(house, "eve took moat.md back. It can't be read any more.")
        assert (buttons(post), await documents(place), len(posts(house))) == ({}, {}, 1)


@pytest.mark.parametrize("choice", ["all", "channel", "me"])
async def test_the_command_lets_choose_who_may_read_the_document(place: DiscordPlace, choice: str) -> None:
    async with place.open() as house:
        eve = house.admin()
        await eve.slash(house.channel, "library add", file=("moat.md", MOAT), readers=choice)
        readers = {"all": None, "channel": f"channel:{house.channel.id}", "me": f"person:{eve.id}"}[choice]
        told_of = "." if readers is None else f" who are also among {readers}."
        await shows(house, f"In chats, it is for all members, without guests{told_of}")
        narrowed = await place.shelf.corpus.narrowed("local")
        assert [*narrowed.values()] == ([] if readers is None else [frozenset({frozenset({readers})})])


@pytest.mark.parametrize("restarts", [False, True], ids=["same process", "after a restart"])
async def test_a_member_proposes_and_an_admin_confirms(place: DiscordPlace, restarts: bool) -> None:
    async with place.open() as house:
        eve = house.admin()
        await add(house, house.ben)
        post = await shows(house, "ben proposes moat.md. An admin can add it.")
        assert list(buttons(post)) == ["Add", "Dismiss"]
        if restarts:
            await place.restart()
        refused = await house.ben.click(post, label="Add")
        assert NOT_PERMITTED in told(refused)
        await eve.click(post, label="Add")
        await shows(house, f"{ADDED} ben proposed it, eve added it.")
        assert (list(await documents(place)), len(posts(house))) == (["moat.md"], 1)


async def test_a_proposal_is_dismissed(place: DiscordPlace) -> None:
    async with place.open() as house:
        eve = house.admin()
        await add(house, house.ben)
        await eve.click(await shows(house, "ben proposes moat.md."), label="Dismiss")
        await shows(house, "eve dismissed moat.md, which ben proposed.")
        assert await documents(place) == {}


async def test_permitted_roles_add_like_admins(place: DiscordPlace) -> None:
    place.rules = LibraryRules(roles=frozenset({"librarians"}))
    async with place.open() as house:
        role = house.guild.create_role("librarians")
        tom = house.guild.add_member(house.env.create_user("tom"), roles=[role])
        await add(house, tom)
        await shows(house, ADDED)
        removed = await tom.slash(house.channel, "library remove", name="moat.md")
        assert removed.response is not None
        await shows(house, "Removed 'moat.md' (1 document).")
        assert await documents(place) == {}


@pytest.mark.parametrize("by_role", [False, True], ids=["an admin", "a permitted role"])
async def test_whoever_loses_the_role_before_the_press_confirms_nothing(place: DiscordPlace, by_role: bool) -> None:
    place.rules = LibraryRules(roles=frozenset({"librarians"}), channels=frozenset({"library"}))
    async with place.open() as house:
        library = house.guild.create_text_channel("library")
        name = "librarians" if by_role else "managers"
        role = house.guild.create_role(name, permissions=discord.Permissions(manage_guild=not by_role))
        tom = house.guild.add_member(house.env.create_user("tom"), roles=[role])
        await tom.send(library, "", attachments=[("gate.md", b"Narrow.")])  # so that the role was seen once
        await house.shows("Added gate.md", library)
        await add(house, house.ben)
        post = await shows(house, "ben proposes moat.md. An admin can add it.")
        house.env.backend.remove_member_role(house.guild.id, tom.id, role.id)
        refused = await tom.click(post, label="Add")
        assert NOT_PERMITTED in told(refused)
        removed = await tom.slash(house.channel, "library remove", name="gate.md")
        assert NOT_PERMITTED in told(removed)
        await tom.send(library, "", attachments=[("tower.md", b"High.")])
        await house.shows("tom proposes tower.md. An admin can add it.", library)
        assert list(await documents(place)) == ["gate.md"]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("notes.pages", b"x", "I didn't add notes.pages. Pages files can't be read. Export it as PDF or Word."),
        ("long.md", b"x" * (LIMITS.file_bytes + 1), "I didn't add long.md. Larger than 19 kB. Split the file."),
    ],
)
async def test_a_refusal_says_why(place: DiscordPlace, name: str, data: bytes, sentence: str) -> None:
    async with place.open() as house:
        await add(house, house.admin(), name, data)
        post = await shows(house, "I didn't add")
        assert (texts(post), buttons(post)) == (sentence, {})
        assert await documents(place) == {}


async def test_a_link_is_read_with_its_address(place: DiscordPlace) -> None:
    site = "https://ferries.example.org/times"
    page = b"<title>Ferries</title><h1>Ferries</h1><p>At noon.</p>"
    place.pages[site] = WebFile(name="ferries.example.org/times.html", content=page)
    async with place.open() as house:
        await house.admin().slash(house.channel, "library add", url=site)
        await shows(house, "//ferries.example.org/times: 1 page.")
        assert list((await documents(place)).values()) == [site]
        listed = await house.ben.slash(house.channel, "library list")
        assert f"added by eve on {place.clock.now():%Y-%m-%d}, `ferries.example.org/times`" in told(listed)


async def test_a_private_address_is_refused(place: DiscordPlace) -> None:
    site = "http://127.0.0.1:9/secrets"
    async with place.open() as house:
        await house.admin().slash(house.channel, "library add", url=site)
        post = await shows(house, "is an address of your own network")
        assert texts(post).startswith("I didn't add http")
        assert texts(post).endswith("which is not read. Save the page, and add the file.")
        for given in ({}, {"url": site, "file": ("moat.md", MOAT)}):
            asked = await house.admin("ann").slash(house.channel, "library add", **given)
            assert told(asked) == "Add either a file or a link."
        assert await documents(place) == {}


async def test_the_files_of_a_message_are_added_by_its_menu_once(place: DiscordPlace) -> None:
    async with place.open() as house:
        eve = house.admin()
        said = await house.ben.send(house.channel, "both", attachments=[("moat.md", MOAT), ("tower.md", b"High.")])
        result = await eve.context_menu(house.channel, "Add to the library", said)
        assert told(result) == "2 files are added. My replies to the message show the progress."
        first, second = await shows(house, "Added moat.md"), await shows(house, "Added tower.md: 1 page.")
        assert [post.reference and post.reference.message_id for post in (first, second)] == [said.id, said.id]
        again = await eve.context_menu(house.channel, "Add to the library", said)
        assert told(again) == "This was added already."
        bare = await eve.context_menu(house.channel, "Add to the library", await house.ben.send(house.channel, "hm"))
        assert "This message has no files." in told(bare)
        assert (sorted(await documents(place)), len(posts(house))) == (["moat.md", "tower.md"], 2)


async def test_uploads_in_a_channel_for_them_are_added(place: DiscordPlace) -> None:
    place.rules = LibraryRules(channels=frozenset({"library"}))
    async with place.open() as house:
        library = house.guild.create_text_channel("library")
        eve = house.admin()
        await house.ben.send(house.channel, "", attachments=[("tower.md", b"High.")])
        await eve.send(library, "for you", attachments=[("moat.md", MOAT)])
        await house.shows(ADDED, library)
        await house.ben.send(library, "", attachments=[("tower.md", b"High.")])
        await house.shows("ben proposes tower.md. An admin can add it.", library)
        assert (list(await documents(place)), posts(house)) == (["moat.md"], [])
        async with place.asleep():
            await eve.send(library, "while you slept", attachments=[("gate.md", b"Narrow.")])
        await house.shows("Added gate.md: 1 page.", library)
        await place.restart()
        assert len(house.posts(library)) == 3


async def test_only_what_was_added_by_hand_is_removed(place: DiscordPlace) -> None:
    async with place.open() as house:
        eve = house.admin()
        empty = await eve.slash(house.channel, "library list")
        assert told(empty) == "No documents were added by hand here yet."
        other = await eve.slash(house.channel, "library remove", name="House")
        assert "comes from the source" in told(other)
        await add(house, eve)
        await shows(house, ADDED)
        offered = await eve.autocomplete(house.channel, "library remove", "name", "")
        assert [choice["name"] for choice in offered] == ["The moat (moat.md)"]
        refused = await house.ben.slash(house.channel, "library remove", name="moat.md")
        assert f"{NOT_PERMITTED} remove documents here." in told(refused)


async def test_a_deleted_post_is_not_made_again(place: DiscordPlace) -> None:
    async with place.open() as house:
        await add(house, house.ben)
        post = await shows(house, "ben proposes moat.md.")
        role = house.guild.create_role("moderators", permissions=discord.Permissions(manage_messages=True))
        await house.guild.add_member(house.env.create_user("mo"), roles=[role]).delete(post)
        await place.restart()
        await until(lambda: not place.client.flow._running)
        assert posts(house) == []


@pytest.mark.parametrize("crashes", [False, True], ids=["", "a crash after the post"])
async def test_a_server_that_was_joined_meanwhile_is_greeted_at_the_next_start_once(
    place: DiscordPlace, crashes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(*_: object) -> None:
        raise StorageError("The process died.")

    async with place.open() as house:
        await place.restart()  # the house is known now
        with monkeypatch.context() as patch:
            if crashes:
                patch.setattr(type(place.shelf.stores.teams), "greeted", crash)
            async with place.asleep():
                other = house.env.create_guild(name="Other")
                general = other.create_text_channel("general")
            await house.shows("Add documents with /library add.", general)
            await house.env.settle()
        await place.restart()
        async with place.asleep():
            house.env.backend.get_guild(other.id).name = "Renamed"
        await house.env.settle()
        await until(lambda: not place.client.catching_up.locked())
        assert await place.shelf.stores.teams.owed_greetings("discord") == []
        assert (len(house.posts(general)), posts(house)) == (1, [])


async def test_a_new_server_is_greeted_once(place: DiscordPlace) -> None:
    async with place.open() as house:
        other = house.env.create_guild(name="Other")
        general = other.create_text_channel("general")
        guild = place.client.get_guild(other.id)
        assert guild is not None
        await place.client.on_guild_join(guild)
        [post] = house.posts(general)
        lines = texts(post).split("\n")
        assert lines == [
            "I answer questions from 1 document here: handbook.",
            f"Try it: {house.bot} Are gardens locked?",
            "Add documents with /library add. If you aren't an admin, an admin confirms them first.",
        ]
        await place.client.on_guild_join(guild)
        await place.restart()
        assert len(house.posts(general)) == 1


async def test_a_server_that_removed_the_bot_hears_nothing_more_until_it_is_back(place: DiscordPlace) -> None:
    async with place.open() as house:
        place.provider.held = {0}
        asked = await house.ada.send(house.channel, f"{house.bot} where is the key?")
        await until(lambda: house.posts())
        guild = place.client.get_guild(house.guild.id)
        assert guild is not None
        house.env.backend.remove_guild(house.guild.id)
        await house.env.settle()
        [entry] = await place.entries.list_versions(f"discord:local:{house.channel.id}:{asked.id}")
        assert (entry.status, entry.post_ref) == (InboxStatus.CANCELLED, None)
        assert await place.conversation_store.list_conversations("local") != []
        assert await place.shelf.stores.teams.owe_greeting("discord", str(house.guild.id))


async def test_a_server_is_greeted_when_the_bot_may_write_there(place: DiscordPlace) -> None:
    async with place.open() as house:
        other = house.env.create_guild(name="Other")
        guild = place.client.get_guild(other.id)
        assert guild is not None
        await place.client.on_guild_join(guild)
        general = other.create_text_channel("general")
        await house.shows("I answer questions from 1 document here", general)
        assert posts(house) == []
