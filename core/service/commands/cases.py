"""/case: the last answer of a thread becomes a regression case, which `footnote eval` plays."""

from core.domain.conversation import Role
from core.errors import AccessDenied, BadInput
from core.features.replay.cassettes import Cassettes
from core.service.commands.base import Command, CommandCall, CommandResult, current
from core.work.conversations import Conversations


class CaseCommands:
    """The row of the table that keeps recorded runs."""

    def __init__(self, conversations: Conversations, cassettes: Cassettes) -> None:
        self._conversations = conversations
        self._cassettes = cassettes

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(
                name="case",
                usage="",
                help="keep how the last answer was made as a regression case (admins)",
                run=self._keep,
            ),
        )

    async def _keep(self, call: CommandCall) -> CommandResult:
        if not (call.is_admin or call.sees_all):
            raise AccessDenied("Only an admin can keep an answer as a regression case: ask one to do it.")
        _, messages = await self._conversations.show(current(call).id, call.workspace)
        answer = next((item for item in reversed(messages) if item.role is Role.ASSISTANT and not item.is_note), None)
        if answer is None:
            raise BadInput("There is no answer in this conversation yet: ask something first.")
        stored = await self._cassettes.set_case(answer.id, call.workspace, is_case=True)
        return CommandResult(
            text=f"Kept as a regression case: “{stored.question}”. `footnote eval` plays it from now on, and "
            f"`footnote replay {stored.message_id[:8]}` shows it."
        )
