"""The requests of bots: API calls with the faults they meet, uploads, downloads and posts to a response_url."""

import asyncio
import json

from aiohttp import web

from tests.platform_faults import answer
from tests.platform_server import LARGEST_REQUEST
from tests.slack_server.calls import Call, read_call
from tests.slack_server.faults import Fault, Faults
from tests.slack_server.methods.files import readable
from tests.slack_server.refusals import Refusal
from tests.slack_server.web_api import WebApi
from tests.slack_server.world import World


class Serving:
    def __init__(self, world: World, api: WebApi, faults: Faults, log: list[Call]) -> None:
        self._world = world
        self._api = api
        self._faults = faults
        self._log = log

    def application(self) -> web.Application:
        app = web.Application(client_max_size=LARGEST_REQUEST)
        app.router.add_route("*", "/api/{method}", self._serve_call)
        app.router.add_post("/respond/{id}", self._serve_response)
        app.router.add_post("/upload/{team}/{file}", self._serve_upload)
        app.router.add_get("/files-pri/{file}/{name:.*}", self._serve_file)
        return app

    async def _serve_call(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, request.match_info["method"])

    async def _serve_response(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, "response_url")

    async def _serve(self, request: web.Request, method: str) -> web.StreamResponse:
        call = await read_call(request, method, asyncio.get_running_loop().time())
        self._log.append(call)

        def carry_out() -> web.Response:
            if wait := self._faults.wait_seconds(call):
                return _refused(call, Fault(method=method, times=0, status=429, retry_after_seconds=wait))
            return self._carry_out(call, request)

        return await answer(
            request,
            call,
            self._faults.take(call),
            carry_out=carry_out,
            refuse=lambda fault: _refused(call, fault),
            changed=self._world.changed,
        )

    def _carry_out(self, call: Call, request: web.Request) -> web.Response:
        try:
            if call.method == "response_url":
                call.reply = {"ok": True, "channel": self._respond(call, request.match_info["id"])}
                return web.Response(text="ok")
            call.reply = self._api.answer(call)
        except Refusal as refusal:
            call.reply = refusal.to_json()
            if call.method == "response_url":
                status = 404 if refusal.error.endswith("_url") else 400
                return web.json_response(call.reply, status=status)
        return web.json_response(call.reply, headers=self._scopes(call))

    def _respond(self, call: Call, wanted: str) -> str:
        return self._api.respond(wanted, call.params)

    def _scopes(self, call: Call) -> dict[str, str]:
        install = self._world.install_of(call.token)
        return {} if install is None else {"x-oauth-scopes": ",".join(sorted(install.scopes))}

    # ------------------------------------------------------------------ files

    async def _serve_upload(self, request: web.Request) -> web.Response:
        team = self._world.teams.get(request.match_info["team"])
        file = team.files.get(request.match_info["file"]) if team else None
        if file is None:
            return web.Response(status=404)
        if request.content_type.startswith("multipart/"):
            form = await request.post()
            data = next(one.file.read() for one in form.values() if isinstance(one, web.FileField))
        else:
            data = await request.read()
        if str(len(data)) != request.query["length"]:
            return web.Response(status=400, text="the length is not the one that was told")
        file.data = data
        return web.Response(text=f"OK - {len(data)}")

    async def _serve_file(self, request: web.Request) -> web.StreamResponse:
        """Without a good token Slack shows a page to log in, with status 200."""
        call = await read_call(request, "download", asyncio.get_running_loop().time())
        self._log.append(call)
        fault = self._faults.take(call)
        if fault is not None and fault.status:
            call.status = fault.status
            return web.Response(status=fault.status)
        install = self._world.install_of(call.token)
        file = install.team.files.get(request.match_info["file"]) if install else None
        allowed = install is not None and install.refusal is None and "files:read" in install.scopes
        if install is None or file is None or not allowed or not readable(install.team, file):
            call.status = 200
            return web.Response(text="<!DOCTYPE html><html><title>Sign in</title></html>", content_type="text/html")
        call.status = 404 if file.deleted else 200
        call.reply = {"ok": not file.deleted}
        if file.deleted:
            return web.Response(status=404)
        return web.Response(body=file.data, content_type="text/html" if file.is_canvas else file.mimetype)


def _refused(call: Call, fault: Fault) -> web.Response:
    if fault.after:
        return web.Response(status=fault.status)  # the log keeps what was carried out
    if fault.error is not None:
        call.reply = {"ok": False, "error": fault.error}
        return web.json_response(call.reply)
    if fault.status == 429:
        call.reply = {"ok": False, "error": "ratelimited"}
        headers = {"Retry-After": f"{fault.retry_after_seconds:g}"}
        return web.Response(status=429, text=json.dumps(call.reply), content_type="application/json", headers=headers)
    call.reply = {"ok": False, "error": f"status_{fault.status}"}
    return web.Response(status=fault.status, text="upstream error")
