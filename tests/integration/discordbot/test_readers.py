"""A place shows what everyone who can read it may read, by its permissions on Discord at that moment."""

from collections.abc import Mapping

import discord
from simcord.actors import MemberActor
from simcord.backend.models import Overwrite
from simcord.builders import ChannelHandle, RoleHandle
from simcord.enums import ChannelType, OverwriteType

from bot.discordbot.events.audiences import PEOPLE_KEPT
from core.domain.incoming import ThreadAddress
from core.domain.readers import MEMBERS_ONLY
from tests.builders import build_source
from tests.integration.discordbot.house import House, is_final, texts, told, until
from tests.integration.discordbot.place import DiscordPlace

KEY = "under the stairs"
CLOSED = "Nothing may be read here yet: no documents are open to everyone who can read this place."
UNKNOWN = "I can't see whether you belong"  # the server says nothing
SEEN, HIDDEN = discord.PermissionOverwrite(view_channel=True), discord.PermissionOverwrite(view_channel=False)
LONGER = PEOPLE_KEPT.total_seconds() + 1


async def test_documents_of_a_role_are_not_shown_where_others_read_too_and_the_reason_is_said(
    place: DiscordPlace,
) -> None:
    async with place.open() as house:
        await _for_role(place, house)
        admin = house.admin()
        for person, step in ((house.ada, "Ask an admin."), (admin, "`footnote sources readers`")):
            said = texts(await _asked(house, person, house.channel))
            assert CLOSED in said and step in said
            assert "couldn't find" not in said and KEY not in said
        await _set_readers(place, {"members"})
        assert KEY in texts(await _asked(house, house.ada, house.channel))


async def test_a_channel_for_the_role_shows_them_until_another_role_may_read_it(place: DiscordPlace) -> None:
    async with place.open() as house:
        gm, players = await _for_role(place, house), house.guild.create_role("players")
        channel = _closed_channel(house, {gm: SEEN})
        assert KEY in texts(await _asked(house, house.ada, channel))
        _open_for(house, channel, players.id, OverwriteType.ROLE)
        await house.env.settle()
        assert CLOSED in texts(await _asked(house, house.ada, channel))


async def test_a_person_let_into_a_channel_counts_with_their_roles(place: DiscordPlace) -> None:
    async with place.open() as house:
        gm = await _for_role(place, house)
        channel = _closed_channel(house, {gm: SEEN, house.ada: SEEN})
        assert KEY in texts(await _asked(house, house.ada, channel))
        await _take(house, house.ada, gm)
        assert CLOSED in texts(await _asked(house, house.ada, channel))


async def test_a_private_thread_shows_what_its_members_may_read(place: DiscordPlace) -> None:
    async with place.open() as house:
        await _for_role(place, house)
        thread = await _private_thread(house, house.ada)
        assert KEY in texts(await _asked_in(house, house.ada, thread))
        house.env.backend.add_thread_member(thread.id, house.ben.id)
        await house.env.advance_time(LONGER)
        assert CLOSED in texts(await _asked_in(house, house.ada, thread))


async def test_moderators_who_may_open_every_private_thread_count_as_its_readers(place: DiscordPlace) -> None:
    async with place.open() as house:
        await _for_role(place, house)
        thread = await _private_thread(house, house.ada)
        house.guild.create_role("mods", permissions=discord.Permissions(manage_threads=True))
        await house.env.settle()
        assert CLOSED in texts(await _asked_in(house, house.ada, thread))


async def test_a_private_thread_whose_members_discord_does_not_list_is_as_open_as_its_channel(
    place: DiscordPlace,
) -> None:
    async with place.open() as house:
        await _for_role(place, house)
        thread = await _private_thread(house, house.ada)
        members = f"/channels/{thread.id}/thread-members"
        house.env.inject_error("GET", members, status=403, code=50001, times=None)
        assert CLOSED in texts(await _asked_in(house, house.ada, thread))


