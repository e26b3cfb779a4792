"""The parts of core that the adapter of a chat platform is built from."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from core.access.scopes import Access
from core.answering.answers.suggestions import SuggestedQuestions
from core.answering.deletion import Forgetting
from core.domain.answer import Citation
from core.domain.incoming import ThreadAddress
from core.domain.service import InboxEntry
from core.features.additions import Additions
from core.features.feedback import Feedbacks
from core.features.kept_answers import KeptAnswers
from core.features.live_channels import LiveChannels
from core.ports import Clock, CorpusRepository
from core.ports.service import InboxStore, SettingsRepository, TeamRepository
from core.service.commands.table import Commands
from core.service.inbox import Inbox
from core.service.jobs import Jobs
from core.service.worker import Worker
from core.work.conversations import Conversations

# Returns the address that a footnote links to, or None. It takes the thread and the id of its stored answer, "" without
# one.
LinkTo: TypeAlias = Callable[[Citation, ThreadAddress, str], str | None]
# Waits this many seconds; tests replace it.
Pause: TypeAlias = Callable[[float], Awaitable[None]]

# An entry that waited longer may have a post already: a process that stops hands its work back without a trace.
FRESH = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformParts:
    """Everything an adapter calls in core. Without `keeping`, answers can't be kept."""

    inbox: Inbox
    additions: Additions
    entries: InboxStore
    worker: Worker
    conversations: Conversations
    forgetting: Forgetting
    commands: Commands
    feedbacks: Feedbacks
    jobs: Jobs
    access: Access
    corpus: CorpusRepository
    suggestions: SuggestedQuestions
    keeping: KeptAnswers | None
    live: LiveChannels
    settings: SettingsRepository
    teams: TeamRepository
    clock: Clock
    link: LinkTo
    pause: Pause = asyncio.sleep


def may_have_post(entry: InboxEntry, started_at: datetime, now: datetime) -> bool:
    """Return whether an entry may have a post that this process, started at `started_at`, doesn't know."""
    is_older = entry.created_at <= started_at or now - entry.created_at > FRESH
    return is_older or entry.attempts > 1 or entry.event_key != entry.message_key
