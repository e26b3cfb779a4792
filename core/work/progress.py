"""A progress sink for callers that only want the answer."""

from core.domain.jobs import Job


class SilentProgress:
    """Shows nothing."""

    def text(self, piece: str) -> None:
        """Show nothing."""

    def reset(self) -> None:
        """Nothing was shown."""

    def step(self, job: Job) -> None:
        """Show nothing."""
