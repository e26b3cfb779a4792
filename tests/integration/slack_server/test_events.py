"""Events as slack_bolt hears them, in Socket Mode and over HTTP alike."""

import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from tests.integration.slack_server.plain_bot import Heard
from tests.slack_server import Channel, Person, SlackServer, Team, text_of


async def answered(server: SlackServer, place: Channel, count: int = 1) -> list[str]:
    await server.wait_for(lambda: len(server.answers(place)) >= count, what=f"{count} answers")
    await server.settle()
    return [text_of(message) for message in server.answers(place)]


async def test_a_mention_is_answered_in_its_thread(
    server: SlackServer, bot: AsyncApp, general: Channel, alice: Person
) -> None:
    asked = await alice.mention(general, "a < b & https://x.example/?a=1&b=2")
    assert await answered(server, general) == ["You said: a &lt; b &amp; <https://x.example/?a=1&amp;b=2>"]
    assert server.answers(general, thread=asked)[0].thread_ts == asked.ts == asked.thread_ts
    assert server.transcript(general).splitlines()[1].startswith("  footnote: You said:")
    assert len(server.posts(general)) == 1


@pytest.mark.parametrize("first", [True, False], ids=["mention first", "message first"])
async def test_a_mention_gives_both_events_and_the_answer_is_echoed(
    server: SlackServer, bot: AsyncApp, heard: Heard, general: Channel, alice: Person, first: bool
) -> None:
    server.world.mention_first = first
    asked = await alice.mention(general, "hello")
    await answered(server, general)
    mention, message, echo = [parcel.event for parcel in server.parcels]
    if not first:
        mention, message = message, mention
    assert (mention["type"], message["type"], echo["type"]) == ("app_mention", "message", "message")
    assert mention["ts"] == message["ts"] == asked.ts
    assert echo["bot_id"] == general.team.bot.bot_id
    assert echo["app_id"] == server.app.id
    assert len({parcel.payload["event_id"] for parcel in server.parcels}) == 3
    assert len(heard.named("app_mention")) == 1


async def test_a_direct_message_is_no_mention(server: SlackServer, bot: AsyncApp, heard: Heard, alice: Person) -> None:
    await alice.mention(alice.dm, "psst")
    assert await answered(server, alice.dm) == [f"You wrote: <@{alice.team.bot.id}> psst"]
    assert heard.named("app_mention") == []
    assert heard.named("message")[0]["event"]["channel_type"] == "im"


async def test_edits_and_deletions_say_what_was_there(
    server: SlackServer, bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    said = await alice.say(general, "hello")
    await alice.edit(said, "good day")
    await alice.delete(said)
    await server.settle()
    _, edited, deleted = [parcel.event for parcel in server.parcels]
    assert (edited["subtype"], edited["message"]["text"], edited["previous_message"]["text"]) == (
        "message_changed",
        "good day",
        "hello",
    )
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", said.ts)
    assert general.messages == {}


async def test_a_deleted_question_with_answers_stays_as_a_tombstone(
    server: SlackServer, bot: AsyncApp, general: Channel, alice: Person
) -> None:
    asked = await alice.mention(general, "hello")
    await answered(server, general)
    await alice.delete(asked)
    await server.settle()
    assert server.parcels[-1].event["message"]["subtype"] == "tombstone"
    assert len(general.thread(asked.ts)) == 2


async def test_reactions_homes_panes_and_members_are_told(
    server: SlackServer, bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    said = await alice.say(general, "hello")
    await alice.react(said, "eyes")
    await alice.open_home()
    pane = await alice.open_pane(beside=general)
    await alice.archive(general)
    await server.settle()
    assert heard.named("reaction_added")[0]["event"]["item"] == {
        "type": "message",
        "channel": general.id,
        "ts": said.ts,
    }
    assert heard.named("app_home_opened")[0]["event"]["tab"] == "home"
    started = heard.named("assistant_thread_started")[0]["event"]["assistant_thread"]
    assert (started["thread_ts"], started["context"]["channel_id"]) == (pane, general.id)
    assert heard.named("channel_archive")[0]["event"]["channel"] == general.id


async def test_the_bot_hears_nothing_where_it_is_no_member(
    server: SlackServer, bot: AsyncApp, heard: Heard, team: Team
) -> None:
    elsewhere = server.create_channel(team, "elsewhere", with_bot=False)
    bob = server.person("bob", elsewhere)
    await bob.mention(elsewhere, "anybody?")
    assert server.parcels == []
    await bob.invite(elsewhere)
    await bob.mention(elsewhere, "now?")
    assert await answered(server, elsewhere) == ["You said: now?"]
    assert heard.named("member_joined_channel")[0]["event"]["user"] == team.bot.id
    await bob.remove(elsewhere)
    await server.settle()
    assert heard.named("channel_left")[0]["event"]["channel"] == elsewhere.id


async def test_without_its_scope_an_event_does_not_come(
    server: SlackServer, bot: AsyncApp, heard: Heard, general: Channel, alice: Person, team: Team
) -> None:
    assert team.install is not None
    team.install.scopes.remove("channels:history")
    await alice.mention(general, "hello")
    await answered(server, general)
    assert heard.named("message") == []


async def test_an_uninstalled_app_is_told_so_and_its_token_is_refused(
    server: SlackServer, bot: AsyncApp, heard: Heard, general: Channel, alice: Person
) -> None:
    await alice.uninstall()
    await alice.mention(general, "still there?")
    await server.settle()
    assert [parcel.name for parcel in server.parcels] == ["tokens_revoked", "app_uninstalled"]
    assert heard.named("app_uninstalled") != [] or server.calls("auth.test")[-1].error == "account_inactive"


async def test_other_bots_come_with_their_own_bot_id(
    server: SlackServer, bot: AsyncApp, general: Channel, team: Team
) -> None:
    weather = server.other_bot("weather", general)
    await weather.say(general, "rain")
    await server.settle()
    event = server.parcels[0].event
    assert event["bot_id"] not in (None, team.bot.bot_id)
    assert event["app_id"] != server.app.id


async def test_the_history_is_read_page_by_page(
    server: SlackServer, client: AsyncWebClient, general: Channel, alice: Person, bot: AsyncApp
) -> None:
    first = await alice.say(general, "one")
    await alice.say(general, "two", thread=first)
    await alice.say(general, "three", thread=first)
    read = await client.conversations_replies(channel=general.id, ts=first.ts, limit=2)
    assert [one["text"] for one in read["messages"]] == ["one", "two"]
    assert (read["has_more"], read["messages"][0]["reply_count"]) == (True, 2)
    cursor = read["response_metadata"]["next_cursor"]
    rest = await client.conversations_replies(channel=general.id, ts=first.ts, limit=2, cursor=cursor)
    assert [one["text"] for one in rest["messages"]] == ["three"]
    history = await client.conversations_history(channel=general.id)
    assert [one["text"] for one in history["messages"]] == ["one"]