async def test_in_a_direct_message_and_in_private_the_roles_of_the_person_count(place: DiscordPlace) -> None:
    async with place.open() as house:
        await _for_role(place, house)
        assert KEY in texts(await _asked_directly(house, house.ada))
        assert CLOSED in texts(await _asked_directly(house, house.ben))
        private = await house.ada.slash(house.channel, "ask", question="where is the key?", private=True)
        await until(lambda: KEY in told(private))
        private = await house.ben.slash(house.channel, "ask", question="where is the key?", private=True)
        await until(lambda: CLOSED in told(private))


async def test_a_channel_as_reader_counts_where_all_readers_of_a_place_can_read_it(place: DiscordPlace) -> None:
    async with place.open() as house:
        gm = await _for_role(place, house)
        channel = _closed_channel(house, {gm: SEEN})
        await _set_readers(place, {f"channel:{channel.id}"})
        assert KEY in texts(await _asked(house, house.ada, channel))
        assert KEY in texts(await _asked_directly(house, house.ada))
        assert CLOSED in texts(await _asked(house, house.ada, house.channel))
        assert CLOSED in texts(await _asked_directly(house, house.ben))


async def test_the_voice_chat_of_a_server_with_guests_shows_them_nothing_of_the_members(place: DiscordPlace) -> None:
    async with place.open() as house:
        await _set_readers(place, {"members"})
        stage = house.guild.create_voice_channel("stage")
        await house.env.settle()
        assert KEY in texts(await _asked_in(house, house.ada, stage))
        guild = house.env.bot.get_guild(house.guild.id)
        assert guild is not None
        guild.features.append("GUESTS_ENABLED")
        assert CLOSED in texts(await _asked_in(house, house.ada, stage))


async def test_without_an_answer_from_discord_nothing_is_read_and_the_reason_is_not_that_nothing_was_found(
    place: DiscordPlace,
) -> None:
    async with place.open() as house:
        await _for_role(place, house)
        house.env.inject_error("GET", "/guilds/*/members/*", status=500, times=None)
        assert UNKNOWN in texts(await _asked_directly(house, house.ada))
        private = await house.ada.slash(house.channel, "ask", question="where is the key?", private=True)
        await until(lambda: "I could not find out who can read this place. Ask again" in told(private))


async def test_a_role_lost_before_a_button_is_pressed_closes_what_is_behind_it(place: DiscordPlace) -> None:
    async with place.open() as house:
        gm = await _for_role(place, house)
        answer = await _asked_directly(house, house.ada)
        assert KEY in told(await house.ada.user.click(answer, label="Show sources"))
        await _take(house, house.ada, gm)
        assert "no longer readable here" in told(await house.ada.user.click(answer, label="Show sources"))
        assert CLOSED in texts(await _asked_directly(house, house.ada, "and who put it there?"))


async def test_a_role_lost_after_the_question_leaves_it_without_the_answer(place: DiscordPlace) -> None:
    place.provider.held = {0}
    async with place.open() as house:
        gm = await _for_role(place, house)
        await house.ada.send_dm("where is the key?")
        await until(lambda: house.posts(house.ada.user.dm_channel))
        await _take(house, house.ada, gm)
        place.provider.go.set()
        said = texts(await _newest(house, house.ada.user.dm_channel))
        assert KEY not in said and CLOSED in said


async def test_a_channel_that_opens_while_its_answer_is_written_does_not_get_it(place: DiscordPlace) -> None:
    place.provider.held = {1}
    async with place.open() as house:
        gm = await _for_role(place, house)
        channel = _closed_channel(house, {gm: SEEN})
        await house.ada.send(channel, f"{house.bot} where is the key?")
        await until(lambda: place.provider.requests)
        _open_for(house, channel, house.guild.id, OverwriteType.ROLE)
        await house.env.settle()
        place.provider.go.set()
        said = texts(await _newest(house, channel.threads[-1]))
        assert KEY not in said and CLOSED in said


