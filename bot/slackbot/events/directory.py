"""People and channels, looked up in Slack and cached: names, administrators, and channels of several companies."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.slackbot.events.teams import Team
from bot.slackbot.events.translate import FILES_ALONE
from bot.slackbot.web_api import CLOSED, LOOK_UP, call
from core.domain.incoming import ChannelAddress, IncomingMessage
from core.domain.service import Decision
from core.errors import AccessDenied, FootnoteError
from core.ports import Clock
from core.ports.service import SettingsRepository
from core.service.inbox import Gate, platform_gates

KEPT_SECONDS = 3600.0
ROLE_SECONDS = 60.0  # for roles that only decide on reading and on words
KEPT_UNKNOWN_SECONDS = 60.0  # after a failed lookup
MOST_KEPT = 5_000
MOST_ASKED = 50  # per message: one with thousands of mentions must not delay the others
WAIT_SECONDS = 0.5  # before an acknowledgement, for which Slack waits three
NAME_SECONDS = 5.0  # after it, for a name that others will read
ADMIN_WAIT_SECONDS = 2.0  # for permissions, which are worth a longer wait
ROLE_UNKNOWN = "I couldn't ask Slack for your role, so I changed nothing. Try again in a minute."
_log = logging.getLogger(__name__)
EXTERNAL = "external"  # metadata key of messages in channels that other companies read
CHANNEL_SECONDS = 600.0
MOST_CHANNELS = 5_000
READS_ALONG = Decision(
    code="other_companies",
    sentence=(
        "People from another company can read this channel. First, an admin has to choose its sources with "
        "/settings sources."
    ),
    accepted=False,
)
FILES_WITHOUT_A_QUESTION = Decision(
    code="files_alone",
    sentence="You sent files without a question. Ask about them in their thread, or add them to the library.",
    accepted=False,
)
_LOOK = "look the channel up"
_SETTINGS = "/settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """A person's roles in a workspace, as Slack tells them now."""

    is_admin: bool  # administrator or owner
    may_add: bool  # documents
    may_review: bool = False  # proposals


@dataclass(frozen=True, slots=True, kw_only=True)
class _Person:
    name: str  # "" if unknown
    is_admin: bool = False
    is_full_member: bool = False
    until: float  # monotonic time
    roles_until: float


