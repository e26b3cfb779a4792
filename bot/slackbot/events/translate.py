"""Translation of Slack's messages and addresses for core. Pure.

Neither slack_sdk nor slack_bolt reads mentions or links in message text, so `to_text` does.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bot.presentation.platform_text import default_question
from bot.slackbot.events.command_text import to_command_text
from bot.slackbot.events.teams import PLATFORM, Team
from core.domain.incoming import Attachment, Circumstances, IncomingMessage, Talk, ThreadAddress, event_key, message_key

CHANNEL_ITSELF = ""  # the thread of a channel itself
# Keys of metadata.
TEAM = "team"  # id of the question's team
MESSAGE = "message"  # `ts` of the question
RESPONSE = "response_url"  # address for private replies to an interaction, valid for half an hour
FILES_ALONE = "files_alone"  # a direct message that only has files, and no question about them
Event = Mapping[str, Any]
# Subtypes of messages by people and bots; the others (joins, topics, pins, reminders) are Slack's.
_WRITTEN = frozenset({"", "file_share", "me_message", "thread_broadcast", "bot_message"})
# A canvas among files (https://docs.slack.dev/surfaces/canvases); older ones were Quip documents.
_CANVAS_TYPE = "application/vnd.slack-docs"
_CANVAS_KINDS = frozenset({"quip", "canvas"})
_TABLES = frozenset({"table", "data_table"})
_PREVIEW = frozenset({"from_url", "app_unfurl_url", "is_msg_unfurl"})  # keys of Slack's previews of links
_LONGEST_TABLE = 20_000  # characters
_TOKEN = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")
_PERSON = re.compile(r"<@([A-Z0-9]+)(?:\|[^<>]*)?>")
_GROUP = re.compile(r"<!(?:subteam\^|channel|here|everyone)")


def read_message(event: Event) -> Event | None:
    """Return the message of a `message` or `app_mention` event, new or edited; None if no person or bot wrote one.

    It has `channel` and `channel_type`. Slack also changes messages itself, such as for link previews.
    """
    where = {name: event[name] for name in ("channel", "channel_type") if name in event}
    if event.get("subtype") == "message_changed":
        message, before = event.get("message") or {}, event.get("previous_message") or {}
        is_edit = bool(message.get("edited")) and message.get("text") != before.get("text")
        return {**message, **where} if is_edit and message.get("subtype", "") in _WRITTEN else None
    return {**event, **where} if event.get("subtype", "") in _WRITTEN and event.get("ts") else None


def deleted_ts(event: Event) -> str | None:
    """Return the `ts` of the message that an event reports as deleted, or None. One with replies leaves a tombstone."""
    if event.get("subtype") == "message_deleted":
        return str(event.get("deleted_ts") or "") or None
    message = event.get("message") or {}
    is_tombstone = event.get("subtype") == "message_changed" and message.get("subtype") == "tombstone"
    return str(message["ts"]) if is_tombstone else None


def to_incoming(
    message: Event, *, team: Team, in_our_thread: bool, names: Mapping[str, str], commands: Collection[str]
) -> IncomingMessage | None:
    """Return the question in a message of `read_message`; None for an empty one that isn't addressed to the bot.

    `in_our_thread`: the bot answered in its thread. `names`: known display names by user id. `commands`: names of the
    table, which make a command of text addressed to the bot.
    """
    circumstances = to_circumstances(message, team, in_our_thread=in_our_thread)
    attachments = tuple(to_attachment(team, item) for item in files_in(message))
    is_to_us = circumstances.mentioned or circumstances.direct
    said = to_text(message, names, team.bot_user_id)
    is_alone = circumstances.direct and not circumstances.in_thread and bool(attachments) and not said
    text = "" if is_alone else said or default_question(attachments, None)
    if not text and not is_to_us:
        return None
    address = to_address(message, team)
    ts, author = str(message["ts"]), author_of(message)
    edit = str((message.get("edited") or {}).get("ts", ""))
    return IncomingMessage(
        address=address,
        author=author,
        author_name=names.get(author, ""),
        text=(to_command_text(text, commands) if is_to_us else None) or text,
        event_key=event_key(address, ts, edit),
        message_key=message_key(address, ts),
        circumstances=circumstances,
        attachments=attachments,
        metadata={TEAM: team.id, MESSAGE: ts, **({FILES_ALONE: "yes"} if is_alone else {})},
    )


def to_circumstances(message: Event, team: Team, *, in_our_thread: bool) -> Circumstances:
    raw = str(message.get("text") or "")
    people = set(_PERSON.findall(raw))
    thread = message.get("thread_ts")
    return Circumstances(
        mentioned=team.bot_user_id in people,
        direct=is_direct(message),
        in_thread=bool(thread) and thread != message.get("ts"),
        in_our_thread=in_our_thread,
        opened_by_us=message.get("parent_user_id") == team.bot_user_id,
        mentions_others=bool(people - {team.bot_user_id}) or _GROUP.search(raw) is not None,
        from_bot=bool(message.get("bot_id")) or message.get("subtype") == "bot_message",
        is_own=message.get("user") == team.bot_user_id or message.get("bot_id") == team.bot_id,
    )


def is_direct(message: Event) -> bool:
    """Return whether it is a direct message. Without a channel type, the D of the channel's id tells."""
    return message.get("channel_type") == "im" or str(message.get("channel", "")).startswith("D")