async def test_where_other_documents_stay_open_the_answer_is_withheld_with_its_own_sentence(
    place: DiscordPlace,
) -> None:
    place.provider.held = {1}
    async with place.open() as house:
        gm = await _for_role(place, house)
        rules = build_source("rules")
        await place.shelf.corpus.save_source(rules)
        place.shelf.source = rules
        await place.shelf.add("rules.md", "# Rules\n\nDoors close at ten.")
        channel = _closed_channel(house, {gm: SEEN})
        await house.ada.send(channel, f"{house.bot} where is the key?")
        await until(lambda: place.provider.requests)
        _open_for(house, channel, house.guild.id, OverwriteType.ROLE)
        await house.env.settle()
        place.provider.go.set()
        await house.shows("I can't show this answer", channel.threads[-1])
        await place.restart()
        assert all(KEY not in texts(post) for post in house.posts(channel.threads[-1]))


async def test_a_follow_up_in_a_channel_that_was_opened_gets_nothing_of_before(place: DiscordPlace) -> None:
    async with place.open() as house:
        gm = await _for_role(place, house)
        channel = _closed_channel(house, {gm: SEEN})
        answer = await _asked(house, house.ada, channel)
        thread = channel.threads[-1]
        _open_for(house, channel, house.guild.id, OverwriteType.ROLE)
        await house.env.settle()
        assert "no longer readable here" in told(await house.ben.click(answer, label="Show sources"))
        asked = len(place.provider.requests)
        await house.ben.send(thread, "and who put it there?")
        assert CLOSED in texts(await _newest(house, thread, 1))
        assert len(place.provider.requests) == asked


async def test_a_conversation_is_out_of_reach_for_its_starter_who_left_the_channel(place: DiscordPlace) -> None:
    async with place.open() as house:
        gm = await _for_role(place, house)
        await _asked(house, house.ada, _closed_channel(house, {gm: SEEN}))
        [conversation] = await place.conversations.list_conversations("local")
        assert "where is the key?" in told(await house.ada.slash(house.channel, "threads"))
        await _take(house, house.ada, gm)
        assert "No conversations yet" in told(await house.ada.slash(house.channel, "threads"))
        assert await house.ada.autocomplete(house.channel, "open", "thread", "") == []
        for action in ("open", "export", "rename", "delete"):
            asked = await house.ada.slash(house.channel, "threads", action=action, thread=conversation.id, title="Mine")
            assert "No conversation" in told(asked)


async def test_the_conversation_of_a_private_thread_with_others_is_exported_in_it_alone(place: DiscordPlace) -> None:
    async with place.open() as house:
        thread = await _private_thread(house, house.ada)
        await _asked_in(house, house.ada, thread)
        [conversation] = await place.conversations.list_conversations("local")
        wanted = {"action": "export", "thread": conversation.id}
        assert (await house.ada.slash(house.channel, "threads", **wanted)).response.attachments
        house.env.backend.add_thread_member(thread.id, house.ben.id)
        await house.env.advance_time(LONGER)
        refused = await house.ada.slash(house.channel, "threads", **wanted)
        assert "I can't tell that you may read" in told(refused) and not refused.response.attachments
        [file] = (await house.ada.slash(thread, "export")).response.attachments
        assert b"where is the key?" in house.env.backend.cdn.get(file.url)


async def test_a_restarted_bot_knows_the_readers_again(place: DiscordPlace) -> None:
    async with place.open() as house:
        gm = await _for_role(place, house)
        channel = _closed_channel(house, {gm: SEEN})
        await place.restart()
        assert KEY in texts(await _asked(house, house.ada, channel))
        assert CLOSED in texts(await _asked(house, house.ada, house.channel))


