"""Recorded runs as people use them: kept for some days, played again, kept for good as regression cases."""

from collections.abc import Sequence
from datetime import timedelta

from core.answering.answers.building import build_error_answer
from core.domain.conversation import Role
from core.domain.features import Replayed, StoredCassette
from core.errors import BadInput, InvalidState, NotFound
from core.features.replay.recording import RunStore, unpack
from core.features.replay.replaying import StrategyOver, replay
from core.ports import Clock
from core.ports.service import CassetteRepository
from core.work.commands import Command, CommandCall, CommandResult, current
from core.work.conversations import Conversations

DEFAULT_DAYS = 7


class Cassettes(RunStore):
    """`strategy` builds a strategy over the recorded provider; `days` is how long runs are kept that are no case."""

    def __init__(
        self, repository: CassetteRepository, strategy: StrategyOver, clock: Clock, *, days: float = DEFAULT_DAYS
    ) -> None:
        super().__init__(repository, clock)
        self._strategy = strategy
        self._days = days

    async def replay(self, message_id: str, workspace: str) -> Replayed:
        """Play a run again. NotFound for an unknown one, InvalidState for one of another version."""
        await self.settled()
        stored = await self._repository.find(message_id, workspace)
        return await replay(unpack(stored.data), self._strategy, self._clock)

    async def list_runs(self, workspace: str) -> list[StoredCassette]:
        """Newest first, without their data."""
        await self.settled()
        return await self._repository.list_cassettes(workspace)

    async def set_case(self, message_id: str, workspace: str, *, is_case: bool) -> StoredCassette:
        """Keep a run as a regression case, or no longer. NotFound for an unknown one."""
        await self.settled()
        stored = await self._repository.find(message_id, workspace)
        await self._repository.mark_case(stored.message_id, is_case=is_case)
        return stored

    async def play_cases(self, workspace: str) -> Sequence[tuple[StoredCassette, Replayed]]:
        """Play all regression cases of a workspace, oldest first; an unreadable case counts as different."""
        cases = await self._repository.list_cassettes(workspace, cases_only=True, limit=10_000)
        return [(case, await self._play(case.message_id, workspace)) for case in reversed(cases)]

    async def _play(self, message_id: str, workspace: str) -> Replayed:
        try:
            return await self.replay(message_id, workspace)
        except (InvalidState, NotFound) as error:
            return Replayed(answer=build_error_answer(error), difference=str(error))

    async def purge(self) -> int:
        """Forget runs that are too old and no case; returns how many."""
        return await self._repository.purge(self._clock.now() - timedelta(days=self._days))


def case_command(conversations: Conversations, cassettes: Cassettes) -> Command:
    """Return the row of the table that keeps recorded runs."""

    async def keep(call: CommandCall) -> CommandResult:
        if not (call.is_admin or call.sees_all):
            raise call.refuse("Only an admin can keep an answer as a regression case.")
        _, messages = await conversations.show(current(call).id, call.workspace)
        answer = next((item for item in reversed(messages) if item.role is Role.ASSISTANT and not item.is_note), None)
        if answer is None:
            raise BadInput("This conversation has no answer yet. Ask a question first.")
        stored = await cassettes.set_case(answer.id, call.workspace, is_case=True)
        return CommandResult(
            text=f"Kept as a regression case: “{stored.question}”. `footnote eval` plays it from now on, and "
            f"`footnote replay {stored.message_id[:8]}` shows it."
        )

    return Command(name="case", usage="", help="keep the last answer's run as a regression case (admins)", run=keep)
