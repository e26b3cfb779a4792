"""Lists of extracted rows without a model, for questions that clearly ask for one (list_intent.py).

It wraps another strategy, which answers all other questions, and those without a fitting row. A question with a model,
a language other than English, a message or a file goes to the other strategy at once.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from core.domain.answer import ChatMessage, ChatRole, CitedText, Draft, ListedFacts, QueryType
from core.domain.conversation import IncomingMessage
from core.ports import ProgressSink, RetrievalStrategy, Tools

MODEL_NAME = "facts"  # the model name in the answer


class FactsFirstStrategy:
    """Implements ports.RetrievalStrategy, under the name of the strategy that it wraps."""

    def __init__(self, otherwise: RetrievalStrategy) -> None:
        self._otherwise = otherwise

    @property
    def name(self) -> str:
        return self._otherwise.name

    async def draft(
        self, question: IncomingMessage, history: Sequence[ChatMessage], tools: Tools, progress: ProgressSink
    ) -> Draft:
        """The list, or the other strategy's draft, with the errors that it raises."""
        if _may_be_listed(question):
            tools.adopt(history)
            found = await tools.list_facts(question.text)
            if found is not None:
                return _to_draft(found, tools)
        return await self._otherwise.draft(question, history, tools, progress)


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
