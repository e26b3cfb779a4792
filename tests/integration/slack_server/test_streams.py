"""Streams: growing, tasks and plan, their end by themselves after five minutes, and recovery by chat.update."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.slack_server import Channel, Message, Person, SlackServer, Team

TASK = {"type": "task_update", "id": "1", "title": "Search", "status": "in_progress"}


@pytest.fixture
async def asked(alice: Person, general: Channel) -> Message:
    return await alice.mention(general, "hello")


@pytest.fixture
def where(general: Channel, asked: Message, alice: Person, team: Team) -> dict[str, Any]:
    return {
        "channel": general.id,
        "thread_ts": asked.ts,
        "recipient_user_id": alice.id,
        "recipient_team_id": team.id,
    }


async def test_a_stream_grows_with_tasks_and_ends_with_blocks(
    server: SlackServer, client: AsyncWebClient, general: Channel, where: dict[str, Any]
) -> None:
    stream = await client.chat_stream(buffer_size=1, task_display_mode="plan", **where)
    await stream.append(markdown_text="**Two** ")
    await stream.append(chunks=[{"type": "plan_update", "title": "Reading"}, TASK])
    (message,) = server.answers(general)
    assert message.stream is not None
    assert (message.text, message.stream.title, message.stream.mode) == ("**Two** ", "Reading", "plan")
    assert server.transcript(general).splitlines()[-1] == "  footnote: **Two**  [~] Search [streaming]"
    sources = [{"type": "url", "url": "https://x.example", "text": "Rules"}]
    await stream.append(chunks=[{**TASK, "status": "complete", "sources": sources}])
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "Sources"}}]
    metadata = {"event_type": "answer", "event_payload": {"id": "a1"}}
    await stream.stop(markdown_text="days", blocks=blocks, metadata=metadata)
    assert (message.text, message.stream.ended, message.metadata) == ("**Two** days", True, metadata)
    assert server.transcript(general).endswith("  footnote: **Two** days\nSources [x] Search")
    assert [task["status"] for task in message.stream.tasks] == ["complete"]
    assert (len(server.posts(general)), len(server.updates(general))) == (1, 3)


async def test_an_ended_stream_takes_no_more(client: AsyncWebClient, where: dict[str, Any], general: Channel) -> None:
    ts = (await client.chat_startStream(**where, markdown_text="all"))["ts"]
    await client.chat_stopStream(channel=general.id, ts=ts)
    for call in (client.chat_appendStream, client.chat_stopStream):
        with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
            await call(channel=general.id, ts=ts, markdown_text="more")


async def test_a_stream_ends_by_itself_and_an_update_recovers_it(
    server: SlackServer, client: AsyncWebClient, where: dict[str, Any], general: Channel
) -> None:
    stream = await client.chat_stream(buffer_size=1, **where)
    await stream.append(markdown_text="half")
    assert stream.ts is not None
    with pytest.raises(SlackApiError, match="streaming_state_conflict"):
        await client.chat_update(channel=general.id, ts=stream.ts, text="whole")
    server.advance(301)
    with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
        await stream.append(markdown_text=" more")
    with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
        await stream.stop()
    await client.chat_update(channel=general.id, ts=stream.ts, text="whole")
    assert [message.text for message in server.answers(general)] == ["whole"]


async def test_a_stream_needs_a_thread_and_a_recipient(client: AsyncWebClient, where: dict[str, Any]) -> None:
    for missing, error in (
        ("thread_ts", "invalid_arguments"),
        ("recipient_user_id", "missing_recipient_user_id"),
        ("recipient_team_id", "missing_recipient_team_id"),
    ):
        rest = {name: value for name, value in where.items() if name != missing}
        with pytest.raises(SlackApiError, match=error):
            await client.api_call("chat.startStream", json=rest)


@pytest.mark.parametrize(
    ("chunk", "problem"),
    [
        ({"type": "markdown_text", "text": "x" * 12_001}, "must be less than 12001 characters"),
        ({**TASK, "status": "done"}, "must be a valid enum value"),
        ({**TASK, "details": "x" * 257}, "must be less than 257 characters"),
        ({**TASK, "sources": [{"type": "url", "url": "https://x.example"}]}, "failed to match all allowed schemas"),
        ({"type": "blocks", "blocks": [{"type": "section"}]}, "missing required field: text"),
        ({"type": "picture"}, "unsupported type: picture"),
    ],
)
async def test_a_wrong_chunk_is_refused(
    client: AsyncWebClient, where: dict[str, Any], chunk: dict[str, object], problem: str
) -> None:
    with pytest.raises(SlackApiError) as refused:
        await client.api_call("chat.startStream", json={**where, "chunks": [chunk]})
    assert refused.value.response["error"] == "invalid_chunks"
    assert problem in refused.value.response["response_metadata"]["messages"][0]


async def test_the_status_line_goes_with_the_answer(
    server: SlackServer, client: AsyncWebClient, where: dict[str, Any], general: Channel, asked: Message
) -> None:
    await client.assistant_threads_setStatus(
        channel_id=general.id, thread_ts=asked.ts, status="is reading", loading_messages=["page 1", "page 2"]
    )
    assert server.status(general, asked) == "is reading"
    await client.chat_startStream(**where, markdown_text="so")
    assert server.status(general, asked) is None


async def test_the_status_line_fades_after_two_minutes(
    server: SlackServer, client: AsyncWebClient, general: Channel, asked: Message
) -> None:
    await client.assistant_threads_setStatus(channel_id=general.id, thread_ts=asked.ts, status="is reading")
    server.advance(119)
    assert server.status(general, asked) == "is reading"
    server.advance(1)
    assert server.status(general, asked) is None


async def test_a_pane_has_a_title_and_up_to_four_prompts(
    server: SlackServer, client: AsyncWebClient, alice: Person
) -> None:
    pane, place = await alice.open_pane(), alice.dm
    prompts = [{"title": f"Ask {n}", "message": f"What is {n}?"} for n in range(5)]
    await client.assistant_threads_setTitle(channel_id=place.id, thread_ts=pane, title="Rules")
    await client.assistant_threads_setSuggestedPrompts(channel_id=place.id, thread_ts=pane, prompts=prompts[:4])
    await alice.say(place, "how long is a day?", thread=pane)
    read = await client.conversations_replies(channel=place.id, ts=pane)
    assert [one.get("subtype") for one in read["messages"]] == ["assistant_app_thread", None]
    assert server.answers(place) == []
    assert server.transcript(place) == "  alice: how long is a day?"
    assert (place.titles[pane], len(place.prompts[pane]["prompts"])) == ("Rules", 4)
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        await client.assistant_threads_setSuggestedPrompts(channel_id=place.id, thread_ts=pane, prompts=prompts)
    with pytest.raises(SlackApiError, match="invalid_thread_ts"):
        await client.assistant_threads_setTitle(channel_id=place.id, thread_ts="1.2", title="Rules")
