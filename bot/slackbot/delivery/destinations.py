"""Destinations of posts: a thread, a person's direct messages, or the private reply to an interaction."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.presentation.action_names import find_part
from bot.presentation.platform_parts import Pause
from bot.slackbot.events.teams import Team
from bot.slackbot.events.translate import CHANNEL_ITSELF
from bot.slackbot.rendering.blocks import SlackMessage
from bot.slackbot.web_api import (
    CLOSED,
    EDIT_TOO_LATE,
    MESSAGE_GONE,
    PATIENCE_SECONDS,
    POST,
    READ,
    STREAM_OVER,
    STREAM_RUNS,
    TIMEOUT_SECONDS,
    call,
    name_of,
    to_refusal,
)
from core.errors import FootnoteError

PAGE = 200  # messages asked for at once; Slack may give fewer
MOST_PAGES = 20
NO_MESSAGE = ""  # the `ts` of what can't be reached again
Chunk: TypeAlias = Mapping[str, Any]  # of a stream
OpenDirect: TypeAlias = Callable[[], Awaitable["ChannelDestination"]]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPage:
    """What a part of a channel's history shows: `parts` of our post, by number from 1, and how far that is (`ts`)."""

    parts: Mapping[int, str]
    seen_to: str


_NOTHING: tuple[HistoryPage, ...] = ()


class Destination(Protocol):
    """Somewhere to post. Raises core errors (bot/slackbot/errors.py)."""

    @property
    def id(self) -> str:
        """The channel's id; "" where messages can't be reached again."""

    async def send(self, part: SlackMessage) -> str:
        """The new message's `ts`, NO_MESSAGE where it can't be reached again.

        After a PlatformError without a pause it may have been posted nevertheless.
        """

    async def edit(self, ts: str, part: SlackMessage) -> bool:
        """A stream ends by it. False: the message is gone."""

    async def delete(self, ts: str) -> None:
        """What is gone already is fine; what can't be deleted is logged."""

    def look(self, post_id: str, after: str) -> AsyncIterator[HistoryPage]:
        """The parts of a post of ours, below the message `after`, a page of the history at a time."""


