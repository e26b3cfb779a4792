"""A small slack_bolt bot, for the tests of the Slack server: in the tests' process or, by `main`, in its own."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

PING_SECONDS = 0.5  # slack_sdk's rhythm: how soon it comes back after a connection broke


def text(said: str) -> dict[str, str]:
    return {"type": "plain_text", "text": said}


BUTTONS = [
    {"type": "section", "text": text("Choose")},
    {
        "type": "actions",
        "block_id": "choices",
        "elements": [
            {"type": "button", "action_id": "more", "text": text("More"), "value": "7"},
            {"type": "button", "action_id": "form", "text": text("Form")},
            {
                "type": "static_select",
                "action_id": "fruit",
                "options": [{"text": text(one.title()), "value": one} for one in ("apple", "banana")],
            },
        ],
    },
    {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": "rate",
                "positive_button": {"text": text("Good"), "value": "up"},
                "negative_button": {"text": text("Bad"), "value": "down"},
            }
        ],
    },
]


def form(title: str = "Your name") -> dict[str, Any]:
    element = {"type": "plain_text_input", "action_id": "name", "max_length": 20}
    place = {"type": "external_select", "action_id": "place", "min_query_length": 1}
    files = {"type": "file_input", "action_id": "files", "max_files": 2, "filetypes": ["txt"]}
    return {
        "type": "modal",
        "callback_id": "form",
        "title": text(title),
        "submit": text("Send"),
        "blocks": [
            {"type": "input", "block_id": "name", "label": text("Name"), "element": element},
            {"type": "input", "block_id": "place", "optional": True, "label": text("Place"), "element": place},
            {"type": "input", "block_id": "files", "optional": True, "label": text("Files"), "element": files},
        ],
    }


class Heard:
    """What came in: (type, headers, body), one after the other."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
        self.go_on = asyncio.Event()  # for a mention of "wait": nothing is acknowledged before
        self.go_on.set()

    def named(self, name: str) -> list[dict[str, Any]]:
        return [body for kind, _, body in self.events if kind == name]

    def retries(self) -> list[tuple[str, str]]:
        """The number and reason of each event that came again."""
        told = [
            (headers.get("x-slack-retry-num", ["0"])[0], headers.get("x-slack-retry-reason", [""])[0])
            for _, headers, _ in self.events
        ]
        return [(number, reason) for number, reason in told if number != "0"]


def build_app(token: str | None, address: str | None, signing_secret: str, heard: Heard, **options: Any) -> AsyncApp:
    client = AsyncWebClient(token=token, base_url=address or AsyncWebClient.BASE_URL)
    app = AsyncApp(client=client, signing_secret=signing_secret, **options)

    @app.middleware
    async def remember(req: Any, body: dict[str, Any], next: Any) -> None:
        kind = body.get("event", {}).get("type") or body.get("type") or body.get("command") or ""
        heard.events.append((kind, dict(req.headers), body))
        if "wait" in str(body.get("event", {}).get("text")):
            await heard.go_on.wait()
        await next()

    @app.event("app_mention")
    async def mentioned(event: dict[str, Any], say: Any) -> None:
        words = event["text"].split()
        said = " ".join(word for word in words if not word.startswith("<@"))
        blocks = BUTTONS if "buttons" in words else None
        await say(text=f"You said: {said}", blocks=blocks, thread_ts=event.get("thread_ts") or event["ts"])

    @app.event({"type": "message"})
    async def said(event: dict[str, Any], say: Any) -> None:
        if event.get("channel_type") == "im" and not event.get("subtype"):
            await say(text=f"You wrote: {event['text']}")

    for other in ("reaction_added", "app_home_opened", "member_joined_channel", "channel_left", "file_shared"):
        app.event(other)(_nothing)
    for other in ("channel_archive", "app_uninstalled", "tokens_revoked", "assistant_thread_started"):
        app.event(other)(_nothing)
    _add_interactions(app)
    return app


