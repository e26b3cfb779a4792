"""Exports of chat channels (Slack, DiscordChatExporter): a page per day, a line per message with its time and author.

The lists of channels and members at the root of a Slack export are documents, too.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from core.domain.corpus import ParsedDocument, ParsedPage
from core.errors import ReadError
from core.text.words import collapse
from storage.documents.channels.exports import (
    CHANNEL_LISTS,
    PEOPLE_LISTS,
    Channel,
    ChannelMessage,
    list_channels,
    list_members,
    may_be_channel,
    read_channel,
    read_people,
)
from storage.documents.markup.markdown_writer import MarkdownWriter, tidy
from storage.documents.texts.encodings import decode
from storage.documents.texts.structured import read_json

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
        anchors = []
        for entry in entries:
            start = writer.add_item(collapse(tidy(entry.text)))
            if start is not None and entry.id:
                anchors.append((entry.id, start))
        text, headings, _ = writer.finish()
        return ParsedDocument(
            title=title,
            kind=self.kind,
            pages=(ParsedPage(title=title, text=text, headings=headings, anchors=tuple(anchors)),),
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
    anchors = []
    for message, level in _threaded(messages):
        words = "\n".join(line.strip() for line in tidy(message.text).split("\n") if line.strip())
        start = writer.add_item(f"{message.at:%H:%M} {collapse(tidy(message.author))}: {words}", level=level)
        if start is not None and message.id:
            anchors.append((message.id, start))
    text, headings, _ = writer.finish()
    return ParsedPage(
        title=title,
        text=text,
        headings=headings,
        heading_path=tuple(collapse(tidy(part)) for part in channel.place),
        anchors=tuple(anchors),
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
