"""The server: one aiohttp application on loopback with the API, the gateway and the files, and hooks to break it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from typing import Any

from aiohttp import web
from simcord.backend.errors import BackendError
from simcord.backend.models import Message
from simcord.builders import ChannelHandle, GuildHandle
from simcord.http.router import RouteNotImplemented, UnsupportedField

from tests.discord_launch import API_VARIABLE, GATEWAY_VARIABLE
from tests.discord_server.calls import Call, read_call
from tests.discord_server.faults import Fault, Faults, Limit
from tests.discord_server.gateway import HEARTBEAT_SECONDS, Gateway
from tests.discord_server.people import Person
from tests.discord_server.routes import Api
from tests.discord_server.transcript import transcript_of
from tests.discord_server.world import ACK_SECONDS, ServedFiles, World
from tests.platform_faults import LOST, Hang, answer
from tests.platform_server import LARGEST_REQUEST, TIMEOUT_SECONDS, PlatformServer

TOKEN = "test-token"


class DiscordServer(PlatformServer):
    """`async with DiscordServer() as server:`

    `ack_seconds` is Discord's limit for a first answer to an interaction: on a busy machine a bot may need more.
    `shards` is what it advises, and what `world.create_guild(shard_id=)` counts with.
    """

    launcher = "tests.discord_launch"
    faults: Faults

    def __init__(
        self, *, ack_seconds: float = ACK_SECONDS, heartbeat_seconds: float = HEARTBEAT_SECONDS, shards: int = 1
    ) -> None:
        self.world = World(ack_seconds=ack_seconds, shards=shards)
        self.gateway = Gateway(self.world, TOKEN, heartbeat_seconds=heartbeat_seconds)
        self.api = Api(self.world)
        self.faults = Faults()
        self.log: list[Call] = []
        self.gaps: list[str] = []  # calls that neither simcord nor this server models
        self.address = ""
        self.downloads = 0  # of files, begun
        self.files_open = asyncio.Event()  # cleared: downloads hang until it is set
        self.files_open.set()
        super().__init__(self.world.waiting)

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=LARGEST_REQUEST)
        app.router.add_route("*", "/api/v10/{path:.*}", self._serve_call)
        app.router.add_get("/gateway/", self.gateway.serve)
        app.router.add_get("/files/{path:.*}", self._serve_file)
        return app

    def _listens_at(self, place: str) -> None:
        self.address = f"http://{place}"
        self.gateway.address = self.api.gateway_address = f"ws://{place}/gateway/"
        assert isinstance(self.world.backend.cdn, ServedFiles)
        self.world.backend.cdn.base = f"{self.address}/files"

    async def _close(self) -> None:
        await self.gateway.close()

    def _unknown_calls(self) -> Sequence[str]:
        return self.gaps

    # ------------------------------------------------------------------ bots and people

    @property
    def environment(self) -> Mapping[str, str]:
        return {API_VARIABLE: self.address, GATEWAY_VARIABLE: self.gateway.address}

    @property
    def bot_mention(self) -> str:
        return f"<@{self.world.backend.bot_user.id}>"

    def person(self, name: str, *guilds: GuildHandle, bot: bool = False, **permissions: bool) -> Person:
        """A new user, member of these guilds; permissions beyond those of everybody as keywords."""
        return Person.join(self.world, self.world.create_user(name, bot=bot), guilds, permissions)

    # ------------------------------------------------------------------ waiting and looking

    async def wait_for_login(self, times: int = 1, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        """Until that many sessions were begun: from then on the bot hears what is said."""
        await self.wait_for(lambda: self.gateway.identified >= times, timeout_seconds, what=f"{times} logins")

    def calls(self, method: str = "*", path: str = "*") -> list[Call]:
        """Requests that match, as they came: `calls("POST", "/channels/*/messages")`."""
        return [call for call in self.log if method in ("*", call.method) and fnmatchcase(call.path, path)]

    def posts(self, place: ChannelHandle) -> list[Call]:
        """Posts that were made in a channel, also those whose reply was lost; a deduplicated one is listed too."""
        return [one for one in self.calls("POST", f"/channels/{place.id}/messages") if _carried_out(one)]

    def edits(self, place: ChannelHandle) -> list[Call]:
        """Edits that were made in a channel, of whichever message."""
        return [one for one in self.calls("PATCH", f"/channels/{place.id}/messages/*") if _carried_out(one)]

    def answers(self, place: ChannelHandle) -> list[Message]:
        """The bot's messages in a channel as they are now, oldest first; ephemeral ones too."""
        messages = self.world.backend.messages.get(place.id, {})
        by_bot = [one for one in messages.values() if one.author_id == self.world.backend.bot_user.id]
        return sorted(by_bot, key=lambda one: one.id)

    def transcript(self, place: ChannelHandle) -> str:
        """What a reader of the channel sees, a line a message, oldest first."""
        return transcript_of(self.world, place)

    def _lately(self) -> Mapping[str, Sequence[str]]:
        return {"requests": [f"{call.method} {call.path} -> {call.status}" for call in self.log]}

    # ------------------------------------------------------------------ hooks

    def fail_next(
        self,
        method: str,
        path: str,
        status: int,
        times: int = 1,
        *,
        retry_after_seconds: float = 0.05,
        everywhere: bool = False,
        code: int = 0,
        message: str = "",
    ) -> Fault:
        """Refuses the next matching requests, which are not carried out; 429 says when to try again."""
        return self.faults.add(
            Fault(
                method=method,
                path=path,
                times=times,
                status=status,
                code=code,
                message=message,
                retry_after_seconds=retry_after_seconds,
                everywhere=everywhere,
            )
        )

    def hang_next(self, method: str, path: str, times: int = 1, *, after: bool = False, saying: str = "") -> Hang:
        """The next matching requests get no reply until released; `after`: they are carried out before that.

        `saying`: only those whose JSON holds these words.
        """
        return self.faults.hang(Fault(method=method, path=path, times=times, after=after, saying=saying))

    def lose_reply_of_next(self, method: str, path: str, times: int = 1, *, status: int = 0) -> Fault:
        """The next matching requests are carried out, but the connection breaks, or `status` (504) is the reply."""
        return self.faults.add(
            Fault(method=method, path=path, times=times, status=status, after=True, lost=status == 0)
        )

    def limit(self, method: str, path: str, requests: int, seconds: float) -> Limit:
        """From now on so many matching requests in so many seconds, each channel by itself; the headers say so."""
        return self.faults.limit(Limit(method=method, path=path, requests=requests, seconds=seconds))

    async def drop_gateway(self, *, resume: bool = True) -> None:
        """Closes the connection of every bot; with `resume=False` they have to log in anew and miss what was said."""
        await self.gateway.drop(resume=resume)

    @asynccontextmanager
    async def gateway_down(self, *, resume: bool = True) -> AsyncIterator[None]:
        """Within it bots hear nothing; afterwards they are let in again. Keep it under a minute."""
        self.gateway.hold()
        await self.drop_gateway(resume=resume)
        try:
            yield
        finally:
            self.gateway.let_in()

    # ------------------------------------------------------------------ requests

    async def _serve_file(self, request: web.Request) -> web.Response:
        assert isinstance(self.world.backend.cdn, ServedFiles)
        data = self.world.backend.cdn.find("/" + request.match_info["path"])
        self.downloads += 1
        self.world.changed()
        await self.files_open.wait()
        return web.Response(status=404) if data is None else web.Response(body=data)

    async def _serve_call(self, request: web.Request) -> web.Response:
        call = await read_call(request, asyncio.get_running_loop().time())
        self.log.append(call)
        headers: dict[str, str] = {}  # said in whatever reply, counted when the call gets its turn

        def carry_out() -> web.Response:
            counted, wait_seconds = self.faults.headers(call.method, call.path)
            headers.update(counted)
            if not wait_seconds:
                return self._carry_out(call, headers)
            return _refusal(Fault(method="", path="", times=0, status=429, retry_after_seconds=wait_seconds), headers)

        def refuse(fault: Fault) -> web.Response:
            return _refusal(fault, headers or self.faults.headers(call.method, call.path)[0])

        fault = self.faults.take(call.method, call.path, json.dumps(call.json, ensure_ascii=False))
        return await answer(request, call, fault, carry_out=carry_out, refuse=refuse, changed=self.world.changed)

    def _carry_out(self, call: Call, headers: Mapping[str, str]) -> web.Response:
        if not call.path.startswith(("/interactions", "/webhooks")) and call.authorization != f"Bot {TOKEN}":
            return _json({"message": "401: Unauthorized", "code": 0}, 401, headers)
        try:
            call.reply = self.api.answer(call)
        except (RouteNotImplemented, UnsupportedField) as gap:
            self.gaps.append(gap.message)
            return _json(gap.to_json(), 501, headers)
        except BackendError as error:
            call.reply = error.to_json()
            return _json(call.reply, error.status, headers)
        if call.reply is None:
            return web.Response(status=204, headers=dict(headers))
        return _json(call.reply, 200, headers)


def _carried_out(call: Call) -> bool:
    return call.status is not None and (call.status == LOST or 200 <= call.status < 300)


def _json(data: Any, status: int, headers: Mapping[str, str]) -> web.Response:
    """The type exactly `application/json`: discord.py reads nothing else as JSON."""
    body = json.dumps(data).encode()
    return web.Response(body=body, status=status, headers={**headers, "Content-Type": "application/json"})


def _refusal(fault: Fault, headers: Mapping[str, str]) -> web.Response:
    if fault.status != 429:
        return _json({"message": fault.message or "Test refusal", "code": fault.code}, fault.status, headers)
    after = fault.retry_after_seconds
    body = {"message": "You are being rate limited.", "retry_after": after, "global": fault.everywhere}
    told = {**headers, "Retry-After": f"{after:.3f}", "Via": "1.1 test", "X-RateLimit-Remaining": "0"}
    if fault.everywhere:
        told["X-RateLimit-Global"] = "true"
    told["X-RateLimit-Scope"] = "global" if fault.everywhere else "user"
    return _json(body, 429, told)
