"""The posts that this process works on: which messages show them, and that none of them is there twice.

Slack drops no repeats. So where a message may be that nobody told us of, the place is looked through before another
one is posted.
"""

from dataclasses import dataclass, field
from datetime import timedelta

from bot.presentation.action_names import post_id
from bot.slackbot.destinations import NO_MESSAGE, Place
from bot.slackbot.layout import SlackMessage, SlackPost
from bot.slackbot.translate import ts_of
from core.domain.service import PostRef
from core.errors import PlatformError

SKEW = timedelta(minutes=1)  # between our clock, which names private questions, and Slack's


@dataclass(slots=True)
class Parts:
    """What this process knows of a post's messages. `place` is where they are, once it has one."""

    ids: dict[int, str] = field(default_factory=dict)  # number of a part, from 1 -> `ts`
    place: Place | None = None
    looked_to: str = ""  # up to which message the place was looked through
    looked_in: int = 0  # in which of the entry's attempts that was
    is_uncertain: bool = False  # there may be one more: Slack did not say whether it took it


class Posts:
    """By posting key. Raises core errors."""

    def __init__(self) -> None:
        self._parts: dict[str, Parts] = {}

    def begin(self, key: str) -> Parts:
        """What is known of a post, from now on at least nothing."""
        return self._parts.setdefault(key, Parts())

    def find(self, key: str) -> Parts | None:
        return self._parts.get(key)

    def forget(self, key: str) -> None:
        self._parts.pop(key, None)

    async def look(self, place: Place, key: str, attempt: int) -> None:
        """Look for parts that an earlier try posted, once in an attempt; goes on where a pause interrupted it.

        `attempt` 0 is none in particular.
        """
        parts = self.begin(key)
        if parts.looked_in == attempt and attempt and not parts.is_uncertain:
            return
        after = parts.looked_to or _begin_of(key)
        async for seen in place.look(post_id(key), after):
            parts.ids = {**seen.parts, **parts.ids}
            parts.looked_to = seen.seen_to
        parts.looked_in, parts.is_uncertain = attempt, False

    async def finish(self, place: Place, key: str, post: SlackPost) -> PostRef:
        """The whole post; what a longer draft, or an earlier answer, had more of is deleted."""
        for number, part in enumerate(post.parts, start=1):
            await self._show_part(place, key, number, part)
        parts = self.begin(key).ids
        self.forget(key)
        for number in [number for number in parts if number > len(post.parts)]:
            await place.delete(parts.pop(number))
        return f"{place.id}/{','.join(parts[number] for number in sorted(parts))}" if parts else ""

    async def take_back(self, key: str) -> None:
        """Delete what was posted so far."""
        parts = self.find(key)
        if parts is not None and parts.place is not None:
            if parts.is_uncertain:
                await self.look(parts.place, key, 0)
            for ts in parts.ids.values():
                await parts.place.delete(ts)
        self.forget(key)

    async def _show_part(self, place: Place, key: str, number: int, part: SlackMessage) -> None:
        """One message of a post: changed where it is known, else sent."""
        parts = self.begin(key)
        parts.place = place
        if number in parts.ids and await place.edit(parts.ids[number], part):
            return
        parts.ids.pop(number, None)
        try:
            ts = await place.send(part)
        except PlatformError as error:
            parts.is_uncertain |= error.retry_after_seconds is None
            raise
        if ts != NO_MESSAGE:
            parts.ids[number] = ts


def _begin_of(key: str) -> str:
    """Where to begin to look for a post: at its question; for a note, which has none, at the thread's beginning."""
    try:
        return f"{float(ts_of(key)) - SKEW.total_seconds():.6f}"
    except ValueError:
        return "0"
