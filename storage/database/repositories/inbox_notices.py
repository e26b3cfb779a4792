"""PostgreSQL tells the processes that share an inbox of new work, so that none has to wait for its next poll.

A notice is sent in the transaction that it tells of, so it comes with the commit or not at all. Hearing them takes a
connection of its own; while that is lost, polls are all there is.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import URL, text

CHANNEL = "footnote_inbox"
PAUSE_SECONDS = 5.0  # before the next try to connect
CONNECT_SECONDS = 10
# A connection that died without a word is noticed after a minute, and not by the system's default of two hours.
KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}

NOTIFY = text("SELECT pg_notify(:channel, :sender)").bindparams(channel=CHANNEL)

log = logging.getLogger(__name__)


@asynccontextmanager
async def listening(url: URL, receiver: str, wake: Callable[[], None]) -> AsyncIterator[None]:
    """Call `wake` for each notice of another sender than `receiver`, and after each time of not listening."""
    tried = asyncio.Event()
    task = asyncio.create_task(_listen(_options(url, receiver), receiver, wake, tried), name="inbox notices")
    try:
        await tried.wait()
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _listen(options: dict[str, Any], receiver: str, wake: Callable[[], None], tried: asyncio.Event) -> None:
    import psycopg  # optional: the driver of PostgreSQL alone

    while True:
        try:
            async with await psycopg.AsyncConnection.connect(autocommit=True, **options) as connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                tried.set()
                wake()
                async for notice in connection.notifies():
                    if notice.payload != receiver:
                        wake()
        except psycopg.Error as error:
            log.warning("New questions of other processes are seen at the next poll alone: %s", error)
        tried.set()
        await asyncio.sleep(PAUSE_SECONDS)


def _options(url: URL, receiver: str) -> dict[str, Any]:
    """For the driver; whoever looks at the server's connections finds this one by its name."""
    _, options = url.get_dialect()().create_connect_args(url)
    name = f"footnote inbox {receiver}"
    return {**options, "application_name": name, "connect_timeout": CONNECT_SECONDS, **KEEPALIVES}
