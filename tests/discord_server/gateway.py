"""The gateway: HELLO, IDENTIFY, RESUME, heartbeats and events in order, for any number of bot processes and shards."""

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import discord
from aiohttp import WSMsgType, web
from simcord import intents as intent_rules
from simcord.backend import serializers

from tests.discord_server.visibility import seen_by_bot, shard_for, shard_of, to_shown
from tests.discord_server.world import World

HEARTBEAT_SECONDS = 41.25
MEMBERS_IN_A_CHUNK = 1000


class Op(IntEnum):
    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    PRESENCE = 3
    RESUME = 6
    RECONNECT = 7
    REQUEST_MEMBERS = 8
    INVALID_SESSION = 9
    HELLO = 10
    HEARTBEAT_ACK = 11


class Close(IntEnum):
    CLEAN = 1000
    TRY_AGAIN = 4000
    BAD_TOKEN = 4004
    INTENTS_NOT_APPROVED = 4014


@dataclass(kw_only=True, eq=False)
class Session:
    """What a bot may resume: every event it was sent, numbered from 1."""

    id: str
    intents: discord.Intents
    shard: int
    shards: int
    events: list[str] = field(default_factory=list)  # as sent; events[n - 1] has sequence number n
    line: "Line | None" = None  # None: the bot is away, events wait for a RESUME

    def push(self, event: str, payload: Mapping[str, Any]) -> None:
        number = len(self.events) + 1
        self.events.append(json.dumps({"op": Op.DISPATCH, "t": event, "s": number, "d": payload}))
        if self.line is not None:
            self.line.send_raw(self.events[-1])


