"""The people who can read Discord's channels, threads and direct messages, as they are now (implements Audiences).

While the client is connected, its servers, channels and roles follow Discord's events. Without a connection, as in a
worker, they are asked for and kept for a minute. Members are always asked for, because Discord tells a bot without
the privileged intent nothing about their roles; they are kept for some seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar, cast

import discord

from bot.discordbot.delivery.errors import READ, translated_errors
from bot.discordbot.events.client import FootnoteClient, ShardedFootnoteClient
from bot.discordbot.events.permissions import MANAGE_THREADS, VIEW, ChannelRights, Holders, rights_of
from bot.discordbot.events.translate import PLATFORM
from bot.discordbot.events.workspaces import MAX_GUILDS
from core.access.bindings import Bindings
from core.domain.incoming import ThreadAddress
from core.domain.readers import EVERYONE, MEMBERS, Audience
from core.errors import AccessDenied, FootnoteError, NotFound, PlatformError
from core.ports import Clock

Found = TypeVar("Found")
Words = frozenset[str]

PLACES_KEPT = timedelta(minutes=1)
PEOPLE_KEPT = timedelta(seconds=10)
MOST_PEOPLE = 50  # who are looked up for one place
_CHANNEL = "channel:"

# Features of servers that people who are no members can look into: public channels, and voice channels.
_DISCOVERABLE = "DISCOVERABLE"
_HAS_GUESTS = "GUESTS_ENABLED"


class DiscordAudiences:
    """Looks up who can read a place of Discord."""

    def __init__(self, client: FootnoteClient | ShardedFootnoteClient, bindings: Bindings, clock: Clock) -> None:
        self._client = client
        self._bindings = bindings
        self._clock = clock
        self._kept: dict[tuple[str, int, int], tuple[datetime, object]] = {}  # end of its time, and Discord's reply

    async def of_place(self, address: ThreadAddress, named: Words) -> Audience:
        """Return everyone who can read the thread now; no parts if it doesn't exist or the bot can't see it."""
        channel = await self._channel(int(address.channel))
        if isinstance(channel, discord.DMChannel | discord.GroupChannel):
            people = [await self._of_person(address.workspace, one.id, named) for one in channel.recipients]
            return Audience.of(*people) if all(people) else Audience()
        if not isinstance(channel, discord.abc.GuildChannel):
            return Audience()
        guild = await self._guild(channel.guild.id)
        if guild is None or self._workspace_of(guild.id) != address.workspace:
            return Audience()
        place = _Place(rights_of(channel, guild), await self._rights(guild, named), named)
        if private := await self._private_thread(address, guild, place):
            return Audience(private)
        parts = await self._parts(guild, place, place.rights.holders(VIEW))
        parts |= _strangers(channel, guild, place)
        return Audience(parts) if parts else Audience.of(place.words(guild.id))  # else only administrators read it

    async def of_person(self, workspace: str, person: str, named: Words) -> Audience:
        """Return one person; no parts if they are in no server that reads the workspace."""
        words = await self._of_person(workspace, int(person), named)
        return Audience.of(words) if words else Audience()

    async def _of_person(self, workspace: str, person: int, named: Words) -> Words:
        """Return which readers a person is, over all servers that read the workspace."""
        guilds = await self._guilds(workspace)
        rights = [await self._rights(guild, named) for guild in guilds]
        found = await asyncio.gather(
            *(self._as_member(guild, person, there) for guild, there in zip(guilds, rights, strict=True))
        )
        return frozenset[str]().union(*found)

    async def _as_member(self, guild: discord.Guild, person: int, named: Sequence[ChannelRights]) -> Words:
        """Return which readers a person is as a member of a server; none if they aren't one."""
        member = await self._member(guild, person)
        return _words_of(member, named) if member is not None else frozenset()

    async def _parts(self, guild: discord.Guild, place: "_Place", holders: Holders) -> frozenset[Words]:
        """Return the people who read a place through a right; none if only administrators do."""
        if holders.everyone:
            return frozenset({place.words(guild.id)})
        roles = [place.words(role) for role in holders.roles]
        return frozenset([*roles, *await self._each(guild, place, holders.people)])

    async def _each(self, guild: discord.Guild, place: "_Place", people: Iterable[int]) -> list[Words]:
        """Return each of these readers of a place that is a member, and no administrator or bot."""
        those = sorted({*people} - {self._client.me})
        if not place.needs_people:
            return [frozenset({EVERYONE, MEMBERS, f"person:{one}", place.word}) for one in those]
        members = await asyncio.gather(*(self._member(guild, one) for one in those[:MOST_PEOPLE]))
        found = [
            _words_of(member, place.named) | {place.word}
            for member in members
            if member is not None and not member.bot and not place.rights.is_administrator(member.id, _roles(member))
        ]
        return found + [frozenset({EVERYONE}) for _ in those[MOST_PEOPLE:]]

    async def _private_thread(
        self, address: ThreadAddress, guild: discord.Guild, place: "_Place"
    ) -> frozenset[Words] | None:
        """Return the readers of a private thread, who all read its channel.

        None if the channel's readers have to stand for them: in public threads, if Discord doesn't list the members
        (which takes an intent), and if everyone may manage threads.
        """
        thread = await self._thread(int(address.thread)) if address.thread.isdigit() else None
        if not isinstance(thread, discord.Thread) or not thread.is_private():
            return None
        members = await self._ask(("members of", guild.id, thread.id), thread.fetch_members, PEOPLE_KEPT)
        moderators = place.rights.holders(MANAGE_THREADS)
        if not members or len(members) > MOST_PEOPLE or moderators.everyone or str(thread.parent_id) != address.channel:
            return None
        people = await self._each(guild, place, [one.id for one in members])
        return frozenset(people) | await self._parts(guild, place, moderators) or None

    async def _guilds(self, workspace: str) -> list[discord.Guild]:
        """Return the servers that read a workspace; at most MAX_GUILDS, because each is asked for the person."""
        if self._client.is_current:
            ids = [guild.id for guild in self._client.guilds]
        else:
            ids = [int(one.team.id) for one in self._bindings.all() if one.team.platform == PLATFORM]
        those = [id for id in ids if self._workspace_of(id) == workspace][:MAX_GUILDS]
        found = await asyncio.gather(*map(self._guild, those))
        return [guild for guild in found if guild is not None]

    async def _rights(self, guild: discord.Guild, named: Words) -> list[ChannelRights]:
        """Return the permissions of the named channels of a server, as far as the bot sees them."""
        ids = [word.removeprefix(_CHANNEL) for word in named if word.startswith(_CHANNEL)]
        channels = await asyncio.gather(*(self._channel(int(id)) for id in ids if id.isdigit()))
        return [
            rights_of(channel, guild)
            for channel in channels
            if isinstance(channel, discord.abc.GuildChannel) and channel.guild.id == guild.id
        ]

    def _workspace_of(self, guild_id: int) -> str:
        return self._bindings.workspace_of(PLATFORM, str(guild_id))

    async def _channel(self, id: int) -> object:
        """Return a channel; None if it doesn't exist or the bot can't see it."""
        known = self._client.get_channel(id) if self._client.is_current else None
        if isinstance(known, discord.abc.GuildChannel) and not known.guild.unavailable:
            me: discord.Member | None = known.guild.me
            return known if me is not None and known.permissions_for(me).view_channel else None
        return await self._ask(("channel", 0, id), lambda: self._client.fetch_channel(id), PLACES_KEPT)

    async def _thread(self, id: int) -> object:
        """Return a thread. A connected client knows all open ones, not the archived ones and those not yet begun."""
        return self._client.get_channel(id) if self._client.is_current else await self._channel(id)

    async def _guild(self, id: int) -> discord.Guild | None:
        known = self._client.get_guild(id) if self._client.is_current else None
        if known is not None and not known.unavailable:
            return known
        return await self._ask(("server", id, 0), lambda: self._client.fetch_guild(id, with_counts=False), PLACES_KEPT)

    async def _member(self, guild: discord.Guild, person: int) -> discord.Member | None:
        return await self._ask(("member", guild.id, person), lambda: guild.fetch_member(person), PEOPLE_KEPT)

    async def _ask(
        self, key: tuple[str, int, int], fetch: Callable[[], Awaitable[Found]], kept: timedelta
    ) -> Found | None:
        """Return Discord's reply, perhaps of a moment ago; None if it doesn't exist or the bot may not see it.

        Raises PlatformError if Discord doesn't answer.
        """
        now = self._clock.now()
        if key in self._kept and now < self._kept[key][0]:
            return cast("Found | None", self._kept[key][1])
        found: Found | None
        try:
            with translated_errors(READ):
                found = await fetch()
        except (NotFound, AccessDenied, discord.InvalidData):  # the last: a new kind of channel
            found = None
        except FootnoteError as error:
            raise PlatformError("Discord did not answer.") from error
        self._kept = {other: entry for other, entry in self._kept.items() if now < entry[0]}
        self._kept[key] = (now + kept, found)
        return found


