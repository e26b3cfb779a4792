"""What the Slack server breaks on purpose, a bot in its own process, and installing by OAuth."""

import asyncio
import socket
from pathlib import Path

import aiohttp
import pytest
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.oauth.installation_store import FileInstallationStore
from slack_sdk.oauth.state_store import FileOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from tests.integration.slack_server.plain_bot import Heard, build_app, over_http
from tests.slack_server import Channel, Person, SlackServer, Team, text_of

PLAIN_BOT = "tests.integration.slack_server.plain_bot"


async def said_to(server: SlackServer, place: Channel, count: int = 1) -> list[str]:
    await server.wait_for(lambda: len(server.answers(place)) >= count, what=f"{count} answers")
    return [text_of(message) for message in server.answers(place)]


async def test_too_many_requests_are_waited_out(server: SlackServer, client: AsyncWebClient, general: Channel) -> None:
    fault = server.fail_next("chat.*", status=429, retry_after_seconds=1)
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=2))
    await client.chat_postMessage(channel=general.id, text="x")
    first, second = server.calls("chat.postMessage")
    assert [call.status for call in (first, second)] == [429, 200]
    assert second.at - first.at >= 1
    assert (fault.met, len(server.posts(general))) == (1, 1)


async def test_slacks_own_tiers_hold_when_asked_for(
    server: SlackServer, client: AsyncWebClient, general: Channel
) -> None:
    server.use_tiers()
    await client.chat_postMessage(channel=general.id, text="x")
    with pytest.raises(SlackApiError, match="ratelimited") as refused:
        await client.chat_postMessage(channel=general.id, text="y")
    assert refused.value.response.headers["Retry-After"] == "1"
    server.advance(1)
    await client.chat_postMessage(channel=general.id, text="z")
    for _ in range(20):
        await client.users_list()
    with pytest.raises(SlackApiError, match="ratelimited"):
        await client.users_list()
    server.advance(60)
    await client.users_list()


