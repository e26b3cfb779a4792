"""Stale answers in words, and as JSON. Pure."""

from collections.abc import Sequence

from core.domain.answer import Citation
from core.domain.features import Fate, StaleAnswer
from core.errors import BadInput
from core.features.staleness.detection import Staleness
from core.serializers.objects import Json
from core.text.words import is_number, shorten
from core.work.commands import Command, CommandCall, CommandResult, Option, OptionKind, Question, current

TITLE_LENGTH = 80


def told(item: StaleAnswer) -> str:
    """Describe the footnotes of an answer that its documents no longer support, by document."""
    by_document: dict[tuple[str, Fate], list[int]] = {}
    for quote in item.lost:
        cited = next((c for c in item.message.citations if c.number == quote.number), None)
        title = shorten(cited.document_title or cited.document, TITLE_LENGTH) if cited else "a document"
        by_document.setdefault((title, quote.fate), []).append(quote.number)
    parts = [
        f"“{title}” was taken out ({_footnotes(numbers)})"
        if fate is Fate.GONE
        else f"“{title}” no longer says what {_footnotes(numbers)} {'quote' if len(numbers) > 1 else 'quotes'}"
        for (title, fate), numbers in by_document.items()
    ]
    return "; ".join(parts) or "a document behind it was taken out"


def stale_json(item: StaleAnswer) -> Json:
    """A stale answer as listed."""
    cited = {citation.number: citation for citation in item.message.citations}
    return {
        "conversation_id": item.conversation.id,
        "title": item.conversation.title,
        "thread": str(item.conversation.address),
        "message_id": item.message.id,
        "question": item.question,
        "answered_at": item.message.created_at.isoformat(),
        "lost": [
            {"number": quote.number, "fate": quote.fate.value, **_cited_json(cited.get(quote.number))}
            for quote in item.lost
        ],
    }


def _cited_json(citation: Citation | None) -> Json:
    if citation is None:
        return {}
    return {
        "source": citation.source,
        "document": citation.document,
        "document_title": citation.document_title,
        "page_number": citation.page_number,
        "quote": citation.quote,
    }


def _footnotes(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"footnotes {', '.join(first)} and {last}" if first else f"footnote {last}"


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
        return CommandResult(
            text="\n".join(lines) or "No stale answers here. Every cited passage is still in its document."
        )

    async def _found(self, call: CommandCall) -> list[StaleAnswer]:
        """Of the conversation; without one, for who may see all, of every one."""
        if call.conversation is None and call.sees_all:
            return await self._staleness.list_stale(call.workspace)
        return await self._staleness.list_stale(call.workspace, current(call).id)


def _question(found: list[StaleAnswer], wanted: str) -> Question:
    if not is_number(wanted) or not 1 <= int(wanted) <= len(found):
        raise BadInput(f"No stale answer {wanted[:20]!r} here. Use /stale to list them.")
    item = found[int(wanted) - 1]
    if not item.question:
        raise BadInput("The question is no longer in the history. Ask it again in your own words.")
    return Question(text=item.question, private=item.conversation.address.private_to is not None)


def _line(number: int, item: StaleAnswer) -> str:
    return f"{number}. {shorten(item.question, QUESTION_LENGTH) or '(its question was removed)'}: {told(item)}"
