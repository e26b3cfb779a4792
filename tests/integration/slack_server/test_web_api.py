"""Tokens, scopes, channels, messages and files: what the Web API does and refuses, with slack_sdk."""

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_server import Channel, Person, SlackServer, Team, pings_of


async def refusal(call: object) -> str:
    with pytest.raises(SlackApiError) as refused:
        await call  # type: ignore[misc]
    return str(refused.value.response["error"])


async def test_a_token_says_who_it_is_until_it_is_revoked(
    server: SlackServer, client: AsyncWebClient, team: Team
) -> None:
    who = await client.auth_test()
    assert (who["team_id"], who["user_id"], who["bot_id"]) == (team.id, team.bot.id, team.bot.bot_id)
    assert await refusal(AsyncWebClient(base_url=server.api).auth_test()) == "not_authed"
    assert await refusal(AsyncWebClient(token="xoxb-other", base_url=server.api).auth_test()) == "invalid_auth"
    for error in ("token_revoked", "account_inactive", "invalid_auth"):
        server.revoke(team, error)
        assert await refusal(client.auth_test()) == error


async def test_a_missing_scope_is_named(client: AsyncWebClient, team: Team, general: Channel) -> None:
    assert team.install is not None
    team.install.scopes = {"users:read"}
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=general.id, text="x")
    told = refused.value.response
    assert (told["error"], told["needed"], told["provided"]) == ("missing_scope", "chat:write", "users:read")
    assert await refusal(client.conversations_info(channel=general.id)) == "missing_scope"
    await client.auth_test()


async def test_a_channel_is_refused_for_the_reason_that_there_is(
    server: SlackServer, client: AsyncWebClient, team: Team, general: Channel, alice: Person
) -> None:
    async def post(channel: str) -> str:
        return await refusal(client.chat_postMessage(channel=channel, text="x"))

    outside = server.create_channel(team, "outside", with_bot=False)
    secret = server.create_channel(team, "secret", private=True, with_bot=False)
    other_team = server.create_channel(server.create_team("other"), "elsewhere")
    await alice.archive(general)
    assert await post(outside.id) == "not_in_channel"
    assert await post(general.id) == "is_archived"
    assert [await post(one) for one in (secret.id, other_team.id, "C0")] == ["channel_not_found"] * 3
    alice.refuse_messages()
    assert await post(alice.id) == "messages_tab_disabled"
    await client.conversations_join(channel=outside.id)
    await client.chat_postMessage(channel=outside.id, text="x")
    listed = await client.conversations_list(types="public_channel,private_channel", exclude_archived=True)
    assert [one["name"] for one in listed["channels"]] == ["outside"]


async def test_only_own_messages_are_changed(client: AsyncWebClient, general: Channel, alice: Person) -> None:
    said = await alice.say(general, "hello")
    assert await refusal(client.chat_update(channel=general.id, ts=said.ts, text="x")) == "cant_update_message"
    assert await refusal(client.chat_delete(channel=general.id, ts=said.ts)) == "cant_delete_message"
    assert await refusal(client.chat_update(channel=general.id, ts="1.2", text="x")) == "message_not_found"
    own = (await client.chat_postMessage(channel=general.id, text="x"))["ts"]
    link = await client.chat_getPermalink(channel=general.id, message_ts=own)
    assert link["permalink"].endswith(f"/archives/{general.id}/p{own.replace('.', '')}")
    await client.chat_delete(channel=general.id, ts=own)
    assert await refusal(client.chat_update(channel=general.id, ts=own, text="x")) == "message_not_found"
    thread = client.chat_postMessage(channel=general.id, text="x", thread_ts="1.2")
    assert await refusal(thread) == "thread_not_found"


async def test_an_ephemeral_message_is_seen_by_its_reader_alone(
    server: SlackServer, client: AsyncWebClient, team: Team, general: Channel, alice: Person
) -> None:
    bob = server.person("bob", general)
    stranger = server.person("stranger", team=team)
    ts = (await client.chat_postEphemeral(channel=general.id, user=alice.id, text="psst"))["message_ts"]
    assert ([one.text for one in alice.sees(general)], bob.sees(general)) == (["psst"], [])
    assert (await client.conversations_history(channel=general.id))["messages"] == []
    assert await refusal(client.chat_update(channel=general.id, ts=ts, text="x")) == "message_not_found"
    to_stranger = client.chat_postEphemeral(channel=general.id, user=stranger.id, text="psst")
    assert await refusal(to_stranger) == "user_not_in_channel"