class Line:
    """One connection; what is sent leaves in order, without waiting for the bot."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self.socket = socket
        self.session: Session | None = None
        self.dropped = False  # closed from here, so that the bot may come back to its session
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._writer = asyncio.create_task(self._write())

    def send(self, op: Op, data: Any = None) -> None:
        self.send_raw(json.dumps({"op": op, "d": data, "s": None, "t": None}))

    def send_raw(self, text: str) -> None:
        self._queue.put_nowait(text)

    def detach(self) -> None:
        if self.session is not None and self.session.line is self:
            self.session.line = None

    async def close(self, code: int = Close.TRY_AGAIN) -> None:
        self.dropped = True
        self.detach()
        self._writer.cancel()
        await self.socket.close(code=code, message=b"")

    async def _write(self) -> None:
        while True:
            text = await self._queue.get()
            try:
                await self.socket.send_str(text)
            except ConnectionError:
                return


class Gateway:
    """Sends the world's events to whoever has identified; `address` is set once the server listens."""

    def __init__(self, world: World, token: str, *, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        self._world = world
        self._token = token
        self._heartbeat_seconds = heartbeat_seconds
        self.address = ""
        self.identified = 0  # new sessions so far
        self.resumed = 0  # sessions taken up again so far
        self.heartbeats = 0
        self._sessions: dict[str, Session] = {}
        self._lines: set[Line] = set()
        self._open = asyncio.Event()
        self._open.set()
        world.backend.subscribers.append(self._feed)

    @property
    def connected(self) -> list[Session]:
        return [session for session in self._sessions.values() if session.line is not None]

    # ------------------------------------------------------------------ faults

    async def drop(self, *, resume: bool) -> None:
        """Closes every connection; without `resume` the sessions are forgotten, and with them what was missed."""
        if not resume:
            self._sessions.clear()
        for line in list(self._lines):
            await line.close()

    def hold(self) -> None:
        """Bots may connect, but hear nothing until `let_in()`."""
        self._open.clear()

    def let_in(self) -> None:
        self._open.set()

    async def close(self) -> None:
        self.let_in()
        await self.drop(resume=False)

    # ------------------------------------------------------------------ one connection

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=0)
        await socket.prepare(request)
        line = Line(socket)
        self._lines.add(line)
        try:
            await self._open.wait()
            line.send(Op.HELLO, {"heartbeat_interval": int(self._heartbeat_seconds * 1000)})
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._hear(line, json.loads(message.data))
                    self._world.changed()
        finally:
            if socket.close_code == Close.CLEAN and line.session is not None and not line.dropped:
                self._sessions.pop(line.session.id, None)  # a bot that says goodbye cannot resume
            await line.close()
            self._lines.discard(line)
            self._world.changed()
        return socket

    async def _hear(self, line: Line, said: dict[str, Any]) -> None:
        data: Any = said.get("d")
        match said.get("op"):
            case Op.HEARTBEAT:
                self.heartbeats += 1
                line.send(Op.HEARTBEAT_ACK)
            case Op.IDENTIFY:
                await self._identify(line, data)
            case Op.RESUME:
                await self._resume(line, data)
            case Op.REQUEST_MEMBERS:
                self._send_members(line, data)

    async def _identify(self, line: Line, data: dict[str, Any]) -> None:
        if data["token"] != self._token:
            await line.close(Close.BAD_TOKEN)
            return
        intents = discord.Intents._from_value(int(data["intents"]))
        if intent_rules.missing_privileged_intents(intents, self._world.approved_intents):
            await line.close(Close.INTENTS_NOT_APPROVED)
            return
        shard, shards = data.get("shard") or (0, 1)
        session = Session(id=secrets.token_hex(8), intents=intents, shard=shard, shards=shards, line=line)
        self._sessions[session.id] = line.session = session
        self.identified += 1
        self._greet(session)

    def _greet(self, session: Session) -> None:
        backend = self._world.backend
        guilds = [guild for guild in backend.guilds.values() if shard_of(guild.id, session.shards) == session.shard]
        session.push(
            "READY",
            {
                "v": 10,
                "user": serializers.user_payload(backend.bot_user),
                "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
                "session_id": session.id,
                "resume_gateway_url": self.address,
                "shard": [session.shard, session.shards],
                "application": {"id": str(backend.application_id), "flags": self._world.application_flags},
            },
        )
        for guild in guilds:
            self._send(session, "GUILD_CREATE", serializers.guild_create_payload(backend, guild))

    async def _resume(self, line: Line, data: dict[str, Any]) -> None:
        session = self._sessions.get(str(data["session_id"]))
        if session is None or data["token"] != self._token or data["seq"] is None:
            line.send(Op.INVALID_SESSION, False)
            return
        if session.line is not None:
            await session.line.close()
        session.line, line.session = line, session
        self.resumed += 1
        for text in session.events[int(data["seq"]) :]:
            line.send_raw(text)
        session.push("RESUMED", {})

    def _send_members(self, line: Line, data: dict[str, Any]) -> None:
        backend, session = self._world.backend, line.session
        guild = backend.guilds.get(int(data["guild_id"]))
        if guild is None or session is None:
            return
        wanted = {int(one) for one in _listed(data.get("user_ids"))}
        start = str(data.get("query") or "").lower()
        members = [
            member
            for member in guild.members.values()
            if (not wanted or member.user_id in wanted)
            and (not start or backend.users[member.user_id].name.lower().startswith(start))
        ]
        members = members[: data.get("limit") or None]
        chunks = [members[at : at + MEMBERS_IN_A_CHUNK] for at in range(0, len(members), MEMBERS_IN_A_CHUNK)] or [[]]
        for index, chunk in enumerate(chunks):
            payload = {
                "guild_id": str(guild.id),
                "members": [serializers.member_payload(backend, guild, member) for member in chunk],
                "chunk_index": index,
                "chunk_count": len(chunks),
                "not_found": [str(one) for one in sorted(wanted - guild.members.keys())],
            }
            session.push("GUILD_MEMBERS_CHUNK", payload | ({"nonce": data["nonce"]} if data.get("nonce") else {}))

    # ------------------------------------------------------------------ events

    def _feed(self, event: str, payload: Mapping[str, Any]) -> None:
        if event == "GUILD_CREATE":  # of a guild that the bot joins: Discord says nothing of an outage then
            payload = {name: value for name, value in payload.items() if name != "unavailable"}
        if seen_by_bot(self._world.backend, event, payload):
            for session in self._sessions.values():
                if shard_for(event, payload, session.shards) == session.shard:
                    self._send(session, event, payload)
        self._world.changed()

    def _send(self, session: Session, event: str, payload: Mapping[str, Any]) -> None:
        shown = to_shown(self._world.backend, session.intents, event, payload)
        if shown is not None:
            session.push(event, shown)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
