"""The port of the ledger of model calls."""

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from core.domain.replies import Usage
from core.domain.spending import DayBudget, Reservation, SpendingReport


class SpendingStore(Protocol):
    """The ledger of model calls, exact over all processes on the database."""

    async def reserve(
        self, reservation: Reservation, budgets: Sequence[DayBudget], lease_seconds: float
    ) -> DayBudget | None:
        """Store a reservation for today (UTC), or return the budget that has no room for it, and store nothing.

        It counts until it is settled, or until its lease ends, as after a kill.
        """

    async def settle(self, reservation_id: str, usage: Usage | None, micros: int | None) -> None:
        """Replace a reservation by the call's tokens; None: the call took none, and isn't counted."""

    async def report(self, workspace: str | None, since: date) -> SpendingReport:
        """Return the settled calls since a day, of one workspace or of all."""

    async def purge(self, before: date) -> int:
        """Delete the calls of earlier days; return their number."""
