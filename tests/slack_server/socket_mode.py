"""Socket Mode: hello, envelopes, acknowledgements, and disconnect frames, for any number of connections."""

import asyncio
import itertools
import json
import secrets
from typing import Any

from aiohttp import WSMsgType, web

from tests.slack_server.delivery import Parcel, Reply
from tests.slack_server.refusals import Refusal
from tests.slack_server.world import World

JSON = dict[str, Any]

MOST_CONNECTIONS = 10


class Line:
    """One connection; `awake` from its hello until Slack says that it will go."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self.socket = socket
        self.request = request
        self.awake = False
        self.waiting: dict[str, asyncio.Future[Reply]] = {}  # by envelope

    def lose(self) -> None:
        """What was not acknowledged yet has failed."""
        self.awake = False
        for reply in self.waiting.values():
            if not reply.done():
                reply.set_result(Reply(failure="connection_failed"))

    def hear(self, said: JSON) -> None:
        reply = self.waiting.get(said.get("envelope_id", ""))
        if reply is not None and not reply.done():
            reply.set_result(Reply(payload=said.get("payload")))


class SocketMode:
    """`opened`: connections greeted so far; `connected`: those that take envelopes now."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tickets: set[str] = set()
        self._lines: list[Line] = []
        self._turns = itertools.count()
        self._open = asyncio.Event()
        self._open.set()
        self.opened = 0
        self.address = ""  # once the server listens
        self.refused = False  # apps.connections.open says internal_error

    @property
    def connected(self) -> list[Line]:
        return [one for one in self._lines if one.awake]

    def new_address(self) -> str:
        """For one connection."""
        if len(self.connected) >= MOST_CONNECTIONS:
            raise Refusal("too_many_websockets")
        ticket = secrets.token_hex(8)
        self._tickets.add(ticket)
        return f"{self.address}?ticket={ticket}&app_id={self._world.app.id}"

    # ------------------------------------------------------------------ faults

    async def disconnect(self, reason: str) -> None:
        """As Slack does now and then: the bot is told, takes no more envelopes here, and is to connect anew."""
        for line in self.connected:
            line.awake = False
            await line.socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "test"}})

    async def drop(self, *, politely: bool) -> None:
        """Every connection ends, with a close frame or without a word."""
        for line in list(self._lines):
            line.lose()
            if politely:
                await line.socket.close()
            elif line.request.transport is not None:
                line.request.transport.abort()

    def hold(self) -> None:
        """Bots may connect, but are not greeted until `let_in()`."""
        self._open.clear()

    def let_in(self) -> None:
        self._open.set()

    async def close(self) -> None:
        self.let_in()
        await self.drop(politely=True)

    # ------------------------------------------------------------------ connections and envelopes

    async def serve(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=401)
        self._tickets.remove(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        line = Line(socket, request)
        self._lines.append(line)
        try:
            await self._open.wait()
            await self._greet(line)
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    line.hear(json.loads(message.data))
        except ConnectionError:
            pass  # dropped before it was greeted
        finally:
            line.lose()
            self._lines.remove(line)
            self._world.changed()
        return socket

    async def _greet(self, line: Line) -> None:
        debug = {"host": "test", "build_number": 1, "approximate_connection_time": 18060}
        info = {"app_id": self._world.app.id}
        hello = {"type": "hello", "num_connections": len(self.connected) + 1, "connection_info": info}
        await line.socket.send_json({**hello, "debug_info": debug})
        line.awake = True
        self.opened += 1
        self._world.changed()

    async def carry(self, parcel: Parcel, ack_seconds: float) -> Reply:
        """One attempt; a connection that comes within the time is waited for."""
        if not await self._world.waiting.until(lambda: self.connected, ack_seconds):
            return Reply(failure="connection_failed")
        lines = self.connected
        line = lines[next(self._turns) % len(lines)]
        envelope = self._envelope(parcel)
        reply = asyncio.get_running_loop().create_future()
        line.waiting[envelope["envelope_id"]] = reply
        try:
            await line.socket.send_json(envelope)
            return await asyncio.wait_for(reply, ack_seconds)
        except TimeoutError:
            return Reply(failure="timeout")
        except ConnectionError:
            return Reply(failure="connection_failed")
        finally:
            del line.waiting[envelope["envelope_id"]]

    def _envelope(self, parcel: Parcel) -> JSON:
        envelope: JSON = {
            "envelope_id": self._world.new_id("E"),
            "type": parcel.kind,
            "payload": parcel.payload,
            "accepts_response_payload": parcel.kind != "events_api",
        }
        if parcel.kind == "events_api":
            reason = parcel.failures[-1] if parcel.failures else ""
            envelope |= {"retry_attempt": len(parcel.failures), "retry_reason": reason}
        return envelope
