"""The tables, as SQLModel classes, a module a subject.

Whoever imports one has all of them: here `FootnoteTable.metadata` gets every table that there is. A change goes with a
revision in storage/database/migrations (a test compares the two).
"""

from storage.database.tables.base import FootnoteTable
from storage.database.tables.cassettes import CassetteDocumentRow, CassetteRow
from storage.database.tables.conversations import ConversationRow, MessageDocumentRow, MessageRow
from storage.database.tables.corpus import DocumentRow, PageRow, PassageRow, SourceRow
from storage.database.tables.extracts import ExtractionRow, ExtractRow
from storage.database.tables.feedback import FeedbackRow
from storage.database.tables.inbox import InboxRow
from storage.database.tables.installations import InstallationRow, OneTimeCodeRow
from storage.database.tables.jobs import JobRow
from storage.database.tables.readings import ModelReadingRow, ModelSpendingRow
from storage.database.tables.settings import ChannelSettingsRow, ReadingPositionRow, ThreadListeningRow
from storage.database.tables.stale import CitationCheckRow
from storage.database.tables.summaries import SummaryRow
from storage.database.tables.syncs import SyncRow

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
