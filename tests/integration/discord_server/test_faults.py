"""What the Discord server breaks on purpose, and how discord.py bears it, with a small plain bot in its own process."""

from pathlib import Path

import aiohttp
import discord
import pytest
from simcord.builders import ChannelHandle

from tests.discord_server import TOKEN, BotProcess, DiscordServer, Person, text_of
from tests.integration.discord_server.conftest import PLAIN_BOT

POSTS = "/channels/*/messages"


async def ready(server: DiscordServer) -> None:
    """Once it is ready the bot reads the channels; discord.py does not bear a drop before that."""
    await server.wait_for(lambda: server.calls("GET", POSTS), what="a bot that is ready")


async def answered(server: DiscordServer, place: ChannelHandle, count: int = 1) -> list[str]:
    await server.wait_for(lambda: len(server.answers(place)) >= count, what=f"{count} answers")
    return [text_of(message) for message in server.answers(place)]


async def test_two_refusals_for_too_many_requests_are_waited_out(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    fault = server.fail_next("POST", POSTS, 429, times=2, retry_after_seconds=0.2)
    await alice.mention(general, "hello")
    assert await answered(server, general) == ["You said: hello"]
    first, second, third = server.calls("POST", POSTS)
    assert [call.status for call in (first, second, third)] == [429, 429, 200]
    assert third.at - first.at >= 0.4
    assert (fault.met, len(server.posts(general))) == (2, 1)


async def test_errors_of_discord_are_retried(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    server.fail_next("POST", POSTS, 500)
    await alice.mention(general, "hello")
    assert await answered(server, general) == ["You said: hello"]
    assert [call.status for call in server.calls("POST", POSTS)] == [500, 200]


async def test_a_lasting_limit_is_told_in_the_headers_so_that_no_request_is_refused(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    server.limit("POST", f"/channels/{general.id}/messages", requests=2, seconds=0.5)
    for number in range(4):
        await alice.mention(general, str(number))
    assert len(await answered(server, general, 4)) == 4
    calls = server.calls("POST", f"/channels/{general.id}/messages")
    assert calls[-1].at - calls[0].at >= 0.5
    assert {call.status for call in calls} == {200}


async def test_a_refusal_says_when_to_come_again(server: DiscordServer, general: ChannelHandle) -> None:
    server.limit("POST", POSTS, requests=1, seconds=60)
    url = f"{server.address}/api/v10/channels/{general.id}/messages"
    async with aiohttp.ClientSession(headers={"Authorization": f"Bot {TOKEN}"}) as session:
        async with session.post(url, json={"content": "one"}) as made:
            assert (made.status, made.headers["X-RateLimit-Remaining"]) == (200, "0")
        async with session.post(url, json={"content": "two"}) as refused:
            told = await refused.json()
    assert (refused.status, told["global"], refused.headers["X-RateLimit-Scope"]) == (429, False, "user")
    assert 50 < told["retry_after"] <= 60
    assert float(refused.headers["Retry-After"]) == pytest.approx(told["retry_after"], abs=0.01)
    assert len(server.answers(general)) == 1


async def test_a_post_whose_reply_is_lost_is_not_made_twice(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    server.lose_reply_of_next("POST", POSTS, status=504)
    await alice.mention(general, "hello edit")
    await server.wait_for(lambda: server.edits(general))
    assert await answered(server, general) == ["Edited: hello edit"]
    assert (len(server.posts(general)), server.api.deduplicated) == (2, 1)


async def test_a_broken_connection_loses_the_reply_alone(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    server.lose_reply_of_next("POST", POSTS)
    await alice.mention(general, "hello")
    await server.wait_for(lambda: "ServerDisconnectedError" in bot.printed or "ClientOSError" in bot.printed)
    assert await answered(server, general) == ["You said: hello"]


async def request(server: DiscordServer, method: str, path: str, **body: object) -> dict[str, object]:
    """As a bot without a library."""
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bot {TOKEN}"}) as session,
        session.request(method, f"{server.address}/api/v10{path}", json=body) as reply,
    ):
        assert reply.headers["Content-Type"] == "application/json"
        found: dict[str, object] = await reply.json()
        return found


async def test_a_nonce_counts_for_some_minutes_and_only_where_it_is_enforced(
    server: DiscordServer, general: ChannelHandle
) -> None:
    async def post(content: str, **rest: object) -> dict[str, object]:
        return await request(server, "POST", f"/channels/{general.id}/messages", content=content, **rest)

    first = await post("one", nonce="n1", enforce_nonce=True)
    again = await post("two", nonce="n1", enforce_nonce=True)
    assert (again["id"], again["content"]) == (first["id"], "one")
    assert (await post("two", nonce="n1"))["id"] != first["id"]
    server.world.advance(6 * 60)
    assert (await post("three", nonce="n1", enforce_nonce=True))["id"] != first["id"]
    assert (await post("four", nonce="n" * 26))["code"] == 50035


async def test_a_message_missed_while_the_gateway_was_away_comes_with_the_resume(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    await ready(server)
    async with server.gateway_down():
        await alice.mention(general, "are you there")
        assert server.answers(general) == []
    assert await answered(server, general) == ["You said: are you there"]
    await server.wait_for(lambda: "resumed" in bot.printed)
    assert (server.gateway.identified, server.gateway.resumed) == (1, 1)


@pytest.mark.slow
async def test_a_session_that_is_forgotten_is_begun_anew_without_what_was_missed(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person
) -> None:
    elsewhere = server.world.create_guild("quiet").create_forum_channel("posts")
    assert elsewhere.guild is not None
    carol = server.person("carol", elsewhere.guild)
    await ready(server)
    async with server.gateway_down(resume=False):
        missed = await carol.post(elsewhere, "lost", f"{server.bot_mention} lost")
    await server.wait_for_login(2)
    await alice.mention(general, "and now")
    assert await answered(server, general) == ["You said: and now"]
    assert (server.gateway.resumed, server.answers(missed)) == (0, [])


async def test_the_gateway_answers_heartbeats(general: ChannelHandle, server: DiscordServer, bot: BotProcess) -> None:
    await server.wait_for(lambda: server.gateway.heartbeats >= 1)
    assert len(server.gateway.connected) == 1


async def test_an_intent_that_is_not_approved_ends_the_bot(server: DiscordServer, stopped_bot: BotProcess) -> None:
    server.world.approved_intents.message_content = False
    stopped_bot.start()
    await server.wait_for(lambda: stopped_bot.exit_code is not None)
    assert "PrivilegedIntentsRequired" in stopped_bot.printed


async def test_a_wrong_token_is_refused(server: DiscordServer, tmp_path: Path) -> None:
    bot = server.bot(PLAIN_BOT, log=tmp_path / "bot.log", environment={"PLAIN_BOT_TOKEN": "no"})
    bot.start()
    await server.wait_for(lambda: bot.exit_code is not None)
    assert "LoginFailure" in bot.printed


@pytest.mark.parametrize("after", [False, True], ids=["before the post", "after the post"])
async def test_a_bot_killed_in_the_middle_of_an_answer_answers_once(
    server: DiscordServer, bot: BotProcess, general: ChannelHandle, alice: Person, after: bool
) -> None:
    hang = server.hang_next("POST", POSTS, after=after)
    await alice.mention(general, "hello")
    await server.wait_for(hang.reached.is_set)
    await bot.kill()
    hang.release()
    await server.wait_for(lambda: server.calls("POST", POSTS)[0].status is not None)
    assert len(server.answers(general)) == int(after)
    bot.start()
    await server.wait_for_login(2)
    await alice.mention(general, "edit")
    await server.wait_for(lambda: server.edits(general))
    await server.wait_for(lambda: len(server.posts(general)) >= (4 if after else 3))
    assert sorted(text_of(one) for one in server.answers(general)) == ["Edited: edit", "You said: hello"]


@pytest.mark.slow
async def test_each_shard_hears_its_own_guilds(tmp_path: Path) -> None:
    async with DiscordServer(shards=2) as server:
        channels = [server.world.create_guild(shard_id=shard).create_text_channel("general") for shard in (0, 1)]
        bot = server.bot(
            PLAIN_BOT,
            log=tmp_path / "bot.log",
            environment={"PLAIN_BOT_TOKEN": TOKEN, "PLAIN_BOT_SHARDED": "1"},
        )
        bot.start()
        await server.wait_for_login(2)
        for channel in channels:
            assert channel.guild is not None
            await server.person("alice", channel.guild).mention(channel, "hello")
        assert [await answered(server, channel) for channel in channels] == [["You said: hello"]] * 2
        assert [len(server.posts(channel)) for channel in channels] == [1, 1]


async def test_a_call_that_is_not_modelled_fails_the_test_that_made_it() -> None:
    with pytest.raises(AssertionError, match="not model"):
        async with DiscordServer() as server:
            await request(server, "GET", "/channels/1/soundboard")
    assert len(server.gaps) == 1


async def test_a_link_preview_is_an_update_but_no_edit(
    server: DiscordServer, general: ChannelHandle, alice: Person
) -> None:
    seen: list[tuple[str, object]] = []
    server.world.backend.subscribers.append(lambda event, payload: seen.append((event, payload)))
    said = await alice.say(general, "see https://example.com")
    server.world.unfurl(said, "Example", "https://example.com")
    event, payload = seen[-1]
    assert event == "MESSAGE_UPDATE"
    assert isinstance(payload, dict)
    assert (payload["content"], payload["edited_timestamp"]) == (said.content, None)
    assert isinstance(said, discord.Message)
