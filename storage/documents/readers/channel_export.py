"""Exports of chat channels (Slack, DiscordChatExporter): a page per day, a line per message with its time and author.

The lists of channels and members at the root of a Slack export are documents, too.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from core.domain.corpus import ParsedDocument, ParsedPage
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.files import CHANNEL_LISTS, PEOPLE_LISTS
from storage.documents.markup.writers import MarkdownWriter, tidy
from storage.documents.texts.encodings import decode
from storage.documents.texts.structured import Value, at, list_of, read_json

# Marks of a day of Slack, and of a file of DiscordChatExporter.
_SLACK = re.compile(rb'"ts"\s*:\s*"\d{6,}\.\d+"')
_SLACK_TYPE = re.compile(rb'"type"\s*:\s*"message"')
_DISCORD = re.compile(rb'"channel"\s*:\s*\{.*"messages"\s*:\s*\[', re.DOTALL)

# Slack's automatic messages: joined, left, renamed.
_SLACK_NOTICE = re.compile(
    r"(?:channel|group|bot|pinned|unpinned|reminder|huddle|sh_room)_(?!message)|tombstone|.*_join$"
)
_DISCORD_SAID = frozenset({"Default", "Reply", "0", "19", "ThreadStarterMessage", "ChatInputCommand", "20", "21"})
_MENTION = re.compile(r"<(?:@([UW]\w+)|#(C\w+)|!(\w++)[^<|>]*+|(https?://[^<|>]*+|mailto:[^<|>]*+))(?:\|([^<>]*+))?>")
_DISCORD_MENTION = re.compile(r"<@!?(\d+)>|<a?(:\w+:)\d+>|<t:(\d{1,12})(?::\w)?>")
# Embeds and attachments of one message that are read.
_MAX_PARTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelMessage:
    """A person's message. `text` may have several lines; `reply_to` is the id of the message it answers."""

    id: str
    author: str
    at: datetime  # aware
    text: str
    reply_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """The messages of a file, in time order. `place` is where the channel is: the server, the category."""

    name: str
    messages: tuple[ChannelMessage, ...]
    place: tuple[str, ...] = ()
    topic: str = ""
    link: str = ""  # the address of the channel; that of a message is below it


def may_be_channel(data: bytes) -> bool:
    """Return whether bytes of a JSON file have the marks of a channel export; cheap."""
    data = data.replace(b"\0", b"")
    return bool((_SLACK.search(data) and _SLACK_TYPE.search(data)) or _DISCORD.search(data))


def read_channel(value: Value, folder: str, people: Mapping[str, str]) -> Channel:
    """Return the channel of an export.

    `folder` is its name and `people` are its members (id to name), for the days of Slack that lack them. Raises
    ReadError for a value that is not an export, or has no messages.
    """
    if isinstance(value, list):
        channel = Channel(name=folder, messages=_in_order(_slack(value, people)))
    elif isinstance(value, dict) and isinstance(value.get("messages"), list):
        channel = _discord_channel(value)
    else:
        raise ReadError("not a channel export: it has no list of messages")
    if not channel.messages:
        raise ReadError("empty: it has no messages")
    return channel


def read_people(value: Value) -> dict[str, str]:
    """Return the names of Slack's members by id, from the file users.json of an export."""
    people = {}
    for user in list_of(value):
        name = _name_of(user)
        if name and text_of(user, "id"):
            people[text_of(user, "id")] = name
    return people


def _in_order(messages: Iterator[ChannelMessage]) -> tuple[ChannelMessage, ...]:
    return tuple(sorted(messages, key=lambda message: message.at))


def _slack(items: list[Value], people: Mapping[str, str]) -> Iterator[ChannelMessage]:
    known = dict(people)
    known.update((text_of(item, "user"), name) for item in items if (name := _name_of(item, "user_profile")))
    for item in items:
        at = _moment(text_of(item, "ts"))
        if at is None or text_of(item, "type") not in ("", "message") or _SLACK_NOTICE.match(text_of(item, "subtype")):
            continue
        user = text_of(item, "user")
        parts = [_slack_text(text_of(item, "text"), known)]
        parts += [_attached(file, "title", "name") for file in _parts(item, "files")]
        parts += [_slack_text(_card(card), known) for card in _parts(item, "attachments")]
        text = "\n".join(filter(None, parts))
        if text.strip():
            thread = text_of(item, "thread_ts")
            yield ChannelMessage(
                id=text_of(item, "ts"),
                author=known.get(user) or text_of(item, "username") or user or "somebody",
                at=at,
                text=text,
                reply_to=thread if thread != text_of(item, "ts") else "",
            )


def _slack_text(text: str, people: Mapping[str, str]) -> str:
    def to_words(match: re.Match[str]) -> str:
        user, channel, group, address, label = match.groups()
        if user:
            return f"@{people.get(user) or label or user}"
        if channel:
            return f"#{label or channel}"
        if group:
            return label or f"@{group}"
        return f"{label} ({address})" if label and label not in address else address.removeprefix("mailto:")

    return html.unescape(_MENTION.sub(to_words, text))


