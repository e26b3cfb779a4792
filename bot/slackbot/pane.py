"""The assistant pane: a greeting, and questions that this library answers."""

from collections.abc import Mapping
from typing import Any

from bot.slackbot.acts import Act
from bot.slackbot.interactions import Desk


async def greet(desk: Desk, act: Act) -> None:
    """A pane was opened: say what can be asked here. Raises core errors."""
    raise NotImplementedError


async def look_elsewhere(desk: Desk, act: Act, context: Mapping[str, Any]) -> None:
    """Another channel was opened beside the pane. Raises core errors."""
    raise NotImplementedError


async def set_title(desk: Desk, act: Act, title: str) -> None:
    """Name a thread of the pane; threads elsewhere have no names and are left alone. Raises core errors."""
    raise NotImplementedError
