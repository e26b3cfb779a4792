"""The SQL database itself: opened, migrated, written by one thread. It knows no table."""

from storage.database.database import Database
from storage.database.writing import Commit

__all__ = ["Commit", "Database"]