def _name_of(value: Value, *keys: str) -> str:
    value = at(value, *keys)
    for holder in (at(value, "profile"), value):
        for key in ("display_name", "real_name", "name"):
            if text_of(holder, key):
                return text_of(holder, key)
    return ""


def _discord_channel(value: dict[str, Value]) -> Channel:
    guild, channel = value.get("guild"), value.get("channel")
    place = tuple(filter(None, (text_of(guild, "name"), text_of(channel, "category"))))
    numbers = [text_of(guild, "id") or "@me", text_of(channel, "id")]
    return Channel(
        name=text_of(channel, "name"),
        messages=_in_order(_discord(list_of(value["messages"]))),
        place=place,
        topic=text_of(channel, "topic"),
        link=f"https://discord.com/channels/{'/'.join(numbers)}" if numbers[1].isdigit() else "",
    )


def _discord(items: Sequence[Value]) -> Iterator[ChannelMessage]:
    for item in items:
        at = _moment(text_of(item, "timestamp"))
        if at is None or (text_of(item, "type") or "Default") not in _DISCORD_SAID or not isinstance(item, dict):
            continue
        names = {text_of(user, "id"): _discord_name(user) for user in _parts(item, "mentions")}
        parts = [_discord_text(text_of(item, "content"), names)]
        parts += [_attached(file, "fileName", "filename") for file in _parts(item, "attachments")]
        parts += [_discord_text(_card(card), names) for card in _parts(item, "embeds")]
        text = "\n".join(filter(None, parts))
        if text.strip():
            yield ChannelMessage(
                id=text_of(item, "id"),
                author=_discord_name(item.get("author")) or "somebody",
                at=at,
                text=text,
                reply_to=text_of(item.get("reference"), "messageId") or text_of(item.get("reference"), "message_id"),
            )


def _discord_name(user: Value) -> str:
    return next((name for key in ("nickname", "global_name", "name", "username") if (name := text_of(user, key))), "")


def _discord_text(text: str, names: Mapping[str, str]) -> str:
    def to_words(match: re.Match[str]) -> str:
        user, emoji, seconds = match.groups()
        if user:
            return f"@{names.get(user) or user}"
        moment = _moment(seconds or "")
        return emoji or (f"{moment:%Y-%m-%d %H:%M} UTC" if moment else match[0])

    return _DISCORD_MENTION.sub(to_words, text)


def _card(card: Value) -> str:
    """Return title, text and fields of a bot's card or of a link preview."""
    lines = [text_of(card, key) for key in ("pretext", "title", "description", "text")]
    for field in _parts(card, "fields"):
        lines.append(
            ": ".join(filter(None, (text_of(field, "name") or text_of(field, "title"), text_of(field, "value"))))
        )
    return "\n".join(filter(None, lines)) or text_of(card, "fallback")


def _attached(file: Value, *keys: str) -> str:
    name = next((text_of(file, key) for key in keys if text_of(file, key)), "")
    return f"[attached: {name}]" if name else ""


def _parts(item: Value, key: str) -> Sequence[Value]:
    return list_of(at(item, key))[:_MAX_PARTS]


def _moment(text: str) -> datetime | None:
    """Return the moment of seconds since 1970 or of an ISO time, None for other text."""
    try:
        if re.fullmatch(r"\d{1,12}(?:\.\d+)?", text):
            return datetime.fromtimestamp(float(text), UTC)
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def text_of(value: Value, key: str) -> str:
    """Return the text under a key of an object, "" without any."""
    found = at(value, key)
    if isinstance(found, bool) or not isinstance(found, str | int):
        return ""
    return str(found).strip()


