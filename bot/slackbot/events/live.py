"""Messages of live channels from Slack's events and history: the ones to keep, and the history itself."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.slackbot.events.directory import People
from bot.slackbot.events.teams import Team, Teams
from bot.slackbot.events.translate import Event, author_of, is_direct, people_in, read_message, time_of, to_text
from bot.slackbot.web_api import READ, call
from core.domain.channels import ChannelMessage
from core.domain.incoming import ChannelAddress
from core.errors import BadInput, FootnoteError, InvalidState, NotFound, PlatformError

PAGE = 200
NAME_SECONDS = 10.0  # for the names of the people of a page
LONGEST_PAUSE_SECONDS = 120.0  # that Slack asks for: of distributed apps a minute for each page
_NO_SOURCE = "Only a channel of this workspace can be a source, not direct or group messages."
_SHARED = "People of another company read this channel, so it can't be a source."
_IS_SHARED = ("is_ext_shared", "is_org_shared", "is_pending_ext_shared")
_MENTION = re.compile(r"<@([A-Z0-9]+)(?:\|[^<>]*)?>")
_log = logging.getLogger(__name__)


def to_said(message: Event, team: Team, names: Mapping[str, str]) -> ChannelMessage | None:
    """Return a message of `read_message` as it is kept; None for bots, talk with us, and messages for one person.

    Files aren't kept: only what was written with them.
    """
    is_bot = bool(message.get("bot_id")) or message.get("subtype") == "bot_message" or not message.get("user")
    is_hidden = message.get("is_ephemeral") or message.get("parent_user_id") == team.bot_user_id
    if is_bot or is_hidden or is_direct(message) or is_to_us(message, team):
        return None
    text, author = to_text(message, names, team.bot_user_id), author_of(message)
    ts = str(message["ts"])
    root = str(message.get("thread_ts") or ts)
    link = team.permalink(str(message["channel"]), ts, root)
    if not text or not link:
        return None
    return ChannelMessage(
        id=ts,
        root=root,
        author=author,
        author_name=names.get(author) or author,
        said_at=time_of(ts),
        begun_at=time_of(root),
        text=text,
        link=link,
    )


def is_to_us(message: Event, team: Team) -> bool:
    """Return whether a message names the bot, or is its own."""
    named = _MENTION.findall(str(message.get("text") or ""))
    return team.bot_user_id in (*named, message.get("user")) or message.get("bot_id") == team.bot_id


class SlackHistories:
    """Channels as Slack has them (implements ChannelHistory)."""

    def __init__(self, teams: Teams, people: People, pause: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._teams = teams
        self._people = people
        self._pause = pause

    async def name(self, channel: ChannelAddress) -> str:
        """Return `#name`. BadInput for direct and group messages, and for channels of several companies."""
        _, found = await self._find(channel)
        return f"#{found['name']}"

    async def read(self, channel: ChannelAddress, since: datetime) -> Sequence[ChannelMessage]:
        """Read the channel, then each of its threads; waits as long as Slack asks for."""
        team, _ = await self._find(channel)
        client, said = team.client, list[ChannelMessage]()
        oldest = f"{since.timestamp():.6f}"

        def page(cursor: str | None) -> Awaitable[Any]:
            return client.conversations_history(channel=channel.channel, oldest=oldest, limit=PAGE, cursor=cursor)

        async for messages in self._pages(page):
            for message in messages:
                said += await self._to_said([message], channel, team)
                if message.get("reply_count") and not is_to_us(message, team):
                    said += await self._replies(str(message["ts"]), channel, team)
        return list({one.id: one for one in said}.values())

    async def _replies(self, root: str, channel: ChannelAddress, team: Team) -> list[ChannelMessage]:
        def page(cursor: str | None) -> Awaitable[Any]:
            return team.client.conversations_replies(channel=channel.channel, ts=root, limit=PAGE, cursor=cursor)

        return [one async for messages in self._pages(page) for one in await self._to_said(messages, channel, team)]

    async def _to_said(self, messages: Sequence[Event], channel: ChannelAddress, team: Team) -> list[ChannelMessage]:
        written = [read_message({**message, "channel": channel.channel}) for message in messages]
        wanted = [message for message in written if message is not None]
        ids = {id for message in wanted for id in people_in(message)}
        names = await self._people.names(team, sorted(ids), wait_seconds=NAME_SECONDS)
        return [said for message in wanted if (said := to_said(message, team, names)) is not None]

    async def _find(self, channel: ChannelAddress) -> tuple[Team, Mapping[str, Any]]:
        """Return the team of a channel, and the channel. BadInput as `name`; NotFound for one that it can't see."""
        error: FootnoteError = NotFound("I'm not in this channel. Invite me with /invite.")
        for team in self._teams.all():
            if team.workspace != channel.workspace:
                continue
            try:
                found = (await call(READ, lambda: team.client.conversations_info(channel=channel.channel)))["channel"]  # noqa: B023 - awaited at once
            except (NotFound, InvalidState) as refusal:
                error = refusal
                continue
            if found.get("is_im") or found.get("is_mpim"):
                raise BadInput(_NO_SOURCE)
            if any(found.get(name) for name in _IS_SHARED):
                raise BadInput(_SHARED)
            return team, found
        raise error

    async def _pages(self, make: Callable[[str | None], Awaitable[Any]]) -> AsyncIterator[Sequence[Event]]:
        cursor: str | None = None
        while True:
            reply = await self._ask(lambda: make(cursor))  # noqa: B023 - awaited at once
            yield reply["messages"]
            cursor = (reply.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                return

    async def _ask(self, make: Callable[[], Awaitable[Any]]) -> Any:
        while True:
            try:
                return await call(READ, make)
            except PlatformError as error:
                seconds = error.retry_after_seconds
                if seconds is None or seconds > LONGEST_PAUSE_SECONDS:
                    raise
                _log.info("Slack asks for a pause of %g s while a live channel is read", seconds)
                await self._pause(seconds)