async def test_a_distributed_app_reads_fifteen_messages_a_minute(
    server: SlackServer, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    server.use_tiers(distributed=True)
    asked = await alice.say(general, "hello")
    for number in range(20):
        await alice.say(general, f"reply {number}", thread=asked)
    read = await client.conversations_replies(channel=general.id, ts=asked.ts)
    assert (len(read["messages"]), read["has_more"]) == (15, True)
    with pytest.raises(SlackApiError, match="ratelimited") as refused:
        await client.conversations_replies(channel=general.id, ts=asked.ts)
    assert 59 <= int(refused.value.response.headers["Retry-After"]) <= 60


async def test_errors_by_name_and_by_status(server: SlackServer, client: AsyncWebClient, general: Channel) -> None:
    server.fail_next("chat.postMessage", "fatal_error")
    server.fail_next("chat.postMessage", status=503)
    for error in ("fatal_error", ""):
        with pytest.raises(SlackApiError) as refused:
            await client.chat_postMessage(channel=general.id, text="x")
        assert error in str(refused.value)
    assert [call.status for call in server.calls("chat.postMessage")] == [200, 503]
    assert server.posts(general) == []


async def test_a_lost_reply_is_a_message_all_the_same(
    server: SlackServer, client: AsyncWebClient, general: Channel
) -> None:
    server.lose_reply_of_next("chat.postMessage")
    client.retry_handlers.clear()
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=general.id, text="x")
    assert [(call.status, call.carried_out) for call in server.posts(general)] == [(0, True)]
    assert [one.text for one in server.answers(general)] == ["x"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_call_hangs_until_it_is_released(
    server: SlackServer, client: AsyncWebClient, general: Channel, after: bool
) -> None:
    hang = server.hang_next("chat.postMessage", after=after)
    posting = asyncio.create_task(client.chat_postMessage(channel=general.id, text="x"))
    await hang.reached.wait()
    await server.wait_for(lambda: len(server.answers(general)) == int(after))
    hang.release()
    assert (await posting)["ok"]
    assert len(server.answers(general)) == 1


async def test_only_a_call_that_says_so_hangs(server: SlackServer, client: AsyncWebClient, general: Channel) -> None:
    hang = server.hang_next("chat.postMessage", saying="done")
    assert (await client.chat_postMessage(channel=general.id, text="begun"))["ok"]
    posting = asyncio.create_task(client.chat_postMessage(channel=general.id, text="it is done"))
    await hang.reached.wait()
    assert len(server.answers(general)) == 1
    hang.release()
    assert (await posting)["ok"]


async def test_a_method_that_is_not_modelled_fails_the_test() -> None:
    with pytest.raises(AssertionError, match="does not model"):
        async with SlackServer() as server:
            install = server.create_team().install
            assert install is not None
            client = AsyncWebClient(token=install.token, base_url=server.api)
            with pytest.raises(SlackApiError, match="unknown_method"):
                await client.api_call("dnd.info")


# ---------------------------------------------------------------------- a bot in its own process


def environment(server: SlackServer, team: Team) -> dict[str, str]:
    assert team.install is not None
    app = server.app
    return {
        "PLAIN_BOT_TOKEN": team.install.token,
        "PLAIN_BOT_SECRET": app.signing_secret,
        "PLAIN_BOT_APP_TOKEN": app.token,
    }


async def test_a_bot_that_was_killed_answers_once_it_is_back(
    server: SlackServer, team: Team, general: Channel, alice: Person, tmp_path: Path
) -> None:
    bot = server.bot(PLAIN_BOT, log=tmp_path / "bot.log", environment=environment(server, team))
    bot.start()
    await server.wait_for_connection()
    await alice.mention(general, "one")
    assert await said_to(server, general) == ["You said: one"]
    await server.settle()
    await bot.kill()
    await server.wait_for(lambda: not server.socket.connected)
    await alice.mention(general, "two")
    bot.start()
    await server.wait_for_connection(2)
    server.advance(60)
    assert await said_to(server, general, 2) == ["You said: one", "You said: two"]
    await bot.kill()
    assert bot.exit_code == -9


async def test_a_bot_in_its_own_process_listens_over_http(
    server: SlackServer, team: Team, general: Channel, alice: Person, tmp_path: Path
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    more = {**environment(server, team), "PLAIN_BOT_PORT": str(port)}
    bot = server.bot(PLAIN_BOT, log=tmp_path / "bot.log", environment=more)
    bot.start()
    await server.wait_for(lambda: "listening" in bot.printed)
    await server.use_http(f"http://127.0.0.1:{port}/slack/events")
    await alice.mention(general, "hello")
    assert await said_to(server, general) == ["You said: hello"]


# ---------------------------------------------------------------------- several teams


@pytest.fixture
def oauth(server: SlackServer, tmp_path: Path) -> AsyncOAuthSettings:
    return AsyncOAuthSettings(
        client_id=server.app.client_id,
        client_secret=server.app.client_secret,
        scopes=["chat:write", "app_mentions:read"],
        installation_store=FileInstallationStore(base_dir=str(tmp_path / "installed")),
        state_store=FileOAuthStateStore(expiration_seconds=600, base_dir=str(tmp_path / "states")),
    )


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated")  # slack_sdk 3.47 with a newer aiohttp
async def test_the_app_is_installed_in_another_team_by_its_pages(
    server: SlackServer, team: Team, oauth: AsyncOAuthSettings
) -> None:
    other = server.create_team("other", installed=False)
    heard = Heard()
    app = build_app(None, server.api, server.app.signing_secret, heard, oauth_settings=oauth)
    async with over_http(app) as address:
        await server.use_http(address)
        owner = server.person("owner", team=other)
        refused = await owner.install(address.replace("events", "install"), consent=False)
        assert "access_denied" in refused.text
        assert server.calls("oauth.v2.access") == []
        visit = await owner.install(address.replace("events", "install"))
        assert visit.status == 200, visit.text
        assert other.install is not None
        assert other.install.scopes == {"chat:write", "app_mentions:read"}
        room = server.create_channel(other, "room", owner)
        await owner.mention(room, "hello")
        assert await said_to(server, room) == ["You said: hello"]
        assert [call.token for call in server.posts(room)] == [other.install.token]
        async with aiohttp.ClientSession() as browser, browser.get(visit.address) as reply:
            assert reply.status >= 400
