"""What the Discord adapter is built from. All of it is core's; bot/discord_wiring.py puts it together."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from bot.discordbot.platform import LinkTo
from bot.discordbot.progress import Pause
from core.conversations import Conversations
from core.forgetting import Forgetting
from core.inbox import Inbox
from core.ports import Clock
from core.service_ports import InboxStore


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordParts:
    """`workspace_of` gives the workspace of a guild; `link` where a footnote leads."""

    inbox: Inbox
    entries: InboxStore
    conversations: Conversations
    forgetting: Forgetting
    clock: Clock
    link: LinkTo
    workspace_of: Callable[[int], str]
    catch_up_hours: float = 24.0
    pause: Pause = asyncio.sleep
