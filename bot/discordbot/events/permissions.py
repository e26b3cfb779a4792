"""The people who can read a channel, by Discord's rules of permissions. Pure.

Rights in the server come from roles. A channel overwrites them in this order: for @everyone, for the person's other
roles together (an allowing role wins over a denying one), for the person. Administrators have every
right. (https://discord.com/developers/docs/topics/permissions; a category's overwrites are copied into its channels.)
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import discord

ADMINISTRATOR = discord.Permissions(administrator=True).value
VIEW = discord.Permissions(view_channel=True).value
CONNECT = discord.Permissions(connect=True).value  # the chat of a voice channel needs it
MANAGE_THREADS = discord.Permissions(manage_threads=True).value  # shows private threads, too

Overwrite: TypeAlias = tuple[int, int]  # allowed, denied
_NONE: Overwrite = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holders:
    """Everyone who may have a right, but for administrators: all members, or some roles and people."""

    everyone: bool
    roles: Collection[int] = ()
    people: Collection[int] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRights:
    """The permissions of one channel."""

    channel: int
    everyone: int  # the role @everyone, which has the server's id
    owner: int | None
    roles: Mapping[int, int]  # role -> its rights in the server; also @everyone
    bots: frozenset[int]  # roles that no person has
    of_roles: Mapping[int, Overwrite]
    of_people: Mapping[int, Overwrite]
    to_read: tuple[int, ...] = (VIEW,)  # the rights that reading it takes

    def can_read(self, person: int, roles: Iterable[int]) -> bool:
        """Return whether a member with these roles can read the channel."""
        held = {self.everyone, *roles} & self.roles.keys()
        rights = _union(self.roles[role] for role in held)
        if person == self.owner or rights & ADMINISTRATOR:
            return True
        own = [self.of_roles.get(role, _NONE) for role in held - {self.everyone}]
        together = _union(allowed for allowed, _ in own), _union(denied for _, denied in own)
        for allowed, denied in (self.of_roles.get(self.everyone, _NONE), together, self.of_people.get(person, _NONE)):
            rights = rights & ~denied | allowed
        return all(rights & right for right in self.to_read)

    def is_administrator(self, person: int, roles: Iterable[int]) -> bool:
        return person == self.owner or any(self.roles.get(role, 0) & ADMINISTRATOR for role in (self.everyone, *roles))

    def all_can_read(self, role: int) -> bool:
        """Return whether every member with a role can read the channel, also with more roles."""
        if self.roles[self.everyone] & ADMINISTRATOR:
            return True
        return all(self._is_sure(role, right) for right in self.to_read)

    def _is_sure(self, role: int, right: int) -> bool:
        if any(denied & right for _, denied in self.of_people.values()):
            return False
        others = {id: overwrite for id, overwrite in self.of_roles.items() if id != self.everyone}
        if others.get(role, _NONE)[0] & right:
            return True
        if any(denied & right for id, (_, denied) in others.items() if id not in self.bots):
            return False
        return self._is_given(self.everyone, right) or self._is_given(role, right)

    def _is_given(self, role: int, right: int) -> bool:
        """Return whether a role brings a right before the overwrites of roles other than @everyone."""
        allowed, denied = self.of_roles.get(self.everyone, _NONE)
        return bool((self.roles[role] & ~denied | allowed) & right)

    def holders(self, right: int) -> Holders:
        """Return who may have a right: of the others, only administrators have it; some of these may lack it."""
        if self.roles[self.everyone] & ADMINISTRATOR or self._is_given(self.everyone, right):
            return Holders(everyone=True)
        roles = [role for role in self.roles if self._brings(role, right)]
        people = [person for person, (allowed, _) in self.of_people.items() if allowed & right]
        return Holders(everyone=False, roles=roles, people=people)

    def _brings(self, role: int, right: int) -> bool:
        if role == self.everyone or role in self.bots or self.roles[role] & ADMINISTRATOR:
            return False
        allowed, denied = self.of_roles.get(role, _NONE)
        return bool(allowed & right) or (not denied & right and self._is_given(role, right))


def rights_of(channel: discord.abc.GuildChannel, guild: discord.Guild) -> ChannelRights:
    """Read a channel's permissions; `guild` has the server's roles."""
    of_roles: dict[int, Overwrite] = {}
    of_people: dict[int, Overwrite] = {}
    for target, overwrite in channel.overwrites.items():
        allowed, denied = overwrite.pair()
        kind = target.type if isinstance(target, discord.Object) else type(target)
        (of_roles if kind is discord.Role else of_people)[target.id] = allowed.value, denied.value
    has_voice = isinstance(channel, discord.VoiceChannel | discord.StageChannel)
    return ChannelRights(
        channel=channel.id,
        everyone=guild.id,
        owner=guild.owner_id,
        roles={guild.id: 0} | {role.id: role.permissions.value for role in guild.roles},
        bots=frozenset(role.id for role in guild.roles if role.is_bot_managed()),
        of_roles=of_roles,
        of_people=of_people,
        to_read=(VIEW, CONNECT) if has_voice else (VIEW,),
    )


def _union(rights: Iterable[int]) -> int:
    found = 0
    for each in rights:
        found |= each
    return found
