"""Destinations of posts: a thread, a person's direct messages, or the private reply to an interaction."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.presentation.action_names import find_part
from bot.presentation.answer_files import AnswerFile
from bot.presentation.platform_parts import Pause
from bot.slackbot.delivery.files import delete_file
from bot.slackbot.events.teams import Team
from bot.slackbot.events.translate import CHANNEL_ITSELF
from bot.slackbot.rendering.blocks import Element, SlackMessage
from bot.slackbot.web_api import (
    CLOSED,
    EDIT_TOO_LATE,
    MESSAGE_GONE,
    POST,
    READ,
    RETRY_SECONDS,
    SEND_FILES,
    STREAM_OVER,
    STREAM_RUNS,
    STREAM_STOPPED,
    TIMEOUT_SECONDS,
    LayoutRefused,
    call,
    name_of,
    to_refusal,
    translated_errors,
)
from core.errors import FootnoteError

PAGE = 200  # messages of a page; Slack may return fewer
MOST_PAGES = 20
FIRST_FILE = 10_000  # more than the parts of any post
FILE_ID = "F"  # first letter of a file's id; a `ts` has digits
NO_MESSAGE = ""  # the `ts` of a message that can't be reached again
OpenDirect: TypeAlias = Callable[[], Awaitable["ChannelDestination"]]
_log = logging.getLogger(__name__)


class ChannelDestination:
    """A thread of a channel, or the channel itself with the thread "", such as a direct channel. Raises core errors."""

    def __init__(self, team: Team, channel: str, thread: str, pause: Pause) -> None:
        self.team = team
        self.id = channel
        self.thread = thread
        self._pause = pause

    async def send(self, part: SlackMessage, *, retry_seconds: float = RETRY_SECONDS) -> str:
        """Post a message and return its `ts`. After a PlatformError without a pause, Slack may have posted it."""
        posted = await self._call(
            POST,
            lambda: self.team.client.chat_postMessage(
                channel=self.id,
                thread_ts=self.thread or None,
                text=part.text,
                blocks=list(part.blocks),
                unfurl_links=False,
                unfurl_media=False,
            ),
            retry_seconds,
        )
        return str(posted["ts"])

    async def edit(self, ts: str, part: SlackMessage, *, retry_seconds: float = RETRY_SECONDS) -> bool:
        """Change a message, ending its stream; return False if it was deleted."""
        try:
            await self._update(ts, part, retry_seconds)
        except FootnoteError as error:
            name = name_of(error)
            if name == MESSAGE_GONE:
                return False
            if name == EDIT_TOO_LATE:  # a new message replaces it
                await self.delete(ts)
                return False
            if name != STREAM_RUNS:
                raise
            await self.stop(ts, retry_seconds=retry_seconds)
            await self._update(ts, part, retry_seconds)
        return True

    async def delete(self, ts: str) -> None:
        """Delete a message, or a file by its id. A missing one is ignored; a refusal is logged."""
        try:
            if ts.startswith(FILE_ID):
                await delete_file(self.team, ts, self._pause)
                return
            await self._call(POST, lambda: self.team.client.chat_delete(channel=self.id, ts=ts))
        except CLOSED as error:
            if name_of(error) != MESSAGE_GONE:
                _log.warning("Message %s in %s stays: %s", ts, self.id, error)

    async def upload(self, files: Sequence[AnswerFile], post_id: str) -> list[str]:
        """Send text files in one message and return their ids; their names hold that of the post. Raises LayoutRefused.

        After a PlatformError without a pause, Slack may have posted them.
        """
        uploads = [
            {"filename": f"-{post_id}.".join(file.name.rsplit(".", 1)), "title": file.name, "content": file.content}
            for file in files
        ]
        try:
            sent = await self._call(
                SEND_FILES,
                lambda: self.team.client.files_upload_v2(
                    file_uploads=uploads, channel=self.id, thread_ts=self.thread or None
                ),
            )
        except CLOSED as error:
            raise LayoutRefused(str(error)) from error
        return [str(file["id"]) for file in sent["files"]]

    async def find_parts(self, post_id: str, after: str) -> AsyncIterator[tuple[Mapping[int, str], str]]:
        """Yield the parts of one of the bot's posts after the message `after`, a page of the history at a time.

        Each page is a `ts` by part, from 1, the ids of its files by `number_of_file`, and the `ts` up to which the
        history was read.
        """
        async for page, is_last in self._pages(oldest=after):
            found: dict[int, str] = {}
            for message in page:
                mark = find_part(message.get("blocks") or ()) if self.is_own(message) else None
                if mark is not None and mark[0] == post_id:
                    found.setdefault(mark[1], str(message["ts"]))
                for file in (message.get("files") or ()) if self.is_own(message) else ():
                    if f"-{post_id}." in str(file.get("name")):
                        found[number_of_file(file["id"])] = str(file["id"])
            newest = max((str(message["ts"]) for message in page), default=after)
            # a channel's history comes newest first, so it is complete with its last page
            yield found, newest if self.thread or is_last else after

    async def messages_before(self, ts: str, since: str = "0") -> Sequence[Mapping[str, Any]]:
        """Return the messages before `ts` and after `since`, oldest first, without the bot's own."""
        found = [message async for page, _ in self._pages(latest=ts, oldest=since) for message in page]
        said = (message for message in found if not self.is_own(message) and float(message["ts"]) < float(ts))
        return sorted(said, key=lambda message: float(message["ts"]))

    async def start(self, chunks: Sequence[Element], recipient: str) -> str:
        """Start a streamed message for the asker `recipient` and return its `ts`. Slack ends it after five minutes."""
        started = await self._call(
            POST,
            lambda: self.team.client.chat_startStream(
                channel=self.id,
                thread_ts=self.thread,
                recipient_team_id=self.team.id,
                recipient_user_id=recipient,
                task_display_mode="plan",
                chunks=chunks,
            ),
            0.0,
        )
        return str(started["ts"])

    async def append(self, ts: str, chunks: Sequence[Element]) -> None:
        await self._call(
            POST,
            lambda: self.team.client.chat_appendStream(channel=self.id, ts=ts, chunks=chunks),
            0.0,
        )

    async def stop(self, ts: str, *, retry_seconds: float = RETRY_SECONDS) -> None:
        """End a stream, which would block an update. A missing or ended one is ignored."""
        try:
            await self._call(POST, lambda: self.team.client.chat_stopStream(channel=self.id, ts=ts), retry_seconds)
        except FootnoteError as error:
            if name_of(error) not in (STREAM_OVER, STREAM_STOPPED, MESSAGE_GONE):
                raise

    def is_own(self, message: Mapping[str, Any]) -> bool:
        return message.get("user") == self.team.bot_user_id or message.get("bot_id") == self.team.bot_id

    async def _update(self, ts: str, part: SlackMessage, retry_seconds: float) -> None:
        await self._call(
            POST,
            lambda: self.team.client.chat_update(channel=self.id, ts=ts, text=part.text, blocks=list(part.blocks)),
            retry_seconds,
        )

    async def _pages(self, **between: str) -> AsyncIterator[tuple[Sequence[Mapping[str, Any]], bool]]:
        """Yield pages of a thread (oldest first) or a channel (newest first), and whether each is the last."""
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            reply = await self._call(READ, lambda: self._read(cursor, between))  # noqa: B023 - awaited at once
            cursor = (reply.get("response_metadata") or {}).get("next_cursor") or None
            yield reply["messages"], cursor is None
            if cursor is None:
                return

    async def _read(self, cursor: str | None, between: Mapping[str, str]) -> Any:
        client, asked = self.team.client, {"cursor": cursor, "limit": PAGE, **between}
        if self.thread:
            return await client.conversations_replies(channel=self.id, ts=self.thread, **asked)  # type: ignore[arg-type]  # by name
        return await client.conversations_history(channel=self.id, **asked)  # type: ignore[arg-type]  # by name

    async def _call(self, action: str, make: Callable[[], Any], retry_seconds: float = RETRY_SECONDS) -> Any:
        return await call(action, make, pause=self._pause, retry_seconds=retry_seconds)


