"""The first post in a channel that the bot was invited to, made once."""

import logging
from functools import partial

from bot.presentation.action_names import post_id
from bot.presentation.additions import AdditionView
from bot.presentation.greeting import GREETING, greeting_lines
from bot.presentation.platform_parts import Pause
from bot.slackbot.actions.interaction_handler import InteractionHandler
from bot.slackbot.delivery.destinations import ChannelDestination
from bot.slackbot.events.command_text import MENTION, format_command_names
from bot.slackbot.events.directory import READS_ALONG, is_closed
from bot.slackbot.events.teams import PLATFORM, Team, Teams
from bot.slackbot.events.translate import CHANNEL_ITSELF, TEAM, thread_address
from bot.slackbot.rendering.answers import mark_of
from bot.slackbot.rendering.blocks import FLAVOUR
from bot.slackbot.rendering.lists import addition_message
from bot.slackbot.web_api import CLOSED, call
from core.domain.answer import Provenance
from core.domain.incoming import ChannelAddress, IncomingMessage, ThreadAddress
from core.errors import FootnoteError, PlatformError

AT_ONCE = 200  # channels of a page
LIST = "list my channels"
ATTEMPTS = 5  # while Slack doesn't answer; the next start tries again
RETRY_SECONDS = 30.0
HOW_TO_ADD = (
    "To add documents, choose *Add to the library* in the menu of a message with files, or use /library add. If you "
    "aren't an admin, an admin confirms them first."
)
_log = logging.getLogger(__name__)


class Greetings:
    def __init__(self, handler: InteractionHandler, teams: Teams) -> None:
        self._handler = handler
        self._teams = teams
        self._greeting: set[str] = set()  # places, by team and channel

    async def owe(self, team: Team, channel: str) -> None:
        """Greet a channel in the background, unless it was greeted before. Raises StorageError."""
        place = f"{team.id}/{channel}"
        if await self._handler.parts.teams.owe_greeting(PLATFORM, place):
            self._begin(place, may_exist=False)

    async def resume(self) -> None:
        """Greet the channels that earlier processes left, and those joined meanwhile. Raises StorageError."""
        await self._resume_owed()
        self._handler.spawn(self._greet_new())

    async def _greet_new(self) -> None:
        """Greet the channels that the bot was invited to while no process ran: Slack repeats those events no longer."""
        for team in self._teams.all():
            try:
                channels = await _joined(team, self._handler.parts.pause)
                places = [f"{team.id}/{channel}" for channel in channels]
                await self._handler.parts.teams.record_joined(PLATFORM, team.id, places)
                await self._resume_owed()
            except FootnoteError as error:
                _log.warning("New channels of %s were not greeted: %s", team.name, error)

    async def _resume_owed(self) -> None:
        for place in await self._handler.parts.teams.owed_greetings(PLATFORM):
            if "/" in place:  # a team itself has no place to write in
                self._begin(place, may_exist=True)

    def _begin(self, place: str, *, may_exist: bool) -> None:
        if place not in self._greeting:
            self._greeting.add(place)
            self._handler.spawn(self._greet(place, may_exist=may_exist))

    async def _greet(self, place: str, *, may_exist: bool) -> None:
        """Post, and try again while Slack can't be reached. A channel without the bot stays owed."""
        try:
            for _ in range(ATTEMPTS):
                try:
                    await self._post(place, may_exist=may_exist)
                    await self._handler.parts.teams.greeted(PLATFORM, place)
                    return
                except PlatformError as error:
                    _log.info("The channel %s has to wait for its greeting: %s", place, error)
                    may_exist = True
                    await self._handler.parts.pause(RETRY_SECONDS)
        except CLOSED as error:
            _log.info("The channel %s is not greeted: %s", place, error)
        except FootnoteError as error:
            _log.warning("The channel %s was not greeted: %s", place, error)
        finally:
            self._greeting.discard(place)

    async def _post(self, place: str, *, may_exist: bool) -> None:
        team_id, _, channel = place.partition("/")
        team, key = await self._teams.get(team_id), post_id(f"{GREETING}:{place}")
        destination = ChannelDestination(team, channel, CHANNEL_ITSELF, self._handler.parts.pause)
        if may_exist:
            async for found, _ in destination.find_parts(key, "0"):
                if found:
                    return
                break  # an earlier process posted it just now, if at all
        address = thread_address(team.workspace, channel, CHANNEL_ITSELF)
        lines, rests_on = await self._lines(team, channel, address)
        text = format_command_names("\n\n".join(lines), self._handler.parts.commands.table, in_thread=False)
        ts = await destination.send(addition_message(AdditionView(text=text), mark_of(key, 1)))
        shown = IncomingMessage(
            address=address, author="", text="", event_key=f"{GREETING}:{place}", metadata={TEAM: team.id}
        )
        await self._handler.parts.entries.note_shown(shown, f"{channel}/{ts}", rests_on)

    async def _lines(self, team: Team, channel: str, address: ThreadAddress) -> tuple[list[str], Provenance]:
        is_external = await self._handler.channels.is_external(team, channel)
        if is_external and await is_closed(self._handler.parts.settings, ChannelAddress.of(address)):
            return [READS_ALONG.sentence, HOW_TO_ADD], Provenance()
        return await greeting_lines(
            self._handler.parts, address, plain=FLAVOUR.plain, mention=MENTION, how_to_add=HOW_TO_ADD
        )


async def _joined(team: Team, pause: Pause) -> list[str]:
    """Return the channels that the bot is in. Raises core errors."""
    found, cursor = list[str](), ""
    while True:
        reply = await call(
            LIST,
            partial(
                team.client.users_conversations,
                types="public_channel,private_channel",
                exclude_archived=True,
                limit=AT_ONCE,
                team_id=team.id,
                cursor=cursor or None,
            ),
            pause=pause,
        )
        found += [str(one["id"]) for one in reply.get("channels") or ()]
        cursor = str((reply.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return found