async def test_a_channel_of_a_server_bound_elsewhere_reads_nothing_of_the_workspace(place: DiscordPlace) -> None:
    async with place.open() as house:
        await _set_readers(place, MEMBERS_ONLY)
        audiences = place.shelf.access.audiences["discord"]
        here = ThreadAddress(platform="discord", workspace="local", channel=str(house.channel.id), thread="")
        assert (await audiences.of_place(here, MEMBERS_ONLY)).may_read(MEMBERS_ONLY)
        place.workspaces[house.guild.id] = "office"
        assert not (await audiences.of_place(here, MEMBERS_ONLY)).parts


async def _for_role(place: DiscordPlace, house: House) -> RoleHandle:
    """Ada gets the role gm; only the role may read the documents from now on."""
    gm = house.guild.create_role("gm")
    house.env.backend.add_member_role(house.guild.id, house.ada.id, gm.id)
    await house.env.settle()
    await _set_readers(place, {f"role:{gm.id}"})
    return gm


async def _set_readers(place: DiscordPlace, readers: set[str] | frozenset[str]) -> None:
    await place.shelf.corpus.set_readers(place.shelf.source.id, frozenset(readers))


async def _take(house: House, person: MemberActor, role: RoleHandle) -> None:
    """Take a role, and wait until the bot asks again."""
    house.env.backend.remove_member_role(house.guild.id, person.id, role.id)
    await house.env.advance_time(LONGER)


def _closed_channel(
    house: House, overwrites: Mapping[RoleHandle | MemberActor, discord.PermissionOverwrite]
) -> ChannelHandle:
    """A channel that only those see, and the bot."""
    everyone = house.guild.roles["@everyone"]
    channel = house.guild.create_text_channel("closed", overwrites={everyone: HIDDEN, **overwrites})
    _open_for(house, channel, house.env.bot.user.id, OverwriteType.MEMBER)
    return channel


def _open_for(house: House, channel: ChannelHandle, target: int, kind: OverwriteType) -> None:
    seen = discord.Permissions(view_channel=True, read_message_history=True).value
    house.env.backend.set_overwrite(channel.id, Overwrite(target_id=target, type=kind, allow=seen, deny=0))


async def _private_thread(house: House, member: MemberActor) -> ChannelHandle:
    """A private thread of a member and the bot."""
    [own] = [role for role in house.guild.roles.values() if role.name == house.env.bot.user.name]
    # In this Discord, nothing says that the role is a bot's, which no moderator has.
    house.env.backend.edit_role(
        house.guild.id,
        own.id,
        {
            "permissions": discord.Permissions(
                view_channel=True, send_messages_in_threads=True, read_message_history=True
            ).value
        },
    )
    thread = house.env.backend.create_thread(house.channel.id, "quiet", member.id, type=ChannelType.PRIVATE_THREAD)
    house.env.backend.add_thread_member(thread.id, house.env.bot.user.id)
    await house.env.settle()
    return next(one for one in house.channel.threads if one.id == thread.id)


async def _asked(house: House, person: MemberActor, channel: ChannelHandle) -> discord.Message:
    """The answer in the new thread of a question."""
    await person.send(channel, f"{house.bot} where is the key?")
    return await _newest(house, channel.threads[-1])


async def _asked_in(house: House, person: MemberActor, place: ChannelHandle) -> discord.Message:
    before = len(house.posts(place))
    await person.send(place, f"{house.bot} where is the key?")
    there = place.threads[-1] if place.threads else place  # a voice channel's chat has no threads
    return await _newest(house, there, before if there is place else 0)


async def _asked_directly(house: House, person: MemberActor, text: str = "where is the key?") -> discord.Message:
    place = person.user.dm_channel
    before = len(house.posts(place))
    await person.send_dm(text)
    return await _newest(house, place, before)


async def _newest(house: House, place: ChannelHandle, before: int = 0) -> discord.Message:
    """The bot's newest post in a place that had so many, when it is finished."""
    await until(lambda: len(house.posts(place)) > before and _is_finished(house.posts(place)[-1]))
    return house.posts(place)[-1]


def _is_finished(message: discord.Message) -> bool:
    return is_final(message) or any(words in texts(message) for words in (CLOSED, UNKNOWN))