class ReplyDestination:
    """A private reply to an interaction; a direct message if Slack no longer accepts replies.

    Replies are in no history, so `send` returns NO_MESSAGE for them, and `id` is "". Raises core errors.
    """

    def __init__(
        self, response_url: str, open_direct: Callable[[], Awaitable[ChannelDestination]], pause: Pause
    ) -> None:
        self._response_url = response_url
        self._open_direct = open_direct
        self._pause = pause
        self._direct: ChannelDestination | None = None

    @property
    def id(self) -> str:
        return self._direct.id if self._direct is not None else ""

    async def send(self, part: SlackMessage) -> str:
        if self._direct is None:
            try:
                await call(POST, lambda: respond(self._response_url, part), pause=self._pause)
                return NO_MESSAGE
            except CLOSED as error:
                _log.info("A private reply goes to the person directly: %s", error)
                self._direct = await self._open_direct()
        return await self._direct.send(part)

    async def edit(self, ts: str, part: SlackMessage) -> bool:
        return self._direct is not None and await self._direct.edit(ts, part)

    async def delete(self, ts: str) -> None:
        if self._direct is not None:
            await self._direct.delete(ts)


Destination: TypeAlias = ChannelDestination | ReplyDestination


async def respond(response_url: str, part: SlackMessage, *, replaces: bool = False) -> None:
    """Answer an interaction so that only its person sees it, or replace its message. Raises core errors."""
    with translated_errors(POST):
        reply = await AsyncWebhookClient(response_url, timeout=TIMEOUT_SECONDS, retry_handlers=[]).send(
            text=part.text,
            blocks=list(part.blocks),
            response_type=None if replaces else "ephemeral",
            replace_original=replaces,
            unfurl_links=False,
            unfurl_media=False,
        )
    name = _error_in(reply.body)
    if reply.status_code != 200 or name:
        raise to_refusal(reply.status_code, name, reply.headers, POST)


def number_of_file(id: str) -> int:
    """Return the number of a file among the parts of its post: behind all messages."""
    return FIRST_FILE + int(id, 36)


async def open_direct_destination(team: Team, person: str, pause: Pause) -> ChannelDestination:
    """Return a person's direct channel, opened if necessary. Raises core errors, also for an unknown person."""
    opened = await call(POST, lambda: team.client.conversations_open(users=person), pause=pause)
    return ChannelDestination(team, str(opened["channel"]["id"]), CHANNEL_ITSELF, pause)


def _error_in(body: str) -> str:
    """Return Slack's error name in a reply's body (JSON or plain text), or ""."""
    try:
        told = json.loads(body)
    except ValueError:
        word = body.strip()
        return word if word.replace("_", "").isalpha() and word != "ok" else ""
    return str(told.get("error") or "") if isinstance(told, dict) else ""
