"""What an adapter of a chat platform elsewhere is built from. All of it is core's; its wiring puts it together."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from core.access.scopes import Access
from core.answering.deletion import Forgetting
from core.domain.answer import Citation
from core.domain.conversation import ThreadAddress
from core.features.feedback import Feedbacks
from core.features.kept_answers import KeptAnswers
from core.ports import Clock, CorpusRepository
from core.ports.service import InboxStore, SettingsRepository
from core.service.commands import Commands
from core.service.inbox import Inbox
from core.service.jobs import Jobs
from core.service.worker import Worker
from core.work.conversations import Conversations

# Where a footnote of an answer in a thread leads; None: nowhere that can be clicked.
LinkTo: TypeAlias = Callable[[Citation, ThreadAddress], str | None]
# Waits so many seconds; tests have a clock of their own.
Pause: TypeAlias = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformParts:
    """`keeping` None: answers can't be kept here."""

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
    settings: SettingsRepository
    clock: Clock
    link: LinkTo
    pause: Pause = asyncio.sleep
