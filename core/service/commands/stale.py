"""/stale: answers whose documents do not say any more what they quote, and asking one of them again."""

from core.domain.features import StaleAnswer
from core.errors import BadInput
from core.features.staleness.detection import Staleness
from core.features.staleness.listing import told
from core.service.commands.base import Command, CommandCall, CommandResult, Option, OptionKind, Question, current
from core.text.words import is_number, shorten

LISTED = 20  # in a chat; more is a wall
QUESTION_LENGTH = 120


class StaleCommands:
    """The row of the table about stale answers."""

    def __init__(self, staleness: Staleness) -> None:
        self._staleness = staleness

    @property
    def rows(self) -> tuple[Command, ...]:
        return (
            Command(
                name="stale",
                usage="[N]",
                help="answers here whose documents have changed since; with a number, ask that one again",
                run=self._stale,
                options=(Option(name="number", help="which one to ask again", kind=OptionKind.NUMBER),),
            ),
        )

    async def _stale(self, call: CommandCall) -> CommandResult:
        found = await self._found(call)
        wanted = call.option("number")
        if wanted:
            return CommandResult(text="", ask=_question(found, wanted))
        lines = [_line(number, item) for number, item in enumerate(found[:LISTED], start=1)]
        lines += [f"- and {len(found) - LISTED} more"] if len(found) > LISTED else []
        lines += ["", "Ask one again with /stale and its number."] if lines else []
        return CommandResult(text="\n".join(lines) or "All answers here still stand on what their documents say.")

    async def _found(self, call: CommandCall) -> list[StaleAnswer]:
        """Of the conversation; without one, for who may see all, of every one."""
        if call.conversation is None and call.sees_all:
            return await self._staleness.list_stale(call.workspace)
        return await self._staleness.list_stale(call.workspace, current(call).id)


def _question(found: list[StaleAnswer], wanted: str) -> Question:
    if not is_number(wanted) or not 1 <= int(wanted) <= len(found):
        raise BadInput(f"There is no stale answer {wanted[:20]!r} here: /stale lists them.")
    item = found[int(wanted) - 1]
    if not item.question:
        raise BadInput("What was asked is not in the history any more: ask in your own words.")
    return Question(text=item.question, private=item.conversation.address.private_to is not None)


def _line(number: int, item: StaleAnswer) -> str:
    return f"{number}. {shorten(item.question, QUESTION_LENGTH) or '(its question was removed)'}: {told(item)}"