async def _nothing(event: dict[str, Any]) -> None:
    """Heard, and that is all."""


def _add_interactions(app: AsyncApp) -> None:
    @app.command("/footnote")
    async def commanded(ack: Any, command: dict[str, Any], client: Any) -> None:
        if command["text"] == "form":
            await ack()
            await client.views_open(trigger_id=command["trigger_id"], view=form())
        else:
            await ack(f"Only you see: {command['text']}")

    @app.action("more")
    async def more(ack: Any, respond: Any, action: dict[str, Any]) -> None:
        await ack()
        await respond(text=f"More of {action['value']}", response_type="ephemeral", replace_original=False)

    @app.action("form")
    async def opened(ack: Any, body: dict[str, Any], client: Any) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=form())

    @app.action("fruit")
    async def chosen(ack: Any, respond: Any, action: dict[str, Any]) -> None:
        await ack()
        await respond(text=f"Chosen: {action['selected_option']['value']}", replace_original=True)

    @app.action("rate")
    async def rated(ack: Any, respond: Any, action: dict[str, Any]) -> None:
        await ack()
        await respond(text=f"Rated {action['value']}", replace_original=False)

    @app.options("place")
    async def places(ack: Any, payload: dict[str, Any]) -> None:
        await ack(options=[{"text": text(f"{payload['value']}town"), "value": f"{payload['value']}town"}])

    @app.view("form")
    async def submitted(ack: Any, view: dict[str, Any], body: dict[str, Any], client: Any) -> None:
        name = view["state"]["values"]["name"]["name"]["value"]
        if name == "nobody":
            await ack(response_action="errors", errors={"name": "Somebody, please"})
        elif name == "again":
            await ack(response_action="update", view=form("Once more"))
        else:
            await ack()
            await client.chat_postMessage(channel=body["user"]["id"], text=f"Hello {name}")

    @app.shortcut("count_letters")
    async def counted(ack: Any, shortcut: dict[str, Any], respond: Any) -> None:
        await ack()
        await respond(text=f"{len(shortcut['message']['text'])} letters")


@asynccontextmanager
async def in_socket_mode(app: AsyncApp, app_token: str, address: str | None) -> AsyncIterator[None]:
    client = AsyncWebClient(token=app_token, base_url=address or AsyncWebClient.BASE_URL)
    handler = AsyncSocketModeHandler(app, app_token, web_client=client, ping_interval=PING_SECONDS)
    await handler.connect_async()  # type: ignore[no-untyped-call] # bolt annotates it in part
    try:
        yield
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


@asynccontextmanager
async def over_http(app: AsyncApp, port: int = 0) -> AsyncIterator[str]:
    """Gives the address for events; the pages for installing lie beside it."""

    async def serve(request: web.Request) -> web.Response:
        told = await to_bolt_request(request)
        flow = app.oauth_flow
        if request.method == "GET" and flow is not None:
            handle = flow.handle_callback if request.path == flow.redirect_uri_path else flow.handle_installation
            return await to_aiohttp_response(await handle(told))
        return await to_aiohttp_response(await app.async_dispatch(told))

    async with AsyncExitStack() as stack:
        served = web.Application()
        served.router.add_route("*", "/slack/{name}", serve)
        runner = web.AppRunner(served, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", port).start()
        host, bound = runner.addresses[0][:2]
        yield f"http://{host}:{bound}/slack/events"


async def main() -> None:
    """Without an address: where the launcher sends it."""
    app = build_app(os.environ["PLAIN_BOT_TOKEN"], None, os.environ["PLAIN_BOT_SECRET"], Heard())
    if address := os.environ.get("PLAIN_BOT_PORT"):
        async with over_http(app, int(address)) as url:
            print(f"listening on {url}", flush=True)  # noqa: T201 - the test reads it
            await asyncio.Event().wait()
    async with in_socket_mode(app, os.environ["PLAIN_BOT_APP_TOKEN"], None):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