class _Place:
    """A channel, with the named channels of its server."""

    def __init__(self, rights: ChannelRights, channels: Sequence[ChannelRights], named: Words) -> None:
        """`channels` are the ones in `named`."""
        self.rights = rights
        self.named = channels
        self.word = f"{_CHANNEL}{rights.channel}"
        # Their roles matter only to readers like roles and other channels. A voice channel may have guests.
        self.needs_people = bool(named - {EVERYONE, MEMBERS, self.word}) or len(rights.to_read) > 1

    def words(self, role: int) -> Words:
        """Return which readers all people are who have a role and read this channel."""
        surely = {f"{_CHANNEL}{other.channel}" for other in self.named if other.all_can_read(role)}
        own = set() if role == self.rights.everyone else {f"role:{role}"}
        return frozenset({EVERYONE, MEMBERS, self.word, *surely, *own})


def _words_of(member: discord.Member, named: Iterable[ChannelRights]) -> Words:
    """Return which readers a member is. A guest of a voice channel is no member in this sense."""
    if member.flags.guest:
        return frozenset({EVERYONE, f"person:{member.id}"})
    roles = _roles(member)
    channels = {f"{_CHANNEL}{there.channel}" for there in named if there.can_read(member.id, roles)}
    return frozenset({EVERYONE, MEMBERS, f"person:{member.id}", *(f"role:{role}" for role in roles), *channels})


def _roles(member: discord.Member) -> list[int]:
    return [role.id for role in member.roles if not role.is_default()]


def _strangers(channel: discord.abc.GuildChannel, guild: discord.Guild, place: _Place) -> frozenset[Words]:
    """Return the readers of a channel who aren't members: visitors of a listed server, and invited guests."""
    is_listed = _DISCOVERABLE in guild.features and place.rights.holders(VIEW).everyone
    has_voice = isinstance(channel, discord.VoiceChannel | discord.StageChannel)
    if is_listed or (has_voice and _HAS_GUESTS in guild.features):
        return frozenset({frozenset({EVERYONE, place.word})})
    return frozenset()
