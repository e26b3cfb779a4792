"""The people who can read Slack's channels and direct messages, as they are now (implements Audiences).

All full members of a team can join its public channels. Private channels and group messages are read by their members,
and so are the channels of guests. Another company can add people to a shared channel at any time.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from bot.slackbot.events.manifest import READER_EVENTS
from bot.slackbot.events.teams import Team, Teams
from bot.slackbot.web_api import LOOK_UP, call, missing_scope
from core.domain.incoming import ThreadAddress
from core.domain.readers import EVERYONE, MEMBERS, Audience
from core.errors import AccessDenied, InvalidState, NotFound, PlatformError
from core.ports import Clock

KEPT_SECONDS = 60.0
MOST_KEPT = 100_000  # look-ups
MOST_ASKED = 30  # people who are looked up one by one: of more, the team's whole list is read
PAGE = 999  # the most that Slack lists at once
NO_ANSWER = "Slack did not answer"
_CHANNEL, _GROUP, _PERSON = "channel:", "group:", "person:"
_SLACKBOT = "USLACKBOT"  # Slack does not list it as a bot
_SHARED = ("is_ext_shared", "is_org_shared", "is_pending_ext_shared", "pending_shared")
Words = frozenset[str]
Kept = TypeVar("Kept")
Key = tuple[str, str, str]  # kind, team, id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Person:
    teams: Words
    is_guest: bool
    is_active: bool  # and no bot

    def is_in(self, team: Team) -> bool:
        return self.is_active and team.id in self.teams

    def is_full_member(self, team: Team) -> bool:
        return self.is_in(team) and not self.is_guest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Channel:
    id: str
    person: str  # of a direct message; "" elsewhere
    is_public: bool
    is_shared: bool  # with another team, or about to be


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """The channels and user groups of a team that sources name, each with the people in it."""

    public: Words
    people: Mapping[str, Words]  # by their reader


class SlackAudiences:
    """Looks up who can read a place of Slack."""

    def __init__(self, teams: Teams, clock: Clock) -> None:
        self._teams = teams
        self._known = _Directory(teams, clock)

    async def of_place(self, address: ThreadAddress, named: Words) -> Audience:
        """Return everyone who can read the thread now; no parts if it doesn't exist or the bot can't see it."""
        for team in self._of_workspace(address.workspace):
            channel = await self._known.channel(team, address.channel)
            if channel is not None:
                return await self._of_channel(team, channel, named)
        return Audience()

    async def of_person(self, workspace: str, person: str, named: Words) -> Audience:
        """Return one person; no parts if they are in no team that reads the workspace."""
        words: Words = frozenset()
        for team in self._of_workspace(workspace):
            found = (await self._known.people(team, [person])).get(person)
            if found is not None and found.is_in(team):
                words |= _words(team, person, found, named, await self._named(team, named))
        return Audience.of(words) if words else Audience()

    async def hear(self, body: Mapping[str, Any], next: Callable[[], Awaitable[None]]) -> None:
        """Forget the subjects of a change before its listener runs (middleware of slack_bolt)."""
        event = body.get("event")
        if isinstance(event, Mapping) and event.get("type") in READER_EVENTS:
            self._known.forget(*_ids_in(event))
        await next()

    async def _of_channel(self, team: Team, channel: _Channel, named: Words) -> Audience:
        if channel.person:
            return await self.of_person(team.workspace, channel.person, named)
        place = frozenset({EVERYONE, f"{_CHANNEL}{channel.id}"})
        if channel.is_shared:  # with people from elsewhere at any time; more is no use
            return Audience.of(place)
        members = await self._known.members(team, channel.id)
        people, there = await self._known.people(team, members), await self._named(team, named)
        parts = {place | {MEMBERS} | there.public} if channel.is_public else set()
        for id in members:
            person = people.get(id)
            if person is None:  # Slack doesn't say who they are
                parts.add(place)
            elif person.is_active and not (channel.is_public and person.is_full_member(team)):
                parts.add(place | _words(team, id, person, named, there))
        return Audience(frozenset(parts))

    async def _named(self, team: Team, named: Words) -> _Named:
        """Look up the named channels and user groups. Channels that the bot can't see are left out."""
        public, people = set[str](), dict[str, Words]()
        for word in sorted(named):
            if word.startswith(_GROUP):
                people[word] = await self._known.group(team, word.removeprefix(_GROUP))
            elif word.startswith(_CHANNEL):
                channel = await self._known.channel(team, word.removeprefix(_CHANNEL))
                if channel is None or channel.person:
                    continue
                if channel.is_public:
                    public.add(word)
                people[word] = frozenset(await self._known.members(team, channel.id))
        return _Named(public=frozenset(public), people=people)

    def _of_workspace(self, workspace: str) -> list[Team]:
        return [team for team in self._teams.all() if team.workspace == workspace]


