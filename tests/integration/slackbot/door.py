"""Slack as the service opens it: real Parts on a data directory, connected, its pages served; no worker runs."""

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from bot.config import Config
from bot.config.sections import SlackConfig, WebConfig
from bot.service.platforms import open_slack, receive_slack
from bot.service.supervision import start_task
from bot.slackbot.connection import Reception, SlackConnection
from bot.web.app import MAX_BODY_BYTES
from bot.wiring.parts import Parts
from bot.wiring.pipeline import build_commands, build_pipeline
from core.domain.service import InboxEntry
from core.service.worker import Worker
from tests.slack_server import SlackServer, Team

# What slack_bolt and this service read of the environment.
VARIABLES = ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_CLIENT_SECRET", "SLACK_CLIENT_ID")
KEY = "a key of the tests with more than 32 characters"


class Secrets:
    """Files with the secrets of a server's app, as an owner would write them."""

    def __init__(self, folder: Path, server: SlackServer) -> None:
        self._folder = folder
        self._server = server
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.public_url = f"http://127.0.0.1:{free.getsockname()[1]}"

    def file(self, name: str, secret: str) -> Path:
        path = self._folder / name
        path.write_text(f"{secret}\n", encoding="utf-8")
        return path

    def config(self, team: Team | None = None, *, installs: bool = False, key: str = KEY, **more: Any) -> Config:
        """`team`: whose token is configured; `installs`: teams can install the app; `more` are keys of [slack]."""
        app = self._server.app
        values: dict[str, Any] = {"app_token_file": self.file("app", app.token)}
        if team is not None and team.install is not None:
            values["token_file"] = self.file("token", team.install.token)
        if more.get("transport") == "http":
            values["signing_secret_file"] = self.file("signing", app.signing_secret)
        if installs:
            values["client_id"] = app.client_id
            values["client_secret_file"] = self.file("client", app.client_secret)
            values["key_file"] = self.file("key", key)
        slack = SlackConfig.model_validate({**values, **more})
        return Config(data_dir=self._folder / "data", slack=slack, web=WebConfig(public_url=self.public_url))


@dataclass(kw_only=True)
class Opened:
    """`url` is where its pages are, with a slash at the end."""

    app: Parts
    door: SlackConnection
    ears: Reception
    url: str = ""

    async def heard(self, workspace: str) -> list[InboxEntry]:
        """What the inbox took in, newest first."""
        return await self.app.inbox_store.recent(workspace)


@asynccontextmanager
async def open_door(app: Parts) -> AsyncIterator[Opened]:
    """One process more that hears; several may share an app."""
    async with AsyncExitStack() as stack:
        door = await open_slack(stack, app)
        assert door is not None, "Slack is off"
        ears = await receive_slack(
            stack, door, app, build_commands(app), Worker(app.inbox_store, build_pipeline(app), {}, app.clock)
        )
        opened = Opened(app=app, door=door, ears=ears)
        if ears.add_pages is not None:
            opened.url = await _serve(stack, ears, app.config.web.public_url)
        await door.log_in()
        await start_task(stack, ears.stay_connected())
        yield opened


async def _serve(stack: AsyncExitStack, ears: Reception, public_url: str | None) -> str:
    """At the public address, where browsers are led back to; further processes lie elsewhere."""
    served = web.Application(client_max_size=MAX_BODY_BYTES)
    assert ears.add_pages is not None
    ears.add_pages(served, None)
    runner = web.AppRunner(served, access_log=None, shutdown_timeout=1.0)
    stack.push_async_callback(runner.cleanup)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", urlsplit(public_url or "").port or 0).start()
    except OSError:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    return f"http://{host}:{port}/"
