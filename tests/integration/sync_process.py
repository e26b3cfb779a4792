"""A process of its own that syncs one source when it is told to: by the clock's tick, or as the command does.

    python -m tests.integration.sync_process CONFIG SOURCE tick|command

"ready" is the first line it prints; a line on standard input begins; then comes one line of JSON: how often the
source was read by this process, and what the library said of it.
"""

import asyncio
import json
import sys
from pathlib import Path

from bot.config import load_config
from bot.service.schedule import sync_ticks
from bot.wiring.parts import open_parts
from tests.told_process import say


async def main(config: Path, source: str, how: str) -> None:
    async with open_parts(load_config(config, data_dir=None)) as app:
        [tick] = [each for each in await sync_ticks(app.syncs, app.clock) if each.name.endswith(f"/{source}")]
        await app.index.count()
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        if how == "tick":
            await tick.work()
            told = []
        else:
            told = [report.to_json() for report in await app.syncs.sync(app.workspace, [source])]
        documents = await app.stores.corpus.list_documents(app.workspace)
        say(json.dumps({"told": told, "documents": [item.path for item in documents]}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
