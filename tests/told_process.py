"""The other side of processes that tests start: told what to do by lines of JSON, they say how far they are."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any


async def told() -> AsyncIterator[Any]:
    """What each line on standard input says, until it ends."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield json.loads(line)


def say(line: str) -> None:
    """At once: whoever waits reads it from a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
