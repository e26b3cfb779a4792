"""Posts of added documents on Slack, and the bytes of their files (AdditionPosts in bot/presentation/additions.py)."""

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

from bot.presentation.additions import AdditionView
from bot.presentation.platform_parts import Pause
from bot.slackbot.delivery.destinations import ChannelDestination, open_direct_destination
from bot.slackbot.delivery.files import find_file, stream_file
from bot.slackbot.events.command_text import format_command_names
from bot.slackbot.events.teams import PLATFORM, Team, Teams
from bot.slackbot.events.translate import TEAM
from bot.slackbot.rendering.answers import mark_of
from bot.slackbot.rendering.blocks import FLAVOUR, SlackMessage
from bot.slackbot.rendering.lists import addition_message
from bot.slackbot.web_api import CLOSED
from core.domain.additions import Addition
from core.domain.service import PostRef
from core.errors import BadInput, PlatformError
from core.features.upload_files import size_words
from core.ports import Clock

NAMED_COMMANDS = ("settings", "library")  # in the texts of the posts
FILE = "file"  # key of an addition's details: the id of its file
SKEW = timedelta(minutes=1)  # between our clock and Slack's
_log = logging.getLogger(__name__)


class SlackAdditions:
    """The posts of additions, for all installed teams."""

    name = PLATFORM

    def __init__(self, teams: Teams, most_bytes: int, clock: Clock, pause: Pause) -> None:
        """`most_bytes` is the largest file; a larger one isn't downloaded."""
        self._teams = teams
        self._most_bytes = most_bytes
        self._pause = pause
        self._began = clock.now()
        self._attempted: set[str] = set()  # by id; Slack may have posted it without a reply

    def plain(self, text: str) -> str:
        return FLAVOUR.plain(text)

    async def post(self, addition: Addition, view: AdditionView) -> PostRef:
        """Post in the thread, or directly to the person where the bot can't write."""
        team, part = await self._team(addition), _message(addition, view)
        may_exist = addition.created_at <= self._began or addition.id in self._attempted
        self._attempted.add(addition.id)
        place = ChannelDestination(team, addition.address.channel, addition.address.thread, self._pause)
        try:
            ref = await self._send(place, addition, part, may_exist=may_exist)
        except CLOSED as error:
            _log.info("%s gets the post of an addition directly: %s", addition.author, error)
            place = await open_direct_destination(team, addition.author, self._pause)
            ref = await self._send(place, addition, part, may_exist=may_exist)
        self._attempted.discard(addition.id)
        return ref

    async def edit(self, addition: Addition, view: AdditionView) -> None:
        channel, _, ts = (addition.post_ref or "").partition("/")
        if not ts:
            return
        place = ChannelDestination(await self._team(addition), channel, "", self._pause)
        try:
            await place.edit(ts, _message(addition, view))
        except CLOSED as error:
            _log.info("The post of an addition in %s stays as it is: %s", channel, error)

    async def open_file(self, addition: Addition) -> AsyncIterator[bytes]:
        team = await self._team(addition)
        try:
            file = await find_file(team, addition.details.get(FILE, ""), self._pause)
            if (file.size_bytes or 0) > self._most_bytes:
                raise BadInput(f"larger than {size_words(self._most_bytes)}. Split the file")
            async for piece in stream_file(team, file):
                yield piece
        except PlatformError as error:
            raise BadInput("Slack did not send all of it. Add it again") from error

    async def _send(
        self, place: ChannelDestination, addition: Addition, part: SlackMessage, *, may_exist: bool
    ) -> PostRef:
        if may_exist:
            after = f"{(addition.created_at - SKEW).timestamp():.6f}"
            async for found, _ in place.find_parts(addition.id, after):
                if found:
                    return f"{place.id}/{found[1]}"
        return f"{place.id}/{await place.send(part)}"

    async def _team(self, addition: Addition) -> Team:
        return await self._teams.of_workspace(addition.workspace, addition.details.get(TEAM))


def _message(addition: Addition, view: AdditionView) -> SlackMessage:
    text = format_command_names(view.text, NAMED_COMMANDS, in_thread=bool(addition.address.thread))
    return addition_message(replace(view, text=text), mark_of(addition.id, 1))
