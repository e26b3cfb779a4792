"""The composition root's part for chat platforms elsewhere: what all their adapters are built from."""

from collections.abc import Sequence
from typing import TypedDict

from bot.presentation.platform_parts import LinkTo
from bot.wiring.app import App
from bot.wiring.links import link_maker
from core.access.scopes import Access
from core.answering.deletion import Forgetting
from core.features.feedback import Feedbacks
from core.features.kept_answers import KeptAnswers
from core.ports import Clock, CorpusRepository
from core.ports.service import InboxStore, SettingsRepository
from core.service.commands import Commands
from core.service.inbox import Gate, Inbox
from core.service.jobs import Jobs
from core.service.worker import Worker
from core.work.conversations import Conversations


class SharedParts(TypedDict):
    """The fields of PlatformParts (bot/presentation/platform_parts.py) that need nothing of a platform."""

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


def shared_parts(app: App, worker: Worker, gates: Sequence[Gate]) -> SharedParts:
    """`gates` are the platform's, in their order."""
    forgetting = Forgetting(
        inbox=app.inbox_store,
        conversations=app.conversations,
        stop=worker.withdraw,
        attachments=app.attachments,
    )
    return SharedParts(
        inbox=Inbox(app.inbox_store, gates, app.clock, worker.wake, worker.withdraw),
        entries=app.inbox_store,
        worker=worker,
        conversations=app.conversations,
        forgetting=forgetting,
        commands=app.commands,
        feedbacks=app.feedbacks,
        jobs=app.jobs,
        access=app.access,
        corpus=app.corpus,
        keeping=app.kept,
        settings=app.settings,
        clock=app.clock,
        link=link_maker(app),
    )