class _Directory:
    """Channels, people and user groups of Slack, kept for a minute or until an event reports a change.

    Raises PlatformError with the reason if Slack doesn't answer.
    """

    def __init__(self, teams: Teams, clock: Clock) -> None:
        self._teams = teams
        self._clock = clock
        self._kept: dict[Key, tuple[float, object]] = {}  # until when
        self._forgotten: dict[str, float] = {}  # when, by id: earlier look-ups are not kept
        self._asking: defaultdict[Key, asyncio.Lock] = defaultdict(asyncio.Lock)

    def forget(self, *ids: str) -> None:
        now = self._clock.monotonic()
        self._forgotten = {id: at for id, at in self._forgotten.items() if now - at < KEPT_SECONDS}
        self._forgotten |= dict.fromkeys(ids, now)
        self._kept = {key: kept for key, kept in self._kept.items() if key[2] not in ids}

    async def channel(self, team: Team, id: str) -> _Channel | None:
        """Return a channel of the team; None if it doesn't exist or the bot can't see it."""

        async def ask() -> _Channel | None:
            reply = await _ask(lambda: team.client.conversations_info(channel=id))
            return self._read_channel(team, reply["channel"]) if reply is not None else None

        return await self._once(("channel", team.id, id), ask)

    async def members(self, team: Team, channel: str) -> Collection[str]:
        """Return the people in a channel, and its other bots."""

        async def ask() -> list[str]:
            found = _pages(lambda **page: team.client.conversations_members(channel=channel, **page), "members")
            return [str(id) async for id in found if id != team.bot_user_id]

        return await self._once(("members", team.id, channel), ask)

    async def group(self, team: Team, id: str) -> Words:
        """Return the people in a user group; empty if it isn't one of the team's."""

        async def ask() -> Words:
            reply = await _ask(lambda: team.client.usergroups_users_list(usergroup=id, team_id=team.id))
            return frozenset(map(str, (reply or {}).get("users") or ()))

        return await self._once(("group", team.id, id), ask)

    async def people(self, team: Team, ids: Iterable[str]) -> Mapping[str, _Person | None]:
        """Return people and bots by id; None for those whom Slack doesn't show, or doesn't list if they are many."""
        wanted = [*dict.fromkeys(ids)]
        async with self._asking["people", team.id, ""]:
            found = {id: self._find(("person", team.id, id)) for id in wanted}
            missing = [id for id in wanted if found[id] is None]
            if len(missing) > MOST_ASKED:
                listed = await self._list_people(team)
                found |= {id: listed[id] for id in missing if id in listed}
                missing = [id for id in missing if id not in listed]
            asked = await asyncio.gather(*(self._ask_person(team, id) for id in missing[:MOST_ASKED]))
        found |= dict(zip(missing, asked, strict=False))
        return {id: cast("_Person | None", person) for id, person in found.items()}

    async def _ask_person(self, team: Team, id: str) -> _Person | None:
        began = self._clock.monotonic()
        reply = await _ask(lambda: team.client.users_info(user=id))
        person = _read_person(reply["user"]) if reply is not None else None
        if person is not None:
            self._keep(("person", team.id, id), person, began)
        return person

    async def _list_people(self, team: Team) -> Mapping[str, _Person]:
        began, listed = self._clock.monotonic(), dict[str, _Person]()
        async for user in _pages(lambda **page: team.client.users_list(team_id=team.id, **page), "members"):
            listed[str(user["id"])] = _read_person(user)
        for id, person in listed.items():
            self._keep(("person", team.id, id), person, began)
        return listed

    def _read_channel(self, team: Team, found: Mapping[str, Any]) -> _Channel | None:
        """Return None for a channel of another team, which an organisation's token sees as well."""
        person = str(found.get("user") or "") if found.get("is_im") else ""
        teams = {str(id) for id in found.get("shared_team_ids") or [found.get("context_team_id")] if id}
        is_for_several = any(other.token == team.token and other.id != team.id for other in self._teams.all())
        if not person and team.id not in teams and (teams or is_for_several):
            return None
        return _Channel(
            id=str(found["id"]),
            person=person,
            is_public=not (found.get("is_private") or found.get("is_mpim") or found.get("is_im")),
            is_shared=any(found.get(name) for name in _SHARED) or bool(teams - {team.id}),
        )

    async def _once(self, key: Key, ask: Callable[[], Awaitable[Kept]]) -> Kept:
        """Return the kept result, else that of `ask`; callers at the same time wait for one answer."""
        async with self._asking[key]:
            if (kept := self._kept.get(key)) is not None and kept[0] > self._clock.monotonic():
                return cast("Kept", kept[1])
            began = self._clock.monotonic()
            found = await ask()
            self._keep(key, found, began)
            return found

    def _find(self, key: Key) -> object:
        until, found = self._kept.get(key, (0.0, None))
        return found if until > self._clock.monotonic() else None

    def _keep(self, key: Key, found: object, began: float) -> None:
        """Keep a result that was asked for at `began`, unless an event has reported a change since."""
        if self._forgotten.get(key[2], began - 1.0) >= began:
            return
        if len(self._kept) >= MOST_KEPT:
            now = self._clock.monotonic()
            self._kept = {other: entry for other, entry in self._kept.items() if entry[0] > now}
            self._asking = defaultdict(asyncio.Lock, {one: lock for one, lock in self._asking.items() if lock.locked()})
        self._kept[key] = (began + KEPT_SECONDS, found)


