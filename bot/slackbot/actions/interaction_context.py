"""The person and place of an interaction, read from its payload. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.slackbot.events.teams import Team
from bot.slackbot.events.translate import CHANNEL_ITSELF
from bot.slackbot.rendering.blocks import View


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionContext:
    """Person and place of a command, a button, a form, a shortcut or a message."""

    team: Team
    person: str
    channel: str = ""  # "" in the home tab
    thread: str = CHANNEL_ITSELF  # `ts` of the thread's first message
    message_ts: str = ""  # the message with the button or shortcut
    is_ephemeral: bool = False  # only this person sees the message
    trigger_id: str = ""  # opens one modal, within three seconds
    response_url: str = ""
    view_id: str = ""  # the modal with the button; "" in messages and in the home tab

    @property
    def is_direct(self) -> bool:
        return self.channel.startswith("D")


def to_context(body: Mapping[str, Any], team: Team) -> InteractionContext:
    """Return the context of any interaction payload. A view's metadata hold its origin."""
    container, message, view = body.get("container") or {}, body.get("message") or {}, body.get("view") or {}
    told = _decode(view.get("private_metadata") or "")
    channel = body.get("channel_id") or (body.get("channel") or {}).get("id") or container.get("channel_id")
    user = body.get("user_id") or (body.get("user") or {}).get("id")
    thread = container.get("thread_ts") or message.get("thread_ts") or told.get("thread")
    return InteractionContext(
        team=team,
        person=str(user or ""),
        channel=str(channel or told.get("channel") or ""),
        thread=str(thread or CHANNEL_ITSELF),
        message_ts=str(container.get("message_ts") or body.get("message_ts") or message.get("ts") or ""),
        is_ephemeral=bool(container.get("is_ephemeral")),
        trigger_id=str(body.get("trigger_id") or ""),
        response_url=str(body.get("response_url") or told.get("response_url") or ""),
        view_id=str(view.get("id") or "") if view.get("type") == "modal" else "",
    )


def encode_origin(ctx: InteractionContext, **more: str) -> str:
    """Return the `private_metadata` of a view: its origin."""
    told = {"channel": ctx.channel, "thread": ctx.thread, "response_url": ctx.response_url, **more}
    return json.dumps({name: value for name, value in told.items() if value})


def decode_origin(view: View) -> Mapping[str, str]:
    """Return the values that `encode_origin` wrote into a view."""
    return _decode(str(view.get("private_metadata") or ""))


def _decode(text: str) -> Mapping[str, str]:
    """Return nothing for metadata of another app or an earlier version."""
    try:
        told = json.loads(text) if text else {}
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in told.items()} if isinstance(told, dict) else {}
