"""The tables, as SQLModel classes, a module a subject.

Whoever imports one has all of them: here `FootnoteTable.metadata` gets every table that there is. A change goes with a
revision in storage/migrations (a test compares the two).
"""

from storage.tables.base import FootnoteTable
from storage.tables.cassettes import CassetteDocumentRow, CassetteRow
from storage.tables.conversations import ConversationRow, MessageDocumentRow, MessageRow
from storage.tables.corpus import DocumentRow, PageRow, PassageRow, SourceRow
from storage.tables.extracts import ExtractionRow, ExtractRow
from storage.tables.feedback import FeedbackRow
from storage.tables.inbox import InboxRow
from storage.tables.installations import InstallationRow, OneTimeCodeRow
from storage.tables.jobs import JobRow
from storage.tables.readings import ModelReadingRow, ModelSpendingRow
from storage.tables.settings import ChannelSettingsRow, ReadingPositionRow, ThreadListeningRow
from storage.tables.stale import CitationCheckRow
from storage.tables.summaries import SummaryRow
from storage.tables.syncs import SyncRow

__all__ = [
    "CassetteDocumentRow",
    "CassetteRow",
    "ChannelSettingsRow",
    "CitationCheckRow",
    "ConversationRow",
    "DocumentRow",
    "ExtractRow",
    "ExtractionRow",
    "FeedbackRow",
    "FootnoteTable",
    "InboxRow",
    "InstallationRow",
    "JobRow",
    "MessageDocumentRow",
    "MessageRow",
    "ModelReadingRow",
    "ModelSpendingRow",
    "OneTimeCodeRow",
    "PageRow",
    "PassageRow",
    "ReadingPositionRow",
    "SourceRow",
    "SummaryRow",
    "SyncRow",
    "ThreadListeningRow",
]
