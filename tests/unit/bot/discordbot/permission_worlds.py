"""Servers with random permissions, and who can read their channels by discord.py's own rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import discord
from hypothesis import strategies as st

from bot.discordbot.events.audiences import DiscordAudiences
from bot.discordbot.events.client import FootnoteClient
from core.domain.incoming import ThreadAddress
from tests.fakes import ManualClock

SERVER, OWNER, ME = 1000, 1, 2
ROLES, PEOPLE, CHANNELS = (501, 502, 503), (11, 12, 13, 14), (901, 902, 903)
VIEW, SEND, ADMIN = (
    discord.Permissions(**{name: True}).value for name in ("view_channel", "send_messages", "administrator")
)
TEXT, VOICE = 0, 2

RIGHTS = st.sampled_from((0, 0, VIEW, VIEW, SEND, ADMIN))
OVERWRITES = st.dictionaries(
    st.sampled_from((SERVER, *ROLES, *PEOPLE)),
    st.sampled_from(((VIEW, 0), (0, VIEW), (SEND, 0), (0, SEND))),
    max_size=5,
)


@dataclass(frozen=True)
class PermissionWorld:
    rights: Mapping[int, int] = field(default_factory=dict)  # of roles, also of @everyone
    overwrites: Mapping[int, Mapping[int, tuple[int, int]]] = field(default_factory=dict)  # of channels
    held: Mapping[int, Sequence[int]] = field(default_factory=dict)  # the roles of each member
    features: Sequence[str] = ()
    kinds: Mapping[int, int] = field(default_factory=dict)  # of channels that aren't text channels
    guests: frozenset[int] = frozenset()

    def audiences(self) -> tuple[DiscordAudiences, discord.Guild]:
        """Those of a connected client, over discord.py's own objects."""
        client = FootnoteClient()
        client.parts, client.online_until = cast(Any, SimpleNamespace()), None
        state: Any = client._connection
        state.user = cast(Any, SimpleNamespace(id=ME))
        guild = discord.Guild(data=self._server(), state=state)
        state._add_guild(guild)
        client.http.get_member = self._member  # type: ignore[method-assign,assignment]
        return DiscordAudiences(client, _bindings(), ManualClock()), guild

    def unconnected(self) -> DiscordAudiences:
        """Those of a client that only posts, as a worker's: all is asked for."""
        client = FootnoteClient()
        state: Any = client._connection
        state.user = cast(Any, SimpleNamespace(id=ME))
        client.http.get_guild = self._get_server  # type: ignore[method-assign,assignment]
        client.http.get_channel = self._get_channel  # type: ignore[method-assign,assignment]
        client.http.get_member = self._member  # type: ignore[method-assign,assignment]
        return DiscordAudiences(client, _bindings(), ManualClock())

    async def _get_server(self, guild: int, *, with_counts: bool) -> Any:
        return self._server()

    async def _get_channel(self, channel: int) -> Any:
        return {**self._channel(channel), "guild_id": str(SERVER)}

    def member(self, guild: discord.Guild, person: int) -> discord.Member:
        return discord.Member(data=self._data(person), guild=guild, state=guild._state)

    def is_administrator(self, person: int) -> bool:
        held = (SERVER, *self.held[person])
        return person == OWNER or any(self.rights.get(role, 0) & ADMIN for role in held)

    def truth(self, guild: discord.Guild, person: int) -> frozenset[str]:
        """The readers that a member is, by discord.py's rules."""
        member = self.member(guild, person)
        seen = [f"channel:{id}" for id in CHANNELS if guild.get_channel(id).permissions_for(member).view_channel]  # type: ignore[union-attr]
        roles = [f"role:{role}" for role in self.held[person]]
        return frozenset({"everyone", "members", f"person:{person}", *roles, *seen})

    async def _member(self, guild: int, person: int) -> Any:
        if person not in self.held:
            raise discord.NotFound(cast(Any, SimpleNamespace(status=404, reason="")), {"code": 10007, "message": ""})
        return self._data(person)

    def _server(self) -> Any:
        roles = [{"id": id, "name": str(id), "permissions": str(self.rights.get(id, 0))} for id in (SERVER, *ROLES)]
        fixed = {"position": 0, "color": 0, "colors": {"primary_color": 0}, "hoist": False, "mentionable": False}
        my_role = {"id": 599, "name": "me", "permissions": str(VIEW | ADMIN), "tags": {"bot_id": str(ME)}}
        me = {**self._data(ME), "roles": [599]}
        return {
            "id": SERVER,
            "name": "House",
            "owner_id": OWNER,
            "features": list(self.features),
            "roles": [{**role, "managed": False, **fixed} for role in (*roles, my_role)],
            "channels": [self._channel(id) for id in CHANNELS],
            "members": [me],
            "emojis": [],
            "stickers": [],
        }

    def _channel(self, id: int) -> dict[str, Any]:
        written = [
            {"id": target, "type": int(target in PEOPLE), "allow": str(allowed), "deny": str(denied)}
            for target, (allowed, denied) in self.overwrites.get(id, {}).items()
        ]
        kind = self.kinds.get(id, TEXT)
        voice = {"bitrate": 64000, "user_limit": 0} if kind == VOICE else {}
        return {"id": id, "type": kind, "name": str(id), "position": 0, "permission_overwrites": written, **voice}

    def _data(self, person: int) -> Any:
        user = {"id": person, "username": str(person), "discriminator": "0", "avatar": None, "bot": person == ME}
        flags = 1 << 4 if person in self.guests else 0
        return {"user": user, "roles": list(self.held.get(person, ())), "joined_at": None, "flags": flags}


def _bindings() -> Any:
    bound = SimpleNamespace(team=SimpleNamespace(platform="discord", id=str(SERVER)))
    return SimpleNamespace(workspace_of=lambda platform, id: "local", all=lambda: [bound])


def worlds() -> st.SearchStrategy[PermissionWorld]:
    roles = st.lists(st.sampled_from(ROLES), unique=True, max_size=3)
    return st.builds(
        PermissionWorld,
        rights=st.fixed_dictionaries(dict.fromkeys((SERVER, *ROLES), RIGHTS)),
        overwrites=st.fixed_dictionaries(dict.fromkeys(CHANNELS, OVERWRITES)),
        held=st.fixed_dictionaries(dict.fromkeys(PEOPLE, roles)),
    )


def address(channel: int, thread: str = "") -> ThreadAddress:
    return ThreadAddress(platform="discord", workspace="local", channel=str(channel), thread=thread)
