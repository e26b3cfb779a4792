"""The composition root's part for what is stored: a repository for each family of tables."""

from functools import cached_property
from typing import TYPE_CHECKING

from bot.config import SLACK_KEY_SETTING, Config
from bot.machine.clock import SystemClock
from storage.cassettes import SqlCassetteRepository
from storage.conversations import SqlConversationRepository
from storage.corpus import SqlCorpusRepository
from storage.database import Database
from storage.extracts import SqlExtractRepository
from storage.installations import SqlInstallationRepository, SqlOneTimeCodes
from storage.jobs import SqlJobRepository
from storage.settings import SqlSettingsRepository
from storage.summaries import SqlSummaryRepository

if TYPE_CHECKING:
    from storage.inbox import SqlInboxStore


class StoreParts:
    """Repositories over one open database."""

    config: Config
    clock: SystemClock
    _database: Database | None  # None until the App is open

    @property
    def database(self) -> Database:
        if self._database is None:
            raise RuntimeError("the app is not open")
        return self._database

    @cached_property
    def corpus(self) -> SqlCorpusRepository:
        return SqlCorpusRepository(self.database)

    @cached_property
    def extracts(self) -> SqlExtractRepository:
        return SqlExtractRepository(self.database)

    @cached_property
    def settings(self) -> SqlSettingsRepository:
        return SqlSettingsRepository(self.database)

    @cached_property
    def summaries(self) -> SqlSummaryRepository:
        return SqlSummaryRepository(self.database)

    @cached_property
    def installations(self) -> SqlInstallationRepository:
        """Raises ConfigError without a good key."""
        from storage.sealing import Sealer

        return SqlInstallationRepository(self.database, Sealer(self.config.slack_keys(), SLACK_KEY_SETTING))

    @cached_property
    def one_time_codes(self) -> SqlOneTimeCodes:
        return SqlOneTimeCodes(self.database, self.clock)

    @cached_property
    def conversation_store(self) -> SqlConversationRepository:
        return SqlConversationRepository(self.database)

    @cached_property
    def job_store(self) -> SqlJobRepository:
        return SqlJobRepository(self.database)

    @cached_property
    def inbox_store(self) -> "SqlInboxStore":
        from storage.inbox import SqlInboxStore

        return SqlInboxStore(self.database, self.clock, self.config.service.lease_seconds)

    @cached_property
    def cassette_store(self) -> SqlCassetteRepository:
        return SqlCassetteRepository(self.database)