async def _ask(make: Callable[[], Awaitable[Any]]) -> Mapping[str, Any] | None:
    """Return Slack's reply; None if its subject doesn't exist, or the bot can't see it."""
    try:
        return cast("Mapping[str, Any]", await call(LOOK_UP, make))
    except (NotFound, InvalidState):
        return None
    except AccessDenied as error:
        scope = missing_scope(error)
        why = f"The app lacks the scope {scope}; `footnote doctor` says how to add it" if scope else str(error)
        raise PlatformError(why) from error
    except PlatformError as error:
        raise PlatformError(NO_ANSWER) from error


async def _pages(make: Callable[..., Awaitable[Any]], name: str) -> AsyncIterator[Any]:
    """Yield the items of all pages of a list."""
    cursor = ""
    while True:
        reply = await _ask(partial(make, limit=PAGE, **({"cursor": cursor} if cursor else {})))
        if reply is None:
            raise PlatformError(NO_ANSWER)
        for item in reply.get(name) or ():
            yield item
        cursor = str((reply.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return


def _words(team: Team, id: str, person: _Person, named: Words, there: _Named) -> Words:
    """Return which readers a person is, as far as sources name them."""
    found = {EVERYONE, *(word for word, people in there.people.items() if id in people)}
    if person.is_full_member(team):
        found |= {MEMBERS, *there.public}
    return frozenset(found | ({f"{_PERSON}{id}"} & named))


def _read_person(user: Mapping[str, Any]) -> _Person:
    own = [user.get("team_id"), *((user.get("enterprise_user") or {}).get("teams") or ())]
    is_bot = user.get("is_bot") or user.get("id") == _SLACKBOT
    return _Person(
        teams=frozenset(str(team) for team in own if team),
        is_guest=any(user.get(kind) for kind in ("is_restricted", "is_ultra_restricted", "is_stranger")),
        is_active=not (user.get("deleted") or is_bot),
    )


def _ids_in(event: Mapping[str, Any]) -> Iterator[str]:
    for name in ("channel", "user", "subteam", "subteam_id", "old_channel_id", "new_channel_id"):
        value = event.get(name)
        id = value.get("id") if isinstance(value, Mapping) else value
        if id:
            yield str(id)