class ChannelDestination:
    """A thread of a channel; with the thread "" the channel itself, as a person's direct channel."""

    def __init__(self, team: Team, channel: str, thread: str, pause: Pause) -> None:
        self.team = team
        self.channel = channel
        self.thread = thread
        self._pause = pause

    @property
    def id(self) -> str:
        return self.channel

    async def send(self, part: SlackMessage, *, patience_seconds: float = PATIENCE_SECONDS) -> str:
        posted = await self._call(
            POST,
            lambda: self.team.client.chat_postMessage(
                channel=self.channel,
                thread_ts=self.thread or None,
                text=part.text,
                blocks=_blocks(part),
                unfurl_links=False,
                unfurl_media=False,
            ),
            patience_seconds,
        )
        return str(posted["ts"])

    async def edit(self, ts: str, part: SlackMessage, *, patience_seconds: float = PATIENCE_SECONDS) -> bool:
        try:
            await self._update(ts, part, patience_seconds)
        except FootnoteError as error:
            name = name_of(error)
            if name == MESSAGE_GONE:
                return False
            if name == EDIT_TOO_LATE:  # another one takes its place
                await self.delete(ts)
                return False
            if name != STREAM_RUNS:
                raise
            await self.stop(ts, patience_seconds=patience_seconds)
            await self._update(ts, part, patience_seconds)
        return True

    async def delete(self, ts: str) -> None:
        try:
            await self._call(POST, lambda: self.team.client.chat_delete(channel=self.channel, ts=ts))
        except CLOSED as error:
            if name_of(error) != MESSAGE_GONE:
                _log.warning("Message %s in %s stays: %s", ts, self.channel, error)

    async def look(self, post_id: str, after: str) -> AsyncIterator[HistoryPage]:
        async for page, is_last in self._pages(oldest=after):
            found: dict[int, str] = {}
            for message in page:
                mark = find_part(message.get("blocks") or ()) if self.is_own(message) else None
                if mark is not None and mark[0] == post_id:
                    found.setdefault(mark[1], str(message["ts"]))
            newest = max((str(message["ts"]) for message in page), default=after)
            # A channel's own history comes newest first: it is seen when its last page is.
            yield HistoryPage(parts=found, seen_to=newest if self.thread or is_last else after)

    async def before(self, ts: str) -> Sequence[Mapping[str, Any]]:
        """What was said in the thread before the message `ts`, oldest first, our own messages left out."""
        found = [message async for page, _ in self._pages(latest=ts) for message in page]
        said = (message for message in found if not self.is_own(message) and float(message["ts"]) < float(ts))
        return sorted(said, key=lambda message: float(message["ts"]))

    async def start(self, chunks: Sequence[Chunk], recipient: str) -> str:
        """Begin a message that grows; its `ts`. `recipient` is who asked. It ends by itself after five minutes."""
        started = await self._call(
            POST,
            lambda: self.team.client.chat_startStream(
                channel=self.channel,
                thread_ts=self.thread,
                recipient_team_id=self.team.id,
                recipient_user_id=recipient,
                task_display_mode="plan",
                chunks=[dict(chunk) for chunk in chunks],
            ),
            0.0,
        )
        return str(started["ts"])

    async def append(self, ts: str, chunks: Sequence[Chunk]) -> None:
        await self._call(
            POST,
            lambda: self.team.client.chat_appendStream(
                channel=self.channel, ts=ts, chunks=[dict(chunk) for chunk in chunks]
            ),
            0.0,
        )

    async def stop(self, ts: str, *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """End a stream, as an update is refused before; what has ended already, or is gone, is fine."""
        try:
            await self._call(
                POST, lambda: self.team.client.chat_stopStream(channel=self.channel, ts=ts), patience_seconds
            )
        except FootnoteError as error:
            if name_of(error) not in (STREAM_OVER, MESSAGE_GONE):
                raise

    def is_own(self, message: Mapping[str, Any]) -> bool:
        return message.get("user") == self.team.bot_user_id or message.get("bot_id") == self.team.bot_id

    async def _update(self, ts: str, part: SlackMessage, patience_seconds: float) -> None:
        await self._call(
            POST,
            lambda: self.team.client.chat_update(channel=self.channel, ts=ts, text=part.text, blocks=_blocks(part)),
            patience_seconds,
        )

    async def _pages(self, **between: str) -> AsyncIterator[tuple[Sequence[Mapping[str, Any]], bool]]:
        """Pages of the thread (oldest first) or the channel (newest first), and whether it is the last."""
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
            return await client.conversations_replies(channel=self.channel, ts=self.thread, **asked)  # type: ignore[arg-type]  # by name
        return await client.conversations_history(channel=self.channel, **asked)  # type: ignore[arg-type]  # by name

    async def _call(self, doing: str, make: Callable[[], Any], patience_seconds: float = PATIENCE_SECONDS) -> Any:
        return await call(doing, make, pause=self._pause, patience_seconds=patience_seconds)


class ReplyDestination:
    """What one person sees in the channel, in reply to an interaction; where Slack takes it no more, directly.

    Nobody can find such a reply again: `send` gives NO_MESSAGE for it.
    """

    def __init__(self, response_url: str, open_direct: OpenDirect, pause: Pause) -> None:
        self._webhook = AsyncWebhookClient(response_url, timeout=TIMEOUT_SECONDS, retry_handlers=[])
        self._open_direct = open_direct
        self._pause = pause
        self._direct: ChannelDestination | None = None

    @property
    def id(self) -> str:
        return self._direct.id if self._direct is not None else ""

    async def send(self, part: SlackMessage) -> str:
        if self._direct is None:
            try:
                await call(POST, lambda: self._respond(part), pause=self._pause)
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

    async def look(self, post_id: str, after: str) -> AsyncIterator[HistoryPage]:
        """Replies to interactions are in no history."""
        for look in _NOTHING:
            yield look

    async def _respond(self, part: SlackMessage) -> None:
        reply = await self._webhook.send(
            text=part.text,
            blocks=_blocks(part),
            response_type="ephemeral",
            replace_original=False,
            unfurl_links=False,
            unfurl_media=False,
        )
        name = _error_in(reply.body)
        if reply.status_code != 200 or name:
            raise to_refusal(reply.status_code, name, reply.headers, POST)


async def open_direct_destination(team: Team, person: str, pause: Pause) -> ChannelDestination:
    """A person's direct channel, opened if need be. Raises core errors, as for a person who is unknown."""
    opened = await call(POST, lambda: team.client.conversations_open(users=person), pause=pause)
    return ChannelDestination(team, str(opened["channel"]["id"]), CHANNEL_ITSELF, pause)


def _blocks(part: SlackMessage) -> list[dict[str, Any]]:
    return [dict(block) for block in part.blocks]


def _error_in(body: str) -> str:
    """Slack's name for what is wrong with a reply to an interaction: in JSON, or as it stands; "" where nothing is."""
    try:
        told = json.loads(body)
    except ValueError:
        word = body.strip()
        return word if word.replace("_", "").isalpha() and word != "ok" else ""
    return str(told.get("error") or "") if isinstance(told, dict) else ""
