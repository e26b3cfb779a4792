"""A web server that a test fills: pages with validators, redirects, faults; it records what was asked of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Page:
    """What stands at a path. `status` other than 200 is answered as it is."""

    text: str | bytes = ""
    status: int = 200
    media_type: str = "text/html"
    etag: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    handler: Handler | None = None


class Site:
    """`site.pages["/a"] = Page(...)`; `site.asked` are the paths (with query) in order."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.asked: list[str] = []
        self.heads: list[dict[str, str]] = []
        self.url = ""

    def on(self, path: str, handler: Handler) -> None:
        self.pages[path] = Page(handler=handler)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        self.heads.append(dict(request.headers))
        page = self.pages.get(request.path_qs) or self.pages.get(request.path)
        if page is None:
            return web.Response(status=404)
        if page.handler is not None:
            return await page.handler(request)
        headers = {**page.headers, **({"ETag": page.etag} if page.etag else {})}
        if page.etag and request.headers.get("If-None-Match") == page.etag:
            return web.Response(status=304, headers=headers)
        body = page.text.encode() if isinstance(page.text, str) else page.text
        return web.Response(status=page.status, body=body, content_type=page.media_type, headers=headers)

    def without_robots(self) -> list[str]:
        return [path for path in self.asked if path != "/robots.txt"]


@asynccontextmanager
async def serving() -> AsyncIterator[Site]:
    site, app = Site(), web.Application()
    app.router.add_route("*", "/{path:.*}", site.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    site.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield site
    finally:
        await runner.cleanup()


async def endless(request: web.Request) -> web.StreamResponse:
    """A body without an end, and without a length."""
    response = web.StreamResponse(headers={"Content-Type": "text/html"})
    await response.prepare(request)
    while True:
        try:
            await response.write(b"x" * 65_536)
        except (ConnectionError, asyncio.CancelledError):
            return response
