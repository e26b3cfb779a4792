"""/keep: the last answer of a thread becomes a page that later questions can cite."""

from core.domain.answer import AnswerStatus
from core.domain.conversation import Role
from core.errors import BadInput
from core.features.kept_answers import KEPT_TITLE, KeptAnswers
from core.service.commands.base import Command, CommandCall, CommandResult, current
from core.work.conversations import Conversations


class KeepingCommands:
    """The row of the table that keeps answers."""

    def __init__(self, conversations: Conversations, kept: KeptAnswers) -> None:
        self._conversations = conversations
        self._kept = kept

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(
                name="keep",
                usage="",
                help="keep the last answer, for later ones to cite",
                run=self._keep,
                for_channels=True,
            ),
        )

    async def _keep(self, call: CommandCall) -> CommandResult:
        _, messages = await self._conversations.show(current(call).id, call.workspace)
        answered = AnswerStatus.ANSWERED.value
        place = next((i for i in reversed(range(len(messages))) if messages[i].status == answered), None)
        if place is None:
            raise BadInput("There is no answer to keep in this conversation yet: ask something first.")
        if current(call).address.private_to is not None:
            raise BadInput("This answer is for one person alone: ask where others see it, then keep that answer.")
        if call.link is None:
            raise BadInput(
                "This answer has no web address to be kept with: keep it on the platform where it was given."
            )
        asked = next((item for item in reversed(messages[:place]) if item.role is Role.USER), None)
        kept = await self._kept.keep(
            call.workspace,
            question=asked.content if asked else "",
            answer=messages[place].content,
            link=f"{call.link}#{messages[place].id[:8]}",  # the thread's other answers may be kept, too
            by=call.author_name or call.author,
            cited={item.document_id for item in messages[place].citations},
            is_ours=True,
        )
        again = "Kept anew" if kept.replaced else "Kept"
        return CommandResult(text=f"{again} as “{kept.title}” in “{KEPT_TITLE}”.", is_public=True)
