"""The Discord server itself, tried with a small plain bot in its own process: events, actions, threads."""

from collections.abc import AsyncIterator

import discord
import pytest
import pytest_asyncio
from simcord.backend import serializers
from simcord.backend.errors import BackendError
from simcord.builders import ChannelHandle, GuildHandle

from tests.discord_server import TOKEN, BotProcess, DiscordServer, Person, text_of
from tests.discord_server.visibility import to_shown
from tests.integration.discord_server.conftest import ACK_SECONDS, PLAIN_BOT

# One server and one bot for all of these tests, each with a guild of its own.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running_bot(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[DiscordServer, BotProcess]]:
    async with DiscordServer(ack_seconds=ACK_SECONDS) as server:
        log = tmp_path_factory.mktemp("bot") / "bot.log"
        bot = server.bot(PLAIN_BOT, log=log, environment={"PLAIN_BOT_TOKEN": TOKEN})
        bot.start()
        await server.wait_for_login()
        yield server, bot


@pytest.fixture
def server(running_bot: tuple[DiscordServer, BotProcess]) -> DiscordServer:
    server, _ = running_bot
    server.log.clear()
    return server


@pytest.fixture
def bot(running_bot: tuple[DiscordServer, BotProcess]) -> BotProcess:
    return running_bot[1]


async def answered(server: DiscordServer, place: ChannelHandle, count: int = 1) -> list[str]:
    """The texts of the bot's messages, once there are so many."""
    await server.wait_for(lambda: len(server.answers(place)) >= count, what=f"{count} answers")
    return [text_of(message) for message in server.answers(place)]


async def test_a_mention_is_answered(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "hello")
    assert await answered(server, general) == ["You said: hello"]
    assert server.transcript(general).splitlines()[-1] == "TestBot: You said: hello"
    assert len(server.posts(general)) == 1


async def test_an_edit_by_the_bot_changes_its_message(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "edit this")
    await server.wait_for(lambda: server.edits(general))
    assert await answered(server, general) == ["Edited: edit this"]


async def test_a_reaction_by_the_bot_is_seen(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "react")
    await server.wait_for(lambda: "[✅ 1]" in server.transcript(general))
    assert server.calls("PUT", "*/reactions/*/@me")[0].status == 204


async def test_a_text_too_long_for_discord_is_refused(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "twice " + "x" * 1500)
    await server.wait_for(lambda: any(call.status == 400 for call in server.log))
    assert server.calls("POST", "/channels/*/messages")[0].reply["code"] == 50035


async def test_a_message_of_components_alone_is_read_as_text(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "layout")
    assert await answered(server, general) == ["All components\n-# small print"]


async def test_an_update_of_a_message_says_who_its_author_is(
    server: DiscordServer, guild: GuildHandle, general: ChannelHandle, alice: Person
) -> None:
    said = await alice.say(general, "hello")
    backend = server.world.backend
    payload = serializers.message_payload(backend, server.world.stored(said))
    shown = to_shown(backend, discord.Intents.all(), "MESSAGE_UPDATE", payload)
    assert shown is not None
    assert shown["member"]["roles"] == []
    assert shown["content"] == "hello"
    assert to_shown(backend, discord.Intents.none(), "MESSAGE_UPDATE", payload) is None


async def test_a_direct_message_is_answered(server: DiscordServer, bot: BotProcess, alice: Person) -> None:
    await alice.say(alice.dm, "psst")
    assert await answered(server, alice.dm) == ["You said: psst"]


async def test_a_user_may_take_no_direct_messages(server: DiscordServer, bot: BotProcess, alice: Person) -> None:
    alice.close_dms()
    await alice.say(alice.dm, "psst")
    posts = f"/channels/{alice.dm.id}/messages"
    await server.wait_for(lambda: any(call.status for call in server.calls("POST", posts)))
    assert [(call.status, call.reply["code"]) for call in server.calls("POST", posts)] == [(403, 50007)]


