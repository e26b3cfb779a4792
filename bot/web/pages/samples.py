"""The sample library: added by a tile of the first page, removed in the library."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web

from bot.web.pages.uploads import require_admin
from bot.web.parts import WebParts

PATH = "/library/samples"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleLibrary:
    """The packaged documents, as a source called `name`."""

    name: str
    add: Callable[[], Awaitable[object]]
    remove: Callable[[], Awaitable[object]]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # two clicks are one


SAMPLES = web.AppKey("samples", SampleLibrary)


def add_sample_tile(app: web.Application, parts: WebParts, samples: SampleLibrary) -> None:
    """Add the form's route (a WebAddition)."""
    app[SAMPLES] = samples
    app.router.add_post(PATH, change)


async def change(request: web.Request) -> web.StreamResponse:
    """Add the sample library, which takes some seconds, or remove it."""
    require_admin(request)
    samples = request.app[SAMPLES]
    removes = (await request.post()).get("do") == "remove"
    async with samples.lock:
        await (samples.remove() if removes else samples.add())
    raise web.HTTPSeeOther("/library" if removes else "/")
