"""chat.*: posting, updating and deleting messages."""

from typing import Any

from tests.slack_server import limits
from tests.slack_server.methods.asked import Asked, Method
from tests.slack_server.refusals import Refusal
from tests.slack_server.state import Channel, Message

JSON = dict[str, Any]


def post_message(asked: Asked) -> JSON:
    channel = asked.channel(write=True)
    text, blocks = _content(asked)
    thread = asked.thread(channel)
    broadcast = "thread_broadcast" if thread and asked.params.flag("reply_broadcast") else None
    metadata = limits.check_metadata(asked.params.mapped("metadata"))
    posted = asked.world.post(
        channel, asked.bot, text, blocks=blocks, thread_ts=thread, subtype=broadcast, metadata=metadata
    )
    if thread:
        channel.statuses.pop(thread, None)  # an answer ends the status line
    return {"channel": channel.id, "ts": posted.ts, "message": asked.world.json(posted)}


def post_ephemeral(asked: Asked) -> JSON:
    channel = asked.channel(write=True)
    reader = asked.params.text("user")
    if reader not in channel.members:
        raise Refusal("user_not_in_channel")
    text, blocks = _content(asked)
    posted = asked.world.post(channel, asked.bot, text, blocks=blocks, thread_ts=asked.thread(channel), only_to=reader)
    return {"message_ts": posted.ts}


def update(asked: Asked) -> JSON:
    channel = asked.channel(write=True)
    message = _own(asked, channel, "cant_update_message")
    stream = message.stream
    if stream is not None and not stream.ended and not asked.world.expire(message):
        raise Refusal("streaming_state_conflict")
    if asked.params.maybe("text") is None and "blocks" not in asked.params and "markdown_text" not in asked.params:
        raise Refusal("no_text")
    limits.check_update(asked.params.maybe("text"))
    limits.check_markdown(asked.params.maybe("markdown_text"))
    blocks = limits.check_blocks(asked.params.listed("blocks")) if "blocks" in asked.params else message.blocks
    if "metadata" in asked.params:
        message.metadata = limits.check_metadata(asked.params.mapped("metadata"))
    message.edits += 1
    text = asked.params.get("markdown_text") or asked.params.get("text")
    asked.world.edit(message, message.text if text is None else str(text), blocks)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": asked.world.json(message)}


def delete(asked: Asked) -> JSON:
    channel = asked.channel(write=True)
    message = _own(asked, channel, "cant_delete_message")
    asked.world.remove(message)
    return {"channel": channel.id, "ts": message.ts}


def permalink(asked: Asked) -> JSON:
    channel = asked.channel(join=False)
    message = asked.message(channel, "message_ts")
    path = f"archives/{channel.id}/p{message.ts.replace('.', '')}"
    where = f"?thread_ts={message.thread_ts}&cid={channel.id}" if message.in_thread else ""
    return {"channel": channel.id, "permalink": f"https://{asked.team.name}.slack.com/{path}{where}"}


def _content(asked: Asked) -> tuple[str, list[JSON]]:
    params = asked.params
    if params.maybe("markdown_text") and (params.get("blocks") or params.maybe("text")):
        raise Refusal("markdown_text_conflict")
    limits.check_markdown(params.maybe("markdown_text"))
    blocks = limits.check_blocks(params.listed("blocks"))
    text = limits.posted_text(params.maybe("markdown_text") or params.maybe("text"))
    if not text and not blocks and not params.get("attachments"):
        raise Refusal("no_text")
    return text, blocks


def _own(asked: Asked, channel: Channel, error: str) -> Message:
    message = asked.message(channel)
    if message.user != asked.bot.id:
        raise Refusal(error)
    return message


_WRITE = ("chat:write",)
METHODS = {
    "chat.postMessage": Method(run=post_message, scopes=_WRITE, tier=60),
    "chat.postEphemeral": Method(run=post_ephemeral, scopes=_WRITE, tier=100),
    "chat.update": Method(run=update, scopes=_WRITE, tier=50),
    "chat.delete": Method(run=delete, scopes=_WRITE, tier=50),
    "chat.getPermalink": Method(run=permalink, tier=300),
}
