"""Calls to Slack's API: a client that never repeats a call by itself, and how long a call is waited for.

slack_sdk's clients repeat calls whose connection broke, which would double posts: here that is the caller's decision.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from slack_sdk.web.async_client import AsyncWebClient

from bot.presentation.platform_parts import Pause
from bot.slackbot.errors import understood
from core.errors import PlatformError

TIMEOUT_SECONDS = 15  # of one call; a post with its retries has 60
PATIENCE_SECONDS = 10.0  # that a call waits in place, all its pauses together, when Slack asks for one

Reply = TypeVar("Reply")


def build_client(token: str | None, base_url: str | None = None) -> AsyncWebClient:
    """A client for one token. It repeats nothing by itself. `base_url`: of another Slack than slack.com."""
    return AsyncWebClient(
        token=token, base_url=base_url or AsyncWebClient.BASE_URL, timeout=TIMEOUT_SECONDS, retry_handlers=[]
    )


async def call(
    doing: str,
    make: Callable[[], Awaitable[Reply]],
    *,
    pause: Pause = asyncio.sleep,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Reply:
    """What `make` gives. Where Slack asks for a short pause (429), nothing was carried out: it is made again after it.

    Raises core errors; a PlatformError with `retry_after_seconds` where the pause is longer than the patience left.
    `doing` as in errors.py.
    """
    while True:
        try:
            with understood(doing):
                return await make()
        except PlatformError as error:
            asked = error.retry_after_seconds
            cost = max(asked or 0.0, 1.0)
            if asked is None or cost > patience_seconds:
                raise
            patience_seconds -= cost
        await pause(asked)
