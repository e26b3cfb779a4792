"""A process of its own that continues the additions of a database.

    python -m tests.integration.addition_process CONFIG LEASE_SECONDS

"ready" is the first line it prints; a line on standard input begins. "waits" is printed while another process works on
an addition, "posted" for each post. The last line is the state of each addition.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from bot.config import load_config
from bot.presentation import additions as flow_module
from bot.presentation.additions import AdditionFlow, AdditionView
from bot.wiring.parts import open_parts
from core.domain.additions import Addition
from storage.database.repositories.additions import SqlAdditionRepository
from storage.sources.web_pages import fetch_link
from tests.told_process import say

PAUSE_SECONDS = 0.02


class Posts:
    """A platform that takes every post."""

    name = "discord"

    def plain(self, text: str) -> str:
        return text

    async def post(self, addition: Addition, view: AdditionView) -> str:
        say("posted")
        return f"7/{addition.id}"

    async def edit(self, addition: Addition, view: AdditionView) -> None: ...

    async def open_file(self, addition: Addition) -> AsyncIterator[bytes]:
        yield b""  # links have no file


async def pause(seconds: float) -> None:
    if seconds == flow_module.LOOK_SECONDS:
        say("waits")
    await asyncio.sleep(PAUSE_SECONDS)


async def main(config: Path, lease_seconds: float) -> None:
    flow_module.RENEW_SECONDS = lease_seconds / 10
    async with open_parts(load_config(config, data_dir=None)) as app:
        additions = replace(
            app.additions,
            repository=SqlAdditionRepository(app.stores.database, lease_seconds),
            fetch=partial(fetch_link, allowed=lambda address: True),
        )
        await app.index.count()
        reading = asyncio.create_task(app.uploads.work([app.workspace]))
        flow = AdditionFlow(additions, Posts(), pause)
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        unfinished = await additions.unsettled("discord")
        await flow.resume()
        await flow.idle()
        say(json.dumps([(await additions.get(each.id, each.workspace)).state for each in unfinished]))
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2])))
