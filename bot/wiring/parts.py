"""The composition root's part for chat platforms elsewhere: what all their adapters are built from."""

from collections.abc import Sequence
from typing import TypedDict

from bot.showing.platform_parts import LinkTo
from bot.wiring.app import App
from bot.wiring.links import link_maker
from core.access import Access
from core.chat_documents.keeping import KeptAnswers
from core.commands import Commands
from core.conversations import Conversations
from core.feedback import Feedbacks
from core.inbox import Gate, Inbox
from core.jobs.trees import Jobs
from core.messages.forgetting import Forgetting
from core.ports import Clock, CorpusRepository
from core.ports.service import InboxStore, SettingsRepository
from core.worker import Worker


class SharedParts(TypedDict):
    """The fields of PlatformParts (bot/showing/platform_parts.py) that need nothing of a platform."""

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
