"""The SQL database itself: opened, migrated, written by one thread. It knows no table."""

from storage.database.database import Commit, Database

__all__ = ["Commit", "Database"]
