"""The clock of this process, and the user who runs it."""

from datetime import UTC, datetime
from time import monotonic


def author_name() -> str:
    """Return the user's name in the operating system."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no password entry and no environment: containers
        return "you"


class SystemClock:
    """Implements core.ports.Clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return monotonic()