def list_channels(value: Value, people: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield ids of channels with `#ferry (archived): its purpose. Topic: ...; opened by Ann`."""
    for item in list_of(value):
        name = text_of(item, "name")
        if not name or not isinstance(item, dict):
            continue
        purpose, topic = text_of(item.get("purpose"), "value"), text_of(item.get("topic"), "value")
        creator = people.get(text_of(item, "creator"), "")
        parts = [purpose, f"Topic: {topic}" if topic else "", f"Opened by {creator}" if creator else ""]
        archived = " (archived)" if item.get("is_archived") is True else ""
        said = " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in parts if part)
        yield text_of(item, "id"), f"#{name}{archived}{f': {said}' if said else ''}"


def list_members(value: Value) -> Iterator[tuple[str, str]]:
    """Yield ids of members with `Ann Arbor (@ann), Harbour master`; no bots. Former members are marked."""
    for item in list_of(value):
        if not isinstance(item, dict) or item.get("is_bot") is True or text_of(item, "id") == "USLACKBOT":
            continue
        profile = item.get("profile")
        name = text_of(profile, "real_name") or text_of(item, "real_name") or text_of(item, "name")
        handle = text_of(profile, "display_name") or text_of(item, "name")
        if name:
            known = f" (@{handle})" if handle and handle != name else ""
            title = f", {text_of(profile, 'title')}" if text_of(profile, "title") else ""
            left = " (has left)" if item.get("deleted") is True else ""
            yield text_of(item, "id"), f"{name}{known}{title}{left}"


# Bytes of a file that `accepts` is shown: a shorter head is all of it.
_HEAD_BYTES = 4_096
# Bytes of the file with Slack's members; a larger one is something else.
MAX_PEOPLE_BYTES = 50_000_000
# Fields of each entry of an export's lists.
_LISTED = re.compile(rb'"(?:is_archived|is_general|is_channel|team_id|profile)"\s*:')


class ChannelExportReader:
    """Reads `.json` files with a day of a Slack export or a channel of a Discord export.

    Join and leave notices are left out. Times are the export's: UTC for Slack. A reply follows the message it answers
    if both are of the same day. Anchors are the ids of messages.
    """

    kind = "channel"
    suffixes = frozenset({".json"})
    expects = "an export of a channel"

    def accepts(self, path: Path, head: bytes) -> bool:
        if path.name in (*CHANNEL_LISTS, *PEOPLE_LISTS) and _LISTED.search(head):
            return True
        return may_be_channel(head) or (len(head) >= _HEAD_BYTES and may_be_channel(path.read_bytes()))

    def read(self, path: Path, root: Path) -> ParsedDocument:
        if path.name in (*CHANNEL_LISTS, *PEOPLE_LISTS):
            return self._read_list(path, root)
        decoded = decode(path.read_bytes())
        people_file = _people_file(path.parent.parent, root) if path.parent != root else None
        people = _read_people(people_file)
        channel = read_channel(read_json(decoded.text), path.parent.name, people)
        name = f"#{collapse(tidy(channel.name))}" if channel.name else path.stem
        days = [list(messages) for _, messages in groupby(channel.messages, key=lambda message: message.at.date())]
        return ParsedDocument(
            title=f"{name} {days[0][0].at:%Y-%m-%d}" if len(days) == 1 else name,
            kind=self.kind,
            pages=tuple(_to_page(channel, name, messages, first=place == 0) for place, messages in enumerate(days)),
            depends_on=(people_file.relative_to(root).as_posix(),) if people_file else (),
            warnings=decoded.warnings,
        )

    def _read_list(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        value = read_json(decoded.text)
        people_file = None
        if path.name in CHANNEL_LISTS:
            people_file = _people_file(path.parent, root)
            title, entries = "Channels", list(list_channels(value, _read_people(people_file)))
        else:
            title, entries = "Members", list(list_members(value))
        if not entries:
            raise ReadError("empty: it lists nobody and nothing")
        writer = MarkdownWriter()
        writer.add_heading(1, title)
        for anchor, text in entries:
            writer.add_item(collapse(tidy(text)), anchor=anchor)
        return ParsedDocument(
            title=title,
            kind=self.kind,
            pages=(writer.to_page(title),),
            depends_on=(people_file.relative_to(root).as_posix(),) if people_file else (),
            warnings=decoded.warnings,
        )


def _read_people(file: Path | None) -> dict[str, str]:
    return read_people(read_json(decode(file.read_bytes()).text)) if file else {}


def _people_file(folder: Path, root: Path) -> Path | None:
    """Return the file that names Slack's members: at the root of the export, inside the source."""
    for name in PEOPLE_LISTS:
        file = folder / name
        inside = file.resolve().is_relative_to(root.resolve())
        if inside and file.is_file() and not file.is_symlink() and file.stat().st_size <= MAX_PEOPLE_BYTES:
            return file
    return None


def _to_page(channel: Channel, name: str, messages: Sequence[ChannelMessage], *, first: bool) -> ParsedPage:
    writer = MarkdownWriter()
    title = f"{name.lstrip('#')} on {messages[0].at:%A, %Y-%m-%d}"
    writer.add_heading(1, title)
    writer.add(channel.topic if first else "")
    for message, level in _threaded(messages):
        words = "\n".join(line.strip() for line in tidy(message.text).split("\n") if line.strip())
        said = f"{message.at:%H:%M} {collapse(tidy(message.author))}: {words}"
        writer.add_item(said, level=level, anchor=message.id)
    return writer.to_page(
        title,
        heading_path=tuple(collapse(tidy(part)) for part in channel.place),
        deep_link=f"{channel.link}/{messages[0].id}" if channel.link else None,
    )


def _threaded(messages: Sequence[ChannelMessage]) -> Iterator[tuple[ChannelMessage, int]]:
    """Yield messages with their level: 0, or 1 for a reply, which follows the message that opened its thread."""
    by_id = {message.id: message for message in messages if message.id}
    replies: dict[str, list[ChannelMessage]] = {}
    for message in messages:
        opener = _opener(message, by_id)
        if opener:
            replies.setdefault(opener, []).append(message)
    for message in messages:
        if not _opener(message, by_id):
            yield message, 0
            yield from ((reply, 1) for reply in replies.get(message.id, ()))


def _opener(message: ChannelMessage, by_id: dict[str, ChannelMessage]) -> str:
    seen = {message.id}
    opener = ""
    while message.reply_to in by_id and message.reply_to not in seen:
        opener = message.reply_to
        seen.add(opener)
        message = by_id[opener]
    return opener
