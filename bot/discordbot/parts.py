"""What the Discord adapter is built from. All of it is core's; bot/discord_wiring.py puts it together."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from bot.discordbot.platform import LinkTo
from bot.discordbot.progress import Pause
from core.access import Access
from core.commands import Commands
from core.conversations import Conversations
from core.feedback import Feedbacks
from core.forgetting import Forgetting
from core.inbox import Inbox
from core.jobs import Jobs
from core.keeping import KeptAnswers
from core.ports import Clock, CorpusRepository
from core.service_ports import InboxStore
from core.worker import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordParts:
    """`workspace_of` gives the workspace of a guild; `link` where a footnote leads."""

    inbox: Inbox
    entries: InboxStore
    worker: Worker
    conversations: Conversations
    forgetting: Forgetting
    commands: Commands
    feedbacks: Feedbacks
    jobs: Jobs
    access: Access
    corpus: CorpusRepository
    keeping: KeptAnswers | None
    clock: Clock
    link: LinkTo
    workspace_of: Callable[[int], str]
    catch_up_hours: float = 24.0
    pause: Pause = asyncio.sleep