def author_of(message: Event) -> str:
    """Return the id of the person or other bot."""
    return str(message.get("user") or message.get("bot_id") or "")


def to_address(message: Event, team: Team) -> ThreadAddress:
    """Return the thread that answers go to: the message's own, or the one it opens."""
    return thread_address(team.workspace, str(message["channel"]), str(message.get("thread_ts") or message["ts"]))


def thread_address(workspace: str, channel: str, thread: str) -> ThreadAddress:
    return ThreadAddress(platform=PLATFORM, workspace=workspace, channel=channel, thread=thread)


def to_text(message: Event, names: Mapping[str, str], me: str) -> str:
    """Return a message's words: people and channels by name, links as addresses, without the bot's own mention."""

    def shown(found: re.Match[str]) -> str:
        sign, target, label = found[1], found[2], found[3]
        if sign == "@":
            return "" if target == me else f"@{names.get(target) or label or target}"
        if sign == "#":
            return f"#{label or target}"
        if sign == "!":
            return label or f"@{target.partition('^')[0]}"
        address = target.removeprefix("mailto:")
        return f"{label} ({address})" if label and label not in address else address

    said = _TOKEN.sub(shown, str(message.get("text") or ""))
    said = said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()
    return "\n\n".join(filter(None, [said, *tables_in(message)]))


def tables_in(message: Event) -> list[str]:
    """Return the tables that a person pasted, as lines of cells between tabs: Slack leaves them out of the text."""
    pasted = [one for one in message.get("attachments") or () if not _PREVIEW.intersection(one)]
    blocks = [block for holder in (message, *pasted) for block in holder.get("blocks") or ()]
    tables = [block.get("rows") or () for block in blocks if block.get("type") in _TABLES]
    texts = ("\n".join("\t".join(map(_cell_text, row)) for row in rows) for rows in tables)
    return [text[:_LONGEST_TABLE] for text in texts if text.strip()]


def _cell_text(cell: Any) -> str:
    """Return the words of a cell, on one line: raw text, or the texts in its rich text."""
    if isinstance(cell, Mapping):
        own = cell.get("text") if isinstance(cell.get("text"), str) else ""
        return " ".join(f"{own}{''.join(_cell_text(one) for one in cell.get('elements') or ())}".split())
    return ""


def people_in(message: Event) -> list[str]:
    """Return the ids of the author and of everyone mentioned, without duplicates, in order."""
    found = dict.fromkeys([author_of(message), *_PERSON.findall(str(message.get("text") or ""))])
    return [person for person in found if person]


def to_talk(message: Event, names: Mapping[str, str], me: str) -> Talk:
    """Return a message as context for a question."""
    author = author_of(message)
    return Talk(
        message_id=str(message["ts"]),
        author=names.get(author) or author or "somebody",
        text=to_text(message, names, me),
        said_at=time_of(str(message["ts"])),
    )


def to_attachment(team: Team, file: Mapping[str, Any]) -> Attachment:
    return Attachment(
        name=file_name(file),
        size_bytes=int(file.get("size") or 0),
        reference=f"{team.id}/{file['id']}",
        content_type=str(file.get("mimetype") or ""),
    )


def links_in(message: Event) -> list[str]:
    """Return the web addresses in a message's text, without duplicates, in order."""
    found = (match[2] for match in _TOKEN.finditer(str(message.get("text") or "")) if not match[1])
    links = (link.replace("&amp;", "&") for link in found if link.startswith(("http://", "https://")))
    return list(dict.fromkeys(links))


def files_in(message: Event) -> list[Mapping[str, Any]]:
    """Return a message's files, without those deleted or hidden by a plan's limit."""
    gone = ("tombstone", "hidden_by_limit")
    return [file for file in message.get("files") or () if file.get("id") and file.get("mode") not in gone]


def is_stub(file: Mapping[str, Any]) -> bool:
    """Return whether the event doesn't describe a file of another company; files.info does."""
    return file.get("file_access") == "check_file_info"


def is_canvas(file: Mapping[str, Any]) -> bool:
    return file.get("mimetype") == _CANVAS_TYPE or file.get("filetype") in _CANVAS_KINDS


def file_name(file: Mapping[str, Any]) -> str:
    """Return a file's name; a canvas, which Slack hands out as HTML, has its title with that ending."""
    if is_canvas(file):
        return f"{file.get('title') or file.get('name') or 'Canvas'}.html"
    return str(file.get("name") or file.get("title") or file["id"])


def time_of(ts: str) -> datetime:
    """Return the time of a message, which its id holds."""
    return datetime.fromtimestamp(float(ts), UTC)


def message_links(messages: Sequence[IncomingMessage], team: Team) -> dict[int, str | None]:
    """Return the addresses of messages in channels, numbered from 1; None without a team url."""
    links = (team.permalink(item.address.channel, item.metadata[MESSAGE]) or None for item in messages)
    return dict(enumerate(links, start=1))


def link_to(address: ThreadAddress, team: Team) -> str | None:
    """Return the address of a thread in Slack's clients; None for other platforms and private threads."""
    if address.platform != PLATFORM or address.private_to is not None:
        return None
    return team.permalink(address.channel, address.thread, address.thread) or None
