"""What whoever runs Footnote needs of its database: how it is, whether it is sound, a copy of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """How a database is."""

    name: str  # the file's path, or the URL without its password
    kind: str  # "SQLite" or "PostgreSQL"
    schema: str  # the newest revision of storage/migrations that it has
    bytes: int  # on its disk
    rows: Mapping[str, int]  # by what they are, in the order in which people think of them


class DatabaseUpkeep(Protocol):
    """Looks at a database, and copies it; changes nothing."""

    async def describe(self) -> DatabaseFacts: ...

    async def find_faults(self) -> list[str]:
        """One sentence for each thing that is wrong, with what to do; none of them: it is sound.

        Looked at are the file's own structure, rows that belong to nothing, and that every passage is verbatim in its
        page. Reads everything: seconds for ten thousand pages.
        """

    async def back_up(self, target: Path) -> int:
        """Write database, kept answers and the key that signs links to one new file, of one moment; gives its bytes.

        While others read and write. Everything else follows from these. The file is its owner's alone.
        InvalidState when it exists, or when the database is a server's; StorageError when it can't be written.
        """
