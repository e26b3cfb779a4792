"""The draft of a question: a list of extracted rows without a model, else the text of the chosen strategy.

Only questions that clearly ask for a list get one (list_intent.py). A question with a model, a language other than
English, a message or a file goes to the strategy at once, and so does one without a fitting row.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from core.answering.observer import RunObserver
from core.answering.strategies.choosing import ChosenStrategy
from core.domain.answer import ChatMessage, ChatRole, CitedText, Draft, ListedFacts, QueryType
from core.domain.conversation import IncomingMessage
from core.errors import ProviderChanged
from core.ports import ProgressSink, Tools

MODEL_NAME = "facts"  # the model name in the answer
MOST_CHANGES = 4  # of providers in one question; configurations have fewer
Choose = Callable[[IncomingMessage, RunObserver], Awaitable[ChosenStrategy]]


async def draft(
    choose: Choose,
    question: IncomingMessage,
    history: Sequence[ChatMessage],
    tools: Tools,
    progress: ProgressSink,
    observer: RunObserver,
) -> Draft:
    """Draft with the chosen strategy, and again with another choice when another provider has to answer.

    Raises ProviderError, and the errors of `choose`.
    """
    for changes in range(MOST_CHANGES + 1):
        chosen = await choose(question, observer)
        observer.choose_strategy(chosen.strategy.name)
        try:
            return await draft_once(chosen, question, history, tools, progress)
        except ProviderChanged:
            if changes == MOST_CHANGES:
                raise
            progress.reset()
    raise AssertionError("unreachable")


async def draft_once(
    chosen: ChosenStrategy,
    question: IncomingMessage,
    history: Sequence[ChatMessage],
    tools: Tools,
    progress: ProgressSink,
) -> Draft:
    """Return the list, or the strategy's draft, with the note of the choice. Raises the errors of the strategy."""
    written = None
    if chosen.lists_facts and _may_be_listed(question):
        tools.adopt(history)
        found = await tools.list_facts(question.text)
        written = _to_draft(found, tools) if found is not None else None
    if written is None:
        written = await chosen.strategy.draft(question, history, tools, progress)
    return replace(written, notes=(*written.notes, chosen.note)) if chosen.note else written


def _may_be_listed(question: IncomingMessage) -> bool:
    is_plain = question.query_type is not QueryType.SUMMARY and question.model is None
    is_english = question.language is None or question.language.casefold().startswith("en")
    return is_plain and is_english and question.about is None and not question.attachments


def _to_draft(found: ListedFacts, tools: Tools) -> Draft:
    asked = ChatMessage(role=ChatRole.ASSISTANT, tool_invocations=(found.invocation,))
    told = ChatMessage(role=ChatRole.TOOL_RESULT, tool_results=(found.result,))
    return Draft(
        segments=tuple(_segments(found)), evidence=tools.evidence, new_messages=(asked, told), model=MODEL_NAME
    )


def _segments(found: ListedFacts) -> Iterator[CitedText]:
    """Return the rows as a list, below the titles of their documents if there are several."""
    yield CitedText(text=f"{_count(found)}:")
    several = len({row.document for row in found.rows}) > 1
    for title, rows in groupby(found.rows, key=lambda row: row.document):
        if several:
            yield CitedText(text=f"\n\n**{title}**:")
        for row in rows:
            yield CitedText(text=f"\n- {row.text}", citations=(row.citation,))
    if found.unknown:
        which = "1 more, which says" if found.unknown == 1 else f"{found.unknown} more, which say"
        yield CitedText(text=f"\n\nI looked at {which} no date that could be compared.")


def _count(found: ListedFacts) -> str:
    if found.total > len(found.rows):
        return f"The first {len(found.rows)} of {found.total} {found.noun}"
    return f"{len(found.rows)} {found.noun if len(found.rows) > 1 else found.noun.removesuffix('s')}"
