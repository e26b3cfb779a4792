"""What people, payloads and names may not bring about: a private thing in the open, and a bot that is held up."""

import json
from typing import Any

import aiohttp
import pytest

from bot.slackbot.events.directory import MOST_ASKED
from core.domain.incoming import ChannelAddress
from core.domain.service import ChannelSettings
from tests.integration.slackbot.house import House, shown_of
from tests.integration.slackbot.place import KEY, SlackPlace

MINUTE = 60.0  # until Slack sends an event for the third time
PRIVATELY = "ask where is the key to the cellar? --private"


@pytest.mark.parametrize("command", ["rename My divorce", "delete"])
async def test_what_becomes_of_a_private_conversation_is_not_told_to_its_channel(
    place: SlackPlace, command: str
) -> None:
    async with place.open() as house:
        await house.ada.slash(house.channel, PRIVATELY)
        await house.told(house.ada, KEY.rstrip("."))
        await house.ada.slash(house.channel, command)
        told = await house.told(house.ada, "“")
        assert shown_of(told).startswith(("Renamed to “My divorce”", "Deleted “where is the key to the cellar?”"))
        assert house.posts() == []


async def test_in_a_channel_that_another_company_began_the_bot_acts_for_the_team_that_installed_it(
    place: SlackPlace,
) -> None:
    place.over_http = True
    async with place.open() as house:
        said = await house.ada.say(house.channel, "hello there")
        asked = {
            "type": "app_mention",
            "channel": house.channel.id,
            "user": house.ada.id,
            "text": f"<@{house.team.bot.id}> where is the key?",
            "thread_ts": said.ts,
            "ts": f"{float(said.ts) + 1:.6f}",
        }
        assert await status_of(house, event_body(house, asked, team_id="T0OTHERS")) == 200
        [answer] = await house.answered()
        assert answer.root == said.ts


async def test_who_runs_another_company_sets_nothing_in_a_shared_channel(
    place: SlackPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.open() as house:
        house.ada.become_admin()
        monkeypatch.setattr("tests.slack_server.methods.people.user_json", of_another_team(house))
        await house.ada.slash(house.channel, "settings auto_answer on")
        await house.told_once(house.ada, "Only an admin can change")
        channel = ChannelAddress(platform="slack", workspace="local", channel=house.channel.id)
        assert await place.settings.channel(channel) == ChannelSettings()


async def test_a_message_that_mentions_thousands_asks_slack_for_few_of_them(place: SlackPlace) -> None:
    async with place.open() as house:
        crowd = " ".join(f"<@U1{number:07}>" for number in range(1_000))
        await house.ada.mention(house.channel, f"where is the key? {crowd}")
        await house.until(lambda: len(house.server.calls("users.info")) >= MOST_ASKED)
        await house.server.settle()
        looked_up = [call.params["user"] for call in house.server.calls("users.info")]
        assert house.ada.id in looked_up
        assert len(looked_up) <= 2 * MOST_ASKED  # the message and the mention are two events


async def test_somebodys_own_token_that_is_revoked_is_none_of_ours(place: SlackPlace) -> None:
    place.over_http = True
    async with place.open() as house:
        revoked = {"type": "tokens_revoked", "tokens": {"oauth": [house.ada.id], "bot": []}}
        assert await status_of(house, event_body(house, revoked)) == 200
        assert [team.id for team in place.teams.all()] == [house.team.id]


async def test_a_question_that_comes_after_its_edit_is_answered_once_as_edited(place: SlackPlace) -> None:
    async with place.open() as house:
        late = [house.server.hold_events(name=name) for name in ("app_mention", "message")]
        asked = await house.ada.mention(house.channel, "where is the lock?")
        await house.until(lambda: len(house.server.parcels) == 2, "two events on their way")
        await house.ada.edit(asked, f"<@{house.team.bot.id}> where is the key?")
        await house.answered()
        for held in late:
            held.release()
        await house.server.settle()
        assert [entry.incoming.text for entry in await place.entries.recent("local")] == ["where is the key?"]


async def test_a_deletion_that_a_restart_interrupts_is_not_lost(place: SlackPlace) -> None:
    async with place.open() as house:
        asked = await house.ada.mention(house.channel, "where is the key?")
        await house.answered()
        deleting = house.server.hang_next("chat.delete")
        await house.ada.delete(asked)
        await house.until(lambda: house.server.calls("chat.delete"), "the answer's deletion")
        await place.restart()
        deleting.release()
        house.server.advance(MINUTE)
        await house.until(lambda: not house.posts(), "no answer any more")
        await house.server.settle()
        assert [one.ts for one in house.channel.messages.values() if "under the stairs" in shown_of(one)] == []


def event_body(house: House, event: dict[str, Any], **changed: Any) -> str:
    """An event as Slack sends it to the team of the house."""
    told = {
        "type": "event_callback",
        "team_id": house.team.id,
        "authorizations": [{"team_id": house.team.id, "user_id": house.team.bot.id, "is_bot": True}],
        "event": event,
    }
    return json.dumps({**told, **changed})


async def status_of(house: House, body: str) -> int:
    """Of a request with Slack's signature."""
    url, headers = house.server.http.url, house.server.http.signed(body)
    async with aiohttp.ClientSession() as session, session.post(url or "", data=body, headers=headers) as response:
        return response.status


def of_another_team(house: House) -> Any:
    """Slack tells of everybody as of people from elsewhere."""

    def user_json(user: Any, team: Any) -> dict[str, Any]:
        return {"id": user.id, "team_id": "T0OTHERS", "name": user.name, "is_admin": user.is_admin, "profile": {}}

    return user_json
