"""Sessions of the agent messaging experience, and the assistant's status of older apps, behind one interface.

Slack has no method that tells which view an app has. Events tell it, and refusals: the newer method is tried first, and
a refusal is remembered for the team. A session's status has no words and stays, so that it has to be ended; the older
status has words, and goes with the next message. It ends in February 2027.
"""

import logging
from typing import Any

from bot.presentation.platform_parts import Pause
from bot.slackbot.events.teams import PLATFORM, Team
from bot.slackbot.web_api import call, name_of
from core.domain.incoming import ThreadAddress
from core.errors import FootnoteError

WORDS = "is looking it up…"  # Slack puts the app's name before it
MAX_TITLE = 200  # characters
PROCESSING, ACTIVE, SUSPENDED = "processing", "active", "suspended"  # suspended: a person has to choose
# Refusals of an app that isn't declared an agent, or of a Slack that doesn't know sessions yet.
NO_AGENT = frozenset(
    {"not_authorized", "unknown_method", "missing_scope", "feature_disabled", "invalid_arguments", "not_allowed"}
)
_SHOW = "show that I am at work"
_NAME = "name the thread"
_log = logging.getLogger(__name__)


class Sessions:
    def __init__(self, pause: Pause) -> None:
        self._pause = pause
        self._is_agent: dict[str, bool] = {}  # by team

    def note(self, team: Team, *, is_agent: bool) -> None:
        """Note the kind of the team's app, as an event shows it."""
        self._is_agent[team.id] = is_agent

    def is_agent(self, team: Team) -> bool | None:
        """Return whether the app has the agent view; None if that is unknown."""
        return self._is_agent.get(team.id)

    async def begin(self, team: Team, channel: str, thread: str, *, asker: str, title: str) -> None:
        """Show that the bot is at work. Raises core errors."""
        about = {"initiator_user_id": asker, "title": title[:MAX_TITLE] or None}
        if not await self._set(team, channel, thread, PROCESSING, **about):
            await self._set_words(team, channel, thread, WORDS)

    async def end(self, team: Team, channel: str, thread: str) -> None:
        """End the sign. Raises core errors."""
        if not await self._set(team, channel, thread, ACTIVE):
            await self._set_words(team, channel, thread, "")

    async def settle(self, team: Team, channel: str, thread: str, status: str = ACTIVE) -> bool:
        """Set a session's status; return False if the app has no sessions. Failures are logged."""
        try:
            return await self._set(team, channel, thread, status)
        except FootnoteError as error:
            _log.info("The session %s of %s is not %s: %s", thread, channel, status, error)
            return True

    async def name_thread(self, team: Team, address: ThreadAddress, title: str) -> None:
        """Set the title under which the pane lists a thread. Threads elsewhere are ignored, failures logged."""
        if address.platform == PLATFORM and address.channel.startswith("D") and address.thread:
            await self.rename(team, address.channel, address.thread, title)

    async def rename(self, team: Team, channel: str, thread: str, title: str) -> None:
        """Set the title of a thread. Failures are logged."""
        client, shown = team.client, title[:MAX_TITLE]
        try:
            if self.is_agent(team):
                await call(
                    _NAME,
                    lambda: client.agents_sessions_rename(channel_id=channel, thread_ts=thread, title=shown),
                    pause=self._pause,
                )
            else:
                await call(
                    _NAME,
                    lambda: client.assistant_threads_setTitle(channel_id=channel, thread_ts=thread, title=shown),
                    pause=self._pause,
                )
        except FootnoteError as error:  # also for threads of the direct channel outside the pane
            _log.info("The thread %s of %s keeps its name: %s", thread, channel, error)

    async def _set(self, team: Team, channel: str, thread: str, status: str, **about: Any) -> bool:
        """Set a session's status; return False if the app has no sessions."""
        if self.is_agent(team) is False:
            return False
        client = team.client
        try:
            await call(
                _SHOW,
                lambda: client.agents_sessions_setStatus(channel_id=channel, thread_ts=thread, status=status, **about),
                retry_seconds=0.0,
            )
        except FootnoteError as error:
            if self.is_agent(team) or name_of(error) not in NO_AGENT:
                raise
            _log.warning("The app in %s has no agent view, so its status is the assistant's: %s", team.name, error)
            self._is_agent[team.id] = False
            return False
        self._is_agent[team.id] = True
        return True

    async def _set_words(self, team: Team, channel: str, thread: str, words: str) -> None:
        await call(
            _SHOW,
            lambda: team.client.assistant_threads_setStatus(channel_id=channel, thread_ts=thread, status=words),
            retry_seconds=0.0,
        )
