"""The composition root's part for what is stored: a repository for each family of tables."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bot.config import SLACK_KEY_SETTING, Config
from bot.runtime.clock import SystemClock
from core.errors import InvalidState
from storage.database import Database
from storage.database.repositories.conversations import SqlConversationRepository
from storage.database.repositories.corpus import SqlCorpusRepository
from storage.database.repositories.extracts import SqlExtractRepository
from storage.database.repositories.installations import SqlInstallationRepository, SqlOneTimeCodes
from storage.database.repositories.jobs import SqlJobRepository
from storage.database.repositories.replay import SqlCassetteRepository
from storage.database.repositories.settings import SqlSettingsRepository
from storage.database.repositories.summaries import SqlSummaryRepository

if TYPE_CHECKING:
    from storage.database.repositories.inbox import SqlInboxStore
    from storage.database.repositories.maintenance import SqlUpkeep

# In the data directory. A backup leaves out what is made again: the search index, models, copies of sources.
DATABASE_FILE = "footnote.db"
KEY_FILE = "web.key"  # signs links where no key is configured
KEPT_FOLDER = "kept"  # the answers that people keep, a folder for each workspace
BACKED_UP = (KEY_FILE, KEPT_FOLDER)  # beside the database


def restore(config: Config, file: Path) -> list[str]:
    """Unpack a backup into the data directory; gives the names of what came. Raises InvalidState and StorageError."""
    from storage.database.backups import restore_backup

    if config.database_url() is not None:
        raise InvalidState(
            "The configuration names a PostgreSQL database: restore that one with pg_restore, then build the search "
            "index with `footnote db reindex`."
        )
    return restore_backup(file, config.data_path / DATABASE_FILE, BACKED_UP)


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
        from storage.database.encryption import SecretCipher

        return SqlInstallationRepository(self.database, SecretCipher(self.config.slack_keys(), SLACK_KEY_SETTING))

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
        from storage.database.repositories.inbox import SqlInboxStore

        return SqlInboxStore(self.database, self.clock, self.config.service.lease_seconds)

    @cached_property
    def upkeep_store(self) -> "SqlUpkeep":
        from storage.database.repositories.maintenance import SqlUpkeep

        return SqlUpkeep(self.database, BACKED_UP)

    @cached_property
    def cassette_store(self) -> SqlCassetteRepository:
        return SqlCassetteRepository(self.database)
