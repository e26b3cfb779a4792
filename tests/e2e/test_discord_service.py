"""The real service on a Discord on loopback: what people ask there is answered, wherever they ask it."""

import asyncio

import pytest

from tests.discord_server import DiscordServer, text_of
from tests.e2e.discord_service import DiscordService, buttons, history
from tests.e2e.platform_service import ANSWER, CLUB, CLUB_ANSWER, NEXT_ANSWER, NEXT_QUESTION, QUESTION, TEAM
from tests.e2e.serving import QUICK_END_SECONDS

pytestmark = pytest.mark.slow
SOURCE = "Kites"


def order_of(server: DiscordServer, *wanted: str) -> list[str]:
    """The calls with one of these endings of their paths, in the order they came."""
    found = [f"{call.method} {call.path.rpartition('/')[2]}" for call in server.log]
    return [call for call in found if call in wanted]


async def test_a_mention_becomes_a_thread_and_its_answer_follows_the_question(discord_service: DiscordService) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    general, ada = guild.create_text_channel("general"), server.person("ada", guild)
    await service.start()

    asked = await ada.mention(general, QUESTION)
    thread = await service.thread_on(general, asked.id)
    [answer] = await service.answered(thread)
    assert thread.name == QUESTION
    assert f"{ANSWER}.[[1]](https://notes.example/" in answer
    assert SOURCE in answer
    assert order_of(server, "POST typing", "POST threads", "POST messages") == [
        "POST typing",
        "POST threads",
        "POST messages",
    ]
    assert len(server.edits(thread)) >= 1  # the placeholder became the answer

    await ada.say(thread, NEXT_QUESTION)
    _, second = await service.answered(thread, 2)
    assert NEXT_ANSWER in second

    await ada.edit(asked, f"{server.bot_mention} {NEXT_QUESTION}")
    await service.until(lambda: NEXT_ANSWER in text_of(server.answers(thread)[0]), "the edited question's answer")
    assert len(await service.answered(thread, 2)) == 2
    await ada.delete(asked)
    await service.until(lambda: len(server.answers(thread)) == 1, "the deleted question's answer gone")


async def test_direct_and_private_questions_are_for_the_asker_alone_and_buttons_survive_a_restart(
    discord_service: DiscordService,
) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    general, ada = guild.create_text_channel("general"), server.person("ada", guild)
    await service.start()

    await ada.say(ada.dm, QUESTION)
    [direct] = await service.answered(ada.dm)
    assert ANSWER in direct

    shown = await ada.slash(general, "ask", question=QUESTION, private=True)
    assert shown.ephemeral
    [private] = await service.answered(general)
    assert ANSWER in private
    assert all(message.is_ephemeral for message in server.answers(general))

    assert await service.stop() < QUICK_END_SECONDS
    await service.start()
    [post] = server.answers(ada.dm)
    [clickable] = [message for message in history(ada.dm) if message.id == post.id]
    rated = await ada.click(clickable, custom_id=buttons(post)["👍"])
    passages = await ada.click(clickable, custom_id=buttons(post)["Show sources"])
    assert (rated.acknowledged, passages.acknowledged) == (True, True)
    [noted, cited] = [text_of(message) for message in server.answers(ada.dm) if message.is_ephemeral]
    assert "Noted as helpful" in noted
    assert f"**The red kite of Ondar {ANSWER}.**" in cited
    for said in (direct, private, cited):
        assert ANSWER in await service.follow(said)
    assert ANSWER in text_of(post)
    [conversation] = (await service.run("conversations", "list"))["conversations"][-1:]
    assert conversation["title"] == QUESTION


async def test_archived_locked_forbidden_and_deleted_places_are_dealt_with(discord_service: DiscordService) -> None:
    service, server = discord_service, discord_service.server
    world, guild = server.world, service.join("House", TEAM)
    general, ada = guild.create_text_channel("general"), server.person("ada", guild, manage_threads=True)
    await service.start()
    thread = await service.ask(ada, general)
    state = thread._channel.thread_metadata
    assert state is not None

    hang = server.hang_next("PATCH", f"/channels/{thread.id}/messages/*")
    await ada.say(thread, NEXT_QUESTION)
    await hang.reached.wait()
    world.set_thread(thread, archived=True)  # while the answer is written: no edit is let in until it is open again
    hang.release()
    await service.answered(thread, 2)
    world.set_thread(thread, archived=True)
    await ada.say(thread, QUESTION)  # reopens it
    await service.answered(thread, 3)
    assert not state.archived

    world.allow_bot(general, manage_threads=False)
    world.set_thread(thread, locked=True)
    await ada.say(thread, QUESTION)
    await service.told(ada.dm, "This thread is locked. Unlock it, or ask in the channel.")
    world.set_thread(thread, locked=False)

    world.allow_bot(general, create_public_threads=False)
    await ada.mention(general, QUESTION)
    [said] = await service.answered(general)
    assert ANSWER in said
    world.allow_bot(general, send_messages=False, send_messages_in_threads=False)
    await ada.mention(general, NEXT_QUESTION)
    assert "“Send Messages" in await service.told(ada.dm, "I am not allowed")

    async def threads() -> list[str]:
        return [one["thread"] for one in (await service.run("conversations", "list"))["conversations"]]

    before = await threads()
    world.delete(thread)
    while len(await threads()) == len(before):  # noqa: ASYNC110 - another process forgets
        await asyncio.sleep(0.1)
    assert str(thread.id) not in " ".join(await threads())


async def test_forum_posts_are_answered_where_that_is_set(discord_service: DiscordService) -> None:
    service, server = discord_service, discord_service.server
    guild = service.join("House", TEAM)
    forum, hall = guild.create_forum_channel("help"), guild.create_text_channel("hall")
    ada, eve = server.person("ada", guild), server.person("eve", guild, manage_guild=True)
    await service.start()

    quiet = await ada.post(forum, "A kite", QUESTION)
    await service.ask(ada, hall)  # posts are heard in order: once this is answered, the one before it was let be
    changed = await eve.slash(quiet, "settings", name="answer_posts", value="on")
    assert changed.acknowledged
    post = await ada.post(forum, "Another kite", QUESTION)
    [answer] = await service.answered(post)
    assert ANSWER in answer
    assert service.finals(quiet) == []
    await ada.say(post, NEXT_QUESTION)
    assert NEXT_ANSWER in (await service.answered(post, 2))[1]


async def test_two_guilds_on_two_shards_know_nothing_of_each_other(discord_service: DiscordService) -> None:
    service, server = discord_service, discord_service.server
    service.settings["FOOTNOTE_DISCORD__SHARDS"] = "2"
    house, club = service.join("House", TEAM, shard_id=0), service.join("Club", CLUB, shard_id=1)
    places = [house.create_text_channel("general"), club.create_text_channel("general")]
    ada, ben = server.person("ada", house), server.person("ben", club)
    await service.start()
    threads = [await service.ask(ada, places[0]), await service.ask(ben, places[1])]

    said = [server.transcript(thread) for thread in threads]
    assert [ANSWER in text for text in said] == [True, False]
    assert [CLUB_ANSWER in text for text in said] == [False, True]
    listed = [await service.run("conversations", "list", workspace=name) for name in (TEAM, CLUB)]
    assert [len(one["conversations"]) for one in listed] == [1, 1]
    found = await ben.slash(places[1], "threads")
    assert found.acknowledged
    assert str(threads[0].id) not in server.transcript(places[1])
    assert server.gateway.identified == 2
