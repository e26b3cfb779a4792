"""What the Discord adapter is built from; bot/wiring/discord.py puts it together."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.presentation.platform_parts import PlatformParts


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordParts(PlatformParts):
    """`workspace_of` gives the workspace of a guild."""

    workspace_of: Callable[[int], str]
    catch_up_hours: float = 24.0
