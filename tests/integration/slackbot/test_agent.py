"""Apps with the agent view: sessions, stop, titles and suggestions; beside an app with the older assistant view."""

import asyncio

import pytest

from bot.slackbot.events.manifest import build_manifest
from core.domain.answer import Answer, AnswerStatus
from tests.integration.slackbot.house import House, buttons
from tests.integration.slackbot.place import SlackPlace
from tests.slack_server import Message

CHANNEL = "slack#/types/channel_id"


def as_agent(house: House) -> None:
    assert house.team.install is not None
    house.team.install.is_agent = True


def statuses(house: House, message: Message) -> list[str]:
    return list(message.channel.sessions[message.root]["statuses"])


async def test_a_question_has_a_session_that_ends_with_its_answer(place: SlackPlace) -> None:
    async with place.open() as house:
        as_agent(house)
        answer = await house.ask()
        await house.until(lambda: statuses(house, answer)[-1] == "active", "the end of the session")
        assert set(statuses(house, answer)) == {"processing", "active"}
        session = house.channel.sessions[answer.root]
        assert (session["title"], session["initiator"]) == ("where is the key?", house.ada.id)
        assert house.channel.statuses == {}


async def test_a_direct_message_has_a_title_at_once(place: SlackPlace) -> None:
    async with place.open() as house:
        as_agent(house)
        asked = await house.ada.say(house.ada.dm, "where is the key?")
        await house.until(lambda: house.ada.dm.sessions.get(asked.ts), "the session")
        assert house.ada.dm.sessions[asked.ts]["title"] == "where is the key?"


async def test_opening_the_messages_suggests_questions_without_a_thread(place: SlackPlace) -> None:
    async with place.open() as house:
        as_agent(house)
        await house.ada.open_home("messages")
        await house.until(lambda: "" in house.ada.dm.prompts, "suggestions")
        house.ada.dm.prompts.clear()
        looks = {"entities": [{"type": CHANNEL, "value": house.channel.id}]}
        house.server.world.tell(house.team, "app_context_changed", house.ada.dm, user=house.ada.id, context=looks)
        await house.until(lambda: "" in house.ada.dm.prompts, "suggestions beside a channel")
        assert house.ada.dm.prompts[""]["prompts"]


async def test_slacks_own_stop_button_stops_the_answer(place: SlackPlace) -> None:
    async with place.open() as house:
        as_agent(house)
        place.provider.held = {1}
        await house.ada.mention(house.channel, "where is the key?")
        await house.until(lambda: house.posts() and "Stop" in buttons(house.posts()[0]), "the draft")
        [draft] = house.posts()
        stopped = {"channel": house.channel.id, "thread_ts": draft.root, "streaming_message_ts": [draft.ts]}
        house.server.world.tell(house.team, "agent_session_stopped", house.channel, user=house.ada.id, **stopped)
        await house.until(lambda: "Stop" not in buttons(draft), "the end")
        await house.until(lambda: statuses(house, draft)[-1] == "active", "the end of the session")
        assert "topped" in str(draft.blocks)


async def test_a_session_that_a_person_renames_renames_its_conversation(place: SlackPlace) -> None:
    async with place.open() as house:
        as_agent(house)
        answer = await house.ask()
        named = {"channel": house.channel.id, "thread_ts": answer.root, "title": "The key"}
        house.server.world.tell(house.team, "agent_session_title_changed", house.channel, user=house.ada.id, **named)
        await house.server.settle()
        [conversation] = await place.conversations.list_conversations("local")
        assert conversation.title == "The key"


@pytest.mark.parametrize("left", ["processing", "suspended"])
async def test_a_session_that_an_earlier_process_left_is_ended_at_the_next_start(place: SlackPlace, left: str) -> None:
    async with place.open() as house:
        as_agent(house)
        answer = await house.ask()
        await house.until(lambda: statuses(house, answer)[-1] == "active", "the end of the session")
        async with place.asleep():
            house.channel.sessions[answer.root]["statuses"].append(left)
        await house.until(lambda: statuses(house, answer)[-1] == "active", "the end of the session that was left")
        assert statuses(house, answer)[-2:] == [left, "active"]


async def test_a_session_waits_while_a_person_has_to_choose(place: SlackPlace) -> None:
    async with place.open() as house:
        as_agent(house)
        answer = await house.ask()
        entry = (await place.entries.recent("local"))[0]
        asks = Answer(status=AnswerStatus.CLARIFY, text="Which?", choices=("Red", "Blue"), message_id="m1")
        await place.platform.post(entry.address, entry.message_key, asks, look_first=True)
        assert statuses(house, answer)[-1] == "suspended"


async def test_an_older_app_and_a_new_one_run_side_by_side(place: SlackPlace) -> None:
    async with place.open() as house:
        newer = house.server.create_team("beta")
        assert newer.install is not None
        newer.install.is_agent = True
        there = house.server.create_channel(newer, "general")
        eve = house.server.person("eve", there, team=newer)
        await place.restart()
        for _ in range(2):  # the second time, the kinds are known
            await asyncio.gather(eve.mention(there, "where is the key?"), house.ada.mention(house.channel, "where?"))
        await asyncio.gather(house.answered(there, 2), house.answered(count=2))
        await house.until(lambda: [one["statuses"][-1] for one in there.sessions.values()] == ["active"] * 2, "ends")
        assert there.statuses == {}
        assert house.channel.sessions == {}
        worded = {call.params["channel_id"] for call in house.server.calls("assistant.threads.setStatus")}
        assert worded == {house.channel.id}


async def test_an_older_app_keeps_its_status_and_is_asked_once_for_sessions(place: SlackPlace) -> None:
    async with place.open() as house:
        await house.ask()
        asked = len(house.server.calls("agents.sessions.*"))
        await house.ask("where is the key, again?")
        assert len(house.server.calls("agents.sessions.*")) == asked <= 2
        assert len(house.server.calls("assistant.threads.setStatus")) >= 2


def test_a_new_app_gets_the_agent_view_and_an_older_one_its_own() -> None:
    new, old = (build_manifest(by_socket=True, url=None, is_assistant=old)["features"] for old in (False, True))
    assert ("agent_view" in new, "assistant_view" in new) == (True, False)
    assert ("agent_view" in old, "assistant_view" in old) == (False, True)
    assert len(new["agent_view"]["agent_description"]) <= 300
    assert len(new["agent_view"]["suggested_prompts"]) <= 4
