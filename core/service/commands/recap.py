"""The command that tells what was said in a conversation so far."""

from core.access.scopes import Access
from core.features.export import footnote_label
from core.features.recap import Recaps
from core.service.commands.base import Command, CommandCall, CommandResult, current, readable_by
from core.text.words import collapse, shorten
from core.work.conversations import Conversations

QUOTE_CHARACTERS = 200


class RecapCommands:
    """/recap."""

    def __init__(self, recaps: Recaps, conversations: Conversations, access: Access) -> None:
        self._recaps = recaps
        self._conversations = conversations
        self._access = access

    @property
    def rows(self) -> tuple[Command, ...]:
        return (Command(name="recap", usage="", help="what was found in this conversation so far", run=self._recap),)

    async def _recap(self, call: CommandCall) -> CommandResult:
        """For the one who asks, from what they may read here now."""
        conversation, messages = await self._conversations.show(current(call).id, call.workspace)
        scope = await readable_by(call, self._access, call.address or conversation.address)
        proved = await self._recaps.recap(conversation, messages, scope)
        notes = [
            f"- [{item.number}] {footnote_label(item)}: “{shorten(collapse(item.quote), QUOTE_CHARACTERS)}”"
            for item in proved.citations
        ]
        text = "\n".join([proved.text, *([""] if notes else []), *notes])
        return CommandResult(text=text, citations=proved.citations)