async def test_reactions_are_added_once(client: AsyncWebClient, general: Channel, alice: Person) -> None:
    said = await alice.say(general, "hello")
    await client.reactions_add(channel=general.id, timestamp=said.ts, name="eyes")
    again = client.reactions_add(channel=general.id, timestamp=said.ts, name="eyes")
    assert await refusal(again) == "already_reacted"
    told = (await client.reactions_get(channel=general.id, timestamp=said.ts))["message"]["reactions"]
    assert told == [{"name": "eyes", "users": [general.team.bot.id], "count": 1}]
    await client.reactions_remove(channel=general.id, timestamp=said.ts, name="eyes")
    none = client.reactions_remove(channel=general.id, timestamp=said.ts, name="eyes")
    assert await refusal(none) == "no_reaction"


async def test_what_would_ring_a_bell_is_told(
    server: SlackServer, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    await client.chat_postMessage(
        channel=general.id,
        text="<!channel> &lt;!here&gt;",
        blocks=[
            {"type": "section", "text": {"type": "mrkdwn", "text": f"<@{alice.id}>"}},
            {"type": "section", "text": {"type": "plain_text", "text": "<!everyone>"}},
        ],
    )
    assert pings_of(server.answers(general)[0]) == ["<!channel>", f"<@{alice.id}>"]


async def test_people_and_teams_are_looked_up(client: AsyncWebClient, team: Team, alice: Person) -> None:
    assert (await client.users_info(user=alice.id))["user"]["is_bot"] is False
    assert {one["name"] for one in (await client.users_list())["members"]} == {"footnote", "alice"}
    assert (await client.team_info())["team"] == {
        "id": team.id,
        "name": "acme",
        "domain": "acme",
        "enterprise_id": None,
    }
    opened = await client.conversations_open(users=alice.id)
    assert opened["channel"]["id"] == alice.dm.id
    assert (await client.conversations_members(channel=alice.dm.id))["members"] == sorted([alice.id, team.bot.id])


async def test_who_runs_the_team_is_told(client: AsyncWebClient, alice: Person) -> None:
    assert (await client.users_info(user=alice.id))["user"]["is_admin"] is False
    alice.become_admin()
    assert (await client.users_info(user=alice.id))["user"]["is_admin"] is True


async def test_a_file_of_a_person_is_downloaded_with_the_token(
    server: SlackServer, bot: AsyncApp, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    await alice.share(general, "two words.txt", b"good day", "have a look")
    await server.settle()
    shared, event = [parcel.event for parcel in server.parcels]
    assert (shared["type"], event["subtype"], event["text"]) == ("file_shared", "file_share", "have a look")
    told = (await client.files_info(file=event["files"][0]["id"]))["file"]
    assert (told["name"], told["size"], told["mimetype"]) == ("two words.txt", 8, "text/plain")
    async with aiohttp.ClientSession() as session:
        for token, found in ((client.token, True), ("xoxb-other", False)):
            headers = {"Authorization": f"Bearer {token}"}
            async with session.get(told["url_private_download"], headers=headers) as reply:
                assert ((await reply.read()) == b"good day", reply.status) == (found, 200)
    assert [call.carried_out for call in server.calls("download")] == [True, False]


async def test_a_canvas_is_a_file_that_is_downloaded_as_html(
    server: SlackServer, bot: AsyncApp, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    await alice.share_canvas(general, "Launch plan", "<h1>Plan</h1><p>On Friday.</p>")
    await server.settle()
    [_, event] = [parcel.event for parcel in server.parcels]
    told = (await client.files_info(file=event["files"][0]["id"]))["file"]
    assert (told["title"], told["filetype"], told["mimetype"]) == ("Launch plan", "quip", "application/vnd.slack-docs")
    headers = {"Authorization": f"Bearer {client.token}"}
    async with aiohttp.request("GET", told["url_private_download"], headers=headers) as reply:
        assert reply.content_type == "text/html"
        assert (await reply.text()).startswith('<div class="quip-canvas-content"><h1>Plan</h1>')


async def test_of_a_file_of_another_company_the_event_holds_the_id_alone(
    server: SlackServer, bot: AsyncApp, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    await alice.share_stub(general, "plan.txt", b"on Friday")
    await server.settle()
    [_, event] = [parcel.event for parcel in server.parcels]
    [stub] = event["files"]
    assert (stub["file_access"], "name" in stub) == ("check_file_info", False)
    assert (await client.files_info(file=stub["id"]))["file"]["name"] == "plan.txt"


async def test_the_bot_uploads_in_three_steps(
    server: SlackServer, client: AsyncWebClient, general: Channel, alice: Person
) -> None:
    asked = await alice.say(general, "the table, please")
    await client.files_upload_v2(
        channel=general.id, thread_ts=asked.ts, filename="t.csv", content="a,b", initial_comment="Here"
    )
    (answer,) = server.answers(general, thread=asked)
    assert ([(one.name, one.data) for one in answer.files], answer.text) == ([("t.csv", b"a,b")], "Here")
    assert server.transcript(general).splitlines()[-1] == "  footnote: Here [file t.csv]"
    assert await refusal(client.files_info(file="F0")) == "file_not_found"
