"""All repositories over one database."""

from collections.abc import Callable

from core.domain.incoming import ThreadAddress
from storage.database import Database
from storage.database.repositories.additions import SqlAdditionRepository
from storage.database.repositories.audit import SqlAuditLog
from storage.database.repositories.auto_answers import SqlAutoAnswerRepository
from storage.database.repositories.channels import SqlChannelMessages
from storage.database.repositories.connections import SqlCitedRepository
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.erasure import SqlErasure
from storage.database.repositories.extracts import SqlExtractRepository
from storage.database.repositories.feedback import SqlFeedbackRepository
from storage.database.repositories.identity import SqlIdentityRepository
from storage.database.repositories.jobs import SqlJobRepository
from storage.database.repositories.kept_answers import SqlKeptAnswerRepository
from storage.database.repositories.people import SqlPersonRecords
from storage.database.repositories.readings import SqlReadingRepository
from storage.database.repositories.replay import SqlCassetteRepository
from storage.database.repositories.settings import SqlSettingsRepository
from storage.database.repositories.staleness import SqlStaleRepository
from storage.database.repositories.summaries import SqlSummaryRepository
from storage.database.repositories.syncing import SqlSyncRepository
from storage.database.repositories.teams import SqlTeamRepository


class Stores:
    """The repositories of a database. Repositories that refer to each other's rows have to share it."""

    def __init__(self, database: Database, is_private: Callable[[ThreadAddress], bool]) -> None:
        self.database = database
        self.additions = SqlAdditionRepository(database)
        self.audit = SqlAuditLog(database)
        self.auto_answers = SqlAutoAnswerRepository(database)
        self.cassettes = SqlCassetteRepository(database)
        self.channels = SqlChannelMessages(database)
        self.cited = SqlCitedRepository(database, is_private)
        self.conversations = SqlConversationRepository(database)
        self.corpus = SqlCorpusRepository(database)
        self.erasure = SqlErasure(database)
        self.extracts = SqlExtractRepository(database)
        self.feedback = SqlFeedbackRepository(database)
        self.identity = SqlIdentityRepository(database)
        self.jobs = SqlJobRepository(database)
        self.kept = SqlKeptAnswerRepository(database)
        self.people = SqlPersonRecords(database)
        self.readings = SqlReadingRepository(database)
        self.settings = SqlSettingsRepository(database)
        self.stale = SqlStaleRepository(database)
        self.summaries = SqlSummaryRepository(database)
        self.syncs = SqlSyncRepository(database)
        self.teams = SqlTeamRepository(database)