class People:
    """Names by user id, cached for an hour, and roles. A lookup that takes too long returns the id.

    Besides administrators, the members of the user groups `library_groups` may add documents, and those of
    `review_groups` review proposals. What changes something asks for `roles`, which are never cached.
    """

    def __init__(self, clock: Clock, library_groups: Sequence[str] = (), review_groups: Sequence[str] = ()) -> None:
        self._clock = clock
        self._library_groups = tuple(library_groups)
        self._review_groups = tuple(review_groups)
        self._kept: OrderedDict[tuple[str, str], _Person] = OrderedDict()
        self._asked: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def name(self, team: Team, user_id: str, *, wait_seconds: float = NAME_SECONDS) -> str:
        """Return the display name, or the id if it isn't known in time; the lookup continues for the next call."""
        names = await self.names(team, [user_id], wait_seconds=wait_seconds)
        return names.get(user_id, user_id)

    async def names(
        self, team: Team, user_ids: Iterable[str], *, wait_seconds: float = WAIT_SECONDS
    ) -> Mapping[str, str]:
        """Return display names by id, as far as they are known in time. At most 50 are looked up at once."""
        wanted = [user_id for user_id in dict.fromkeys(user_ids) if user_id]
        await self._look_up(team, wanted, wait_seconds)
        return self.known(team, wanted)

    def known(self, team: Team, user_ids: Iterable[str]) -> Mapping[str, str]:
        """Return cached names by id."""
        found = ((user_id, self._find(team, user_id)) for user_id in user_ids)
        return {user_id: person.name for user_id, person in found if person is not None and person.name}

    async def is_admin(self, team: Team, user_id: str) -> bool:
        """Return whether the person ran the workspace within the last minute; False if that can't be looked up."""
        person = await self._with_roles(team, user_id)
        return person is not None and person.is_admin

    async def is_full_member(self, team: Team, user_id: str) -> bool:
        """Return whether the person belonged to the workspace within the last minute, and was no guest.

        False if that can't be looked up.
        """
        person = await self._with_roles(team, user_id)
        return person is not None and person.is_full_member

    async def roles(self, team: Team, user_id: str) -> Roles:
        """Ask Slack for the person's present roles. Raises AccessDenied with a sentence for people if that fails."""
        try:
            async with asyncio.timeout(ADMIN_WAIT_SECONDS):
                person = await self._ask(team, user_id, ADMIN_WAIT_SECONDS)
                may_add = person.is_admin or await self._is_in(team, self._library_groups, user_id)
                may_review = person.is_admin or await self._is_in(team, self._review_groups, user_id)
        except (FootnoteError, TimeoutError) as error:
            _log.warning("The roles of %s can't be looked up: %s", user_id, error)
            raise AccessDenied(ROLE_UNKNOWN) from error
        return Roles(is_admin=person.is_admin, may_add=may_add, may_review=may_review)

    async def _is_in(self, team: Team, groups: Sequence[str], user_id: str) -> bool:
        for group in groups:
            if user_id in await self._members(team, group):
                return True
        return False

    async def _members(self, team: Team, group: str) -> frozenset[str]:
        """Return a user group's members; empty if it isn't one of the team's, or can't be read by the app."""
        read = team.client.usergroups_users_list
        try:
            reply = await call(
                LOOK_UP, lambda: read(usergroup=group, team_id=team.id), retry_seconds=ADMIN_WAIT_SECONDS
            )
        except CLOSED as error:
            _log.warning("The members of the user group %s can't be looked up: %s", group, error)
            return frozenset()
        return frozenset(map(str, reply.get("users") or ()))

    async def close(self) -> None:
        """Cancel lookups."""
        asked = set(self._asked.values())
        for task in asked:
            task.cancel()
        if asked:
            await asyncio.wait(asked)

    async def _with_roles(self, team: Team, user_id: str) -> _Person | None:
        """Return a person whose roles are at most a minute old."""
        person = self._kept.get((team.id, user_id))
        if person is None or person.roles_until <= self._clock.monotonic():
            self._kept.pop((team.id, user_id), None)
            await self._look_up(team, [user_id], ADMIN_WAIT_SECONDS)
        return self._find(team, user_id)

    async def _look_up(self, team: Team, user_ids: Sequence[str], wait_seconds: float) -> None:
        missing = [user_id for user_id in user_ids if self._find(team, user_id) is None][:MOST_ASKED]
        for key in ((team.id, user_id) for user_id in missing):
            if key not in self._asked:  # one task for all callers
                self._asked[key] = asyncio.create_task(self._fetch(team, key[1]))
                self._asked[key].add_done_callback(partial(self._forget, key))
        if missing:
            await asyncio.wait({self._asked[team.id, user_id] for user_id in missing}, timeout=wait_seconds)

    def _forget(self, key: tuple[str, str], task: "asyncio.Task[None]") -> None:
        self._asked.pop(key, None)

    async def _fetch(self, team: Team, user_id: str) -> None:
        try:
            await self._ask(team, user_id, 0.0)
        except FootnoteError as error:
            _log.info("The name of %s can't be looked up: %s", user_id, error)
            unknown = _Person(name="", until=KEPT_UNKNOWN_SECONDS, roles_until=KEPT_UNKNOWN_SECONDS)
            self._keep(team, user_id, unknown)

    async def _ask(self, team: Team, user_id: str, retry_seconds: float) -> _Person:
        """Return a person as Slack knows them now, and keep them."""
        read = team.client.users_info
        user = (await call(LOOK_UP, lambda: read(user=user_id), retry_seconds=retry_seconds))["user"]
        profile = user.get("profile") or {}
        name = profile.get("display_name") or profile.get("real_name") or user.get("real_name") or user.get("name")
        runs_team = any(user.get(role) for role in ("is_admin", "is_owner", "is_primary_owner"))
        # people of another company may be administrators there
        is_ours = team.id in (user.get("team_id"), *((user.get("enterprise_user") or {}).get("teams") or ()))
        is_guest = any(user.get(kind) for kind in ("is_restricted", "is_ultra_restricted", "is_stranger"))
        person = _Person(
            name=str(name or ""),
            is_admin=runs_team and is_ours,
            is_full_member=is_ours and not is_guest,
            until=KEPT_SECONDS,
            roles_until=ROLE_SECONDS,
        )
        self._keep(team, user_id, person)
        return person

    def _keep(self, team: Team, user_id: str, person: _Person) -> None:
        """Keep a person whose times are still seconds from now."""
        key, now = (team.id, user_id), self._clock.monotonic()
        self._kept[key] = replace(person, until=now + person.until, roles_until=now + person.roles_until)
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def _find(self, team: Team, user_id: str) -> _Person | None:
        person = self._kept.get((team.id, user_id))
        return person if person is not None and person.until > self._clock.monotonic() else None


class Channels:
    """Channels that other companies share, cached for ten minutes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], tuple[bool, float]] = OrderedDict()

    def note(self, team: Team, channel: str, *, is_external: bool) -> None:
        """Cache the value that an event has."""
        key = team.id, channel
        self._kept[key] = is_external, self._clock.monotonic() + CHANNEL_SECONDS
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_CHANNELS:
            self._kept.popitem(last=False)

    async def is_external(self, team: Team, channel: str) -> bool:
        """Return whether other companies read a channel; True if that can't be looked up."""
        if not channel or channel.startswith("D"):  # the home tab, or a direct channel
            return False
        known = self._kept.get((team.id, channel))
        if known is not None and known[1] > self._clock.monotonic():
            return known[0]
        try:
            found = (await call(_LOOK, lambda: team.client.conversations_info(channel=channel)))["channel"]
        except FootnoteError as error:
            _log.warning("It is unknown whether other companies read %s: %s", channel, error)
            return True
        is_external = any(found.get(name) for name in ("is_ext_shared", "is_pending_ext_shared"))
        self.note(team, channel, is_external=is_external)
        return is_external


def slack_gates(settings: SettingsRepository, askers: Gate | None = None) -> tuple[Gate, ...]:
    """Return the gates of every platform; after the first, two for shared channels and for files without a question."""

    async def check(incoming: IncomingMessage) -> Decision | None:
        if EXTERNAL not in incoming.metadata or incoming.private or incoming.text.startswith(_SETTINGS):
            return None
        return READS_ALONG if await is_closed(settings, ChannelAddress.of(incoming.address)) else None

    async def check_question(incoming: IncomingMessage) -> Decision | None:
        return FILES_WITHOUT_A_QUESTION if FILES_ALONE in incoming.metadata else None

    for_us, *others = platform_gates(settings, askers)
    return (
        for_us,
        Gate(name="other companies", check=check, for_commands=True),
        Gate(name="files alone", check=check_question),
        *others,
    )


async def is_closed(settings: SettingsRepository, channel: ChannelAddress) -> bool:
    """Return whether the sources of a channel are still to be chosen."""
    return (await settings.channel(channel)).sources is None
