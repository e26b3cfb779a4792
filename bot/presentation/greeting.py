"""The first post in a server or channel that the bot was invited to: three lines, the same on every platform."""

from collections.abc import Callable, Sequence

from bot.presentation.platform_parts import PlatformParts
from core.domain.answer import Provenance
from core.domain.incoming import ThreadAddress

MOST_SOURCES = 3  # named; the others are counted
GREETING = "greeting"  # begins the id of its post


async def greeting_lines(
    parts: PlatformParts, address: ThreadAddress, *, plain: Callable[[str], str], mention: str, how_to_add: str
) -> tuple[list[str], Provenance]:
    """Return the documents that can be read at `address`, a question that works there, and how to add documents.

    Without such a question, there are two lines. `mention` names the bot, `how_to_add` is the platform's sentence.
    The second value is all that the lines rest on.
    """
    scope = await parts.access.scope(address.workspace, address)
    empty = await parts.commands.availability.explain(scope, address)
    if empty is not None:
        return [plain(empty), how_to_add], Provenance()
    documents = [item for item in await parts.corpus.list_readable(scope) if item.revision is not None]
    count = "1 document" if len(documents) == 1 else f"{len(documents):,} documents"
    sources = list(dict.fromkeys(item.source for item in documents))
    questions = await parts.suggestions.about(documents, scope, 1)
    lines = [
        f"I answer questions from {count} here: {_names([plain(source) for source in sources])}.",
        *(f"Try it: {mention} {plain(question)}" for question in questions),
        how_to_add,
    ]
    named = dict.fromkeys(item.source_id for item in documents)
    return lines, Provenance(documents=tuple(questions.values()), sources=tuple(named))


def _names(names: Sequence[str]) -> str:
    more = len(names) - MOST_SOURCES
    shown = ", ".join(names[:MOST_SOURCES])
    return f"{shown} and {more} more" if more > 0 else shown
