"""A channel as text: who said what, with what blocks say, for assertions and failures."""

import re
from collections.abc import Iterator
from typing import Any

from tests.slack_server.state import PANE, Channel, Message

JSON = dict[str, Any]

_PING = re.compile(r"<(?:!(?:channel|here|everyone|subteam\^\w+)|@\w+)[^>]*>")
_TASK_SIGNS = {"pending": " ", "in_progress": "~", "complete": "x", "error": "!"}


def transcript_of(channel: Channel, viewer: str | None, root: str | None) -> str:
    """A line a message, oldest first; replies are indented. Ephemeral ones for their reader, or for nobody given."""
    shown = [one for one in channel.messages.values() if one.only_to is None or viewer in (None, one.only_to)]
    shown = [one for one in shown if one.subtype != PANE]
    shown = [one for one in shown if root is None or one.root == root]
    ordered = sorted(shown, key=lambda one: (one.root, one.ts))
    return "\n".join(f"{'  ' * one.in_thread}{_name(one)}: {' '.join(_shown(one))}" for one in ordered)


def text_of(message: Message) -> str:
    """All that is read in a message: its blocks, or its text where it has none, or what was streamed and the blocks.

    What a person wrote is given as Slack stores it.
    """
    if message.bot_id is None:
        return message.text
    streamed = [message.text] if message.stream is not None and message.edits == 0 else []
    read = streamed + [text for block in message.blocks for text in texts(block)]
    return "\n".join(read) if read else message.text


def pings_of(message: Message) -> list[str]:
    """What would ring somebody's bell: mentions in the text and in blocks, code and plain text apart."""
    return _PING.findall("\n".join([message.text, *(one for block in message.blocks for one in _markup(block))]))


def texts(value: Any) -> Iterator[str]:
    """Every text in a block, in order; not those of buttons and menus."""
    if isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, dict) and value.get("type") not in INTERACTIVE:
        if isinstance(value.get("text"), str):
            yield value["text"]
        for name, one in value.items():
            if name in ("title", "url", "status") and isinstance(one, str):
                yield from [one] if name == "title" else []
            elif isinstance(one, dict | list):
                yield from texts(one)


def elements(value: Any) -> Iterator[JSON]:
    """Every interactive element in blocks, in order, each with the `block_id` it is in."""
    for block in value:
        yield from ({**one, "block_id": block.get("block_id", "")} for one in _inner(block))


INTERACTIVE = {
    "button", "overflow", "static_select", "external_select", "multi_static_select", "multi_external_select",
    "users_select", "channels_select", "conversations_select", "checkboxes", "radio_buttons", "feedback_buttons",
    "icon_button", "plain_text_input", "email_text_input", "url_text_input", "number_input", "datepicker",
    "timepicker", "file_input", "multi_users_select", "multi_channels_select", "multi_conversations_select",
}  # fmt: skip


def label_of(element: JSON) -> str:
    for name in ("text", "placeholder", "positive_button"):
        told = element.get(name)
        if isinstance(told, dict):
            inner = told.get("text")
            return str(inner.get("text") if isinstance(inner, dict) else inner)
    return str(element.get("action_id", ""))


def _inner(value: Any) -> Iterator[JSON]:
    if isinstance(value, list):
        for one in value:
            yield from _inner(one)
    elif isinstance(value, dict):
        if value.get("type") in INTERACTIVE:
            yield value
        else:
            yield from _inner([one for one in value.values() if isinstance(one, dict | list)])


def _markup(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _markup(one)
    elif isinstance(value, dict):
        if value.get("type") in ("mrkdwn", "markdown"):
            yield str(value.get("text", ""))
        if value.get("type") in ("user", "broadcast", "usergroup"):
            yield f"<@{value['user_id']}>" if value["type"] == "user" else f"<!{value.get('range', 'subteam^S1')}>"
        yield from _markup([one for one in value.values() if isinstance(one, dict | list)])


def _name(message: Message) -> str:
    users = message.channel.team.users
    name = users[message.user].name
    return f"{name} (only to {users[message.only_to].name})" if message.only_to else name


def _shown(message: Message) -> Iterator[str]:
    yield text_of(message)
    if message.stream is not None:
        yield from (f"[{_TASK_SIGNS[one['status']]}] {one['title']}" for one in message.stream.tasks)
        if not message.stream.ended:
            yield "[streaming]"
    yield from (f"[file {one.name}]" for one in message.files)
    for element in elements(message.blocks):
        yield f"[{element['type']} {label_of(element)}]"
    yield from (f"[:{name}: {len(users)}]" for name, users in message.reactions.items())