async def test_people_reply_react_edit_and_delete(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    question = await alice.mention(general, "hello")
    await answered(server, general)
    answer = general.last_message
    assert answer is not None
    await alice.reply(answer, f"{server.bot_mention} thanks")
    assert (await answered(server, general, 2))[1] == "You said: thanks"
    await alice.react(answer, "👍")
    await alice.edit(question, "never mind")
    assert server.world.stored(question).content == "never mind"
    await alice.delete(question)
    with pytest.raises(BackendError, match="10008"):
        server.world.stored(question)
    assert "[👍 1]" in server.transcript(general)


async def test_files_travel_both_ways(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "file", [("two words.txt", b"good day")])
    texts = await answered(server, general, 2)
    assert texts == ["two words.txt says good day", "You said: file"]
    assert "[file code.py]" in server.transcript(general)


async def test_a_file_too_large_is_refused(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    server.api.largest_upload = 100
    await alice.mention(general, "file")
    await server.wait_for(lambda: any(call.status == 413 for call in server.log))
    assert server.answers(general) == []


async def test_a_thread_opens_on_a_message_and_the_message_says_so(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    question = await alice.mention(general, "thread please")
    await server.wait_for(lambda: general.threads)
    (thread,) = general.threads
    assert await answered(server, thread) == ["You said: thread please"]
    assert thread.id == question.id
    assert discord.MessageFlags._from_value(server.world.stored(question).flags).has_thread


async def test_a_thread_name_over_a_hundred_characters_is_refused(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "thread long")
    await server.wait_for(lambda: any(call.status == 400 for call in server.calls("POST", "*/threads")))
    assert server.calls("POST", "*/threads")[0].reply["code"] == 50035
    assert general.threads == []


async def test_a_post_reopens_an_archived_thread(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await alice.mention(general, "thread")
    await server.wait_for(lambda: general.threads)
    (thread,) = general.threads
    await answered(server, thread)
    server.world.advance(25 * 3600)
    state = thread._channel.thread_metadata
    assert state is not None
    assert state.archived
    await alice.mention(thread, "still here")
    assert (await answered(server, thread, 2))[1] == "You said: still here"
    assert not state.archived


async def test_the_bot_reopens_an_archived_thread_by_posting(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    thread = await alice.open_thread(await alice.say(general, "look"), "talk")
    hang = server.hang_next("POST", f"/channels/{thread.id}/messages")
    await alice.mention(thread, "hello")
    await server.wait_for(hang.reached.is_set)
    server.world.set_thread(thread, archived=True)
    hang.release()
    await answered(server, thread)
    assert thread._channel.thread_metadata is not None
    assert not thread._channel.thread_metadata.archived


@pytest.mark.parametrize(
    ("archived", "code"), [(True, 50083), (False, 160005)], ids=["archived and locked", "locked alone"]
)
async def test_a_locked_thread_refuses_a_bot_that_is_no_moderator(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person, archived: bool, code: int
) -> None:
    server.world.allow_bot(general, manage_threads=False)
    thread = await alice.open_thread(await alice.say(general, "look"), "talk")
    hang = server.hang_next("POST", f"/channels/{thread.id}/messages")
    await alice.mention(thread, "hello")
    await server.wait_for(hang.reached.is_set)
    server.world.set_thread(thread, archived=archived, locked=True)
    hang.release()
    await server.wait_for(lambda: server.calls("POST", f"/channels/{thread.id}/messages")[0].status)
    (refused,) = server.calls("POST", f"/channels/{thread.id}/messages")
    assert (refused.status, refused.reply["code"]) == (403, code)
    assert server.answers(thread) == []


async def test_a_missing_permission_is_a_refusal(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    server.world.allow_bot(general, send_messages=False)
    await alice.mention(general, "hello")
    await server.wait_for(lambda: any(call.status == 403 for call in server.log))
    assert [call.reply["code"] for call in server.log if call.status == 403] == [50013]


async def test_a_channel_hidden_from_the_bot_is_not_heard(
    server: DiscordServer, bot: BotProcess, guild: GuildHandle, general: ChannelHandle, alice: Person
) -> None:
    hidden = guild.create_text_channel("hidden")
    server.world.allow_bot(hidden, view_channel=False)
    await alice.mention(hidden, "secret")
    await alice.mention(general, "open")
    assert await answered(server, general) == ["You said: open"]
    assert server.calls("POST", f"/channels/{hidden.id}/*") == []


async def test_a_forum_post_by_a_user_is_answered_in_its_thread(
    server: DiscordServer, bot: BotProcess, guild: GuildHandle, alice: Person
) -> None:
    forum = guild.create_forum_channel("help")
    thread = await alice.post(forum, "How?", f"{server.bot_mention} like this?")
    assert await answered(server, thread) == ["You said: like this?"]
    assert server.transcript(thread).startswith("alice: ")
    assert server.world.backend.get_message(thread.id, thread.id).author_id == alice.id


async def test_two_guilds_stay_apart(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    other = server.world.create_guild("other")
    elsewhere = other.create_text_channel("general")
    bob = server.person("bob", other)
    await bob.mention(elsewhere, "hello")
    assert await answered(server, elsewhere) == ["You said: hello"]
    assert server.answers(general) == []
    with pytest.raises(BackendError, match="50001"):
        await bob.say(general, "let me in")
