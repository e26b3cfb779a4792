"""chat.startStream, appendStream and stopStream: a message that grows, for about five minutes."""

from typing import Any

from tests.slack_server import limits
from tests.slack_server.expansion import expanded_kinds
from tests.slack_server.methods.asked import Asked, Method
from tests.slack_server.refusals import Refusal, invalid
from tests.slack_server.state import Channel, Message, Stream

JSON = dict[str, Any]

MODES = ("timeline", "plan")
MOST_BLOCKS = 50  # of the chunks together, and again of those at the end


def start(asked: Asked) -> JSON:
    channel = asked.channel(write=True)
    if asked.params.maybe("thread_ts") is None:
        raise Refusal("invalid_arguments", messages=["[ERROR] missing required field: thread_ts"])
    _check_recipient(asked, channel)
    thread, chunks = asked.thread(channel), _chunks(asked)
    mode = asked.params.maybe("task_display_mode") or "timeline"
    if mode not in MODES:
        raise Refusal("invalid_arguments", messages=["[ERROR] must be a valid enum value: task_display_mode"])
    stream = Stream(started=asked.world.clock.now(), mode=mode, chunks=chunks)
    text, blocks = _grown("", chunks), _blocks_of(chunks)
    if asked.install.is_agent:  # a stream begins a session
        channel.sessions.setdefault(thread, {"title": None, "initiator": None, "statuses": []})
        channel.sessions[thread]["statuses"].append("processing")
    posted = asked.world.post(channel, asked.bot, text, blocks=blocks, thread_ts=thread, stream=stream)
    channel.statuses.pop(thread or "", None)
    return {"channel": channel.id, "ts": posted.ts}


def append(asked: Asked) -> JSON:
    message = _streaming(asked)
    chunks = _chunks(asked)
    if not chunks:
        raise Refusal("no_text")
    _grow(message, chunks)
    asked.world.changed()
    return {"channel": message.channel.id, "ts": message.ts}


def stop(asked: Asked) -> JSON:
    message = _streaming(asked)
    chunks = _chunks(asked)
    last = limits.check_blocks(asked.params.listed("blocks"))
    metadata = limits.check_metadata(asked.params.mapped("metadata"))
    _grow(message, chunks)
    assert message.stream is not None
    message.stream.ended = True
    if (session := message.channel.sessions.get(message.root)) is not None:
        session["statuses"].append(asked.params.maybe("session_status") or "active")
    message.blocks = limits.with_ids([*_without_ids(message.blocks), *_without_ids(last)])
    message.metadata = metadata or message.metadata
    asked.world.change(message)
    return {"channel": message.channel.id, "ts": message.ts, "message": asked.world.json(message)}


def _streaming(asked: Asked) -> Message:
    channel = asked.channel(write=True)
    message = asked.message(channel)
    if message.user != asked.bot.id:
        raise Refusal("message_not_owned_by_app")
    if message.stream is None or message.stream.ended or asked.world.expire(message):
        raise Refusal("message_not_in_streaming_state")
    return message


def _chunks(asked: Asked) -> list[JSON]:
    """What was sent, as chunks: plain text is one of them."""
    text, chunks = asked.params.maybe("markdown_text"), limits.check_chunks(asked.params.listed("chunks"))
    if text and chunks:
        raise Refusal("markdown_text_conflict")
    limits.check_markdown(text)
    return [{"type": "markdown_text", "text": text}] if text else chunks


def _check_recipient(asked: Asked, channel: Channel) -> None:
    if channel.direct:
        return
    if asked.params.maybe("recipient_user_id") is None:
        raise Refusal("missing_recipient_user_id")
    if asked.params.maybe("recipient_team_id") is None:
        raise Refusal("missing_recipient_team_id")
    if asked.params["recipient_user_id"] not in asked.team.users:
        raise Refusal("user_not_found")


def _grow(message: Message, chunks: list[JSON]) -> None:
    assert message.stream is not None
    blocks = [*_without_ids(message.blocks), *_blocks_of(chunks)]
    text = _grown(message.text, chunks)
    if len(expanded_kinds([*blocks, *([{"type": "markdown", "text": text}] if text else [])])) > MOST_BLOCKS:
        raise invalid("invalid_blocks", [f"no more than {MOST_BLOCKS} items allowed [json-pointer:/chunks]"])
    message.stream.chunks += chunks
    message.text = text
    message.blocks = limits.with_ids(blocks)


def _grown(text: str, chunks: list[JSON]) -> str:
    return text + "".join(one["text"] for one in chunks if one["type"] == "markdown_text")


def _blocks_of(chunks: list[JSON]) -> list[JSON]:
    return [block for one in chunks if one["type"] == "blocks" for block in one["blocks"]]


def _without_ids(blocks: list[JSON]) -> list[JSON]:
    """So that ids given by their place do not clash."""
    return [{name: value for name, value in one.items() if name != "block_id" or not _given(value)} for one in blocks]


def _given(block_id: str) -> bool:
    return block_id.startswith("b") and block_id[1:].isdigit()


_WRITE = ("chat:write",)
METHODS = {
    "chat.startStream": Method(run=start, scopes=_WRITE, tier=20),
    "chat.appendStream": Method(run=append, scopes=_WRITE, tier=100),
    "chat.stopStream": Method(run=stop, scopes=_WRITE, tier=20),
}
