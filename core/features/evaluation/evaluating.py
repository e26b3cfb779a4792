"""Each question is searched and asked; follow-ups are asked in the conversation of the question before them.

What can't be measured is left out with its reason. Pure but for the calls.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from core.domain.answer import Answer
from core.errors import BadInput
from core.features.evaluation.gold import GoldQuestion, as_compared, holds_answer, holds_quote
from core.features.evaluation.report import EvaluationReport, Outcome

SEARCHED = 10  # pages; recall_at_10 needs as many


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """A page that a search found: its document's path and its text."""

    document: str
    text: str


Search = Callable[[GoldQuestion], Awaitable[Sequence[FoundPage]]]
# The question and the id of the conversation it goes on with.
Ask = Callable[[GoldQuestion, str | None], Awaitable[Answer]]
# The text of a cited page, by its id.
PageText = Callable[[str], Awaitable[str]]


async def evaluate(
    questions: Sequence[GoldQuestion],
    *,
    search: Search,
    ask: Ask,
    page_text: PageText,
    documents: Collection[str],
    on_question: Callable[[GoldQuestion], None] = lambda _: None,
    clock: Callable[[], float] = time.perf_counter,
) -> EvaluationReport:
    """Search and ask, in order, every question that can be measured and whose document is in the library.

    `documents` are its paths. A question that can't be measured is asked all the same where another one follows it; a
    follow-up of a question that was not asked is left out. `on_question` is told when one is done with.
    """
    left_out: dict[str, str] = {}
    conversations: dict[str, str] = {}
    outcomes: list[Outcome] = []
    followed = {question.followup_of for question in questions}
    for question in questions:
        if reason := question.unmeasurable:
            left_out[question.id] = reason
        if missing := _missing(question, documents, conversations):
            left_out[question.id] = missing
        elif reason is None or question.id in followed:
            started = clock()
            try:
                answer = await ask(question, conversations.get(question.followup_of or ""))
            except BadInput as error:  # it is no question: empty, far too long, a command
                left_out[question.id] = str(error)
            else:
                seconds = clock() - started
                conversations[question.id] = answer.conversation_id
                if reason is None:
                    outcomes.append(await _outcome(question, answer, await search(question), page_text, seconds))
        on_question(question)
    return EvaluationReport(outcomes=tuple(outcomes), left_out=left_out)


def _missing(question: GoldQuestion, documents: Collection[str], asked: Collection[str]) -> str | None:
    """What it needs that is not there, in a sentence."""
    if question.document is not None and question.document not in documents:
        return f"{question.document} is not in the library"
    if question.followup_of is not None and question.followup_of not in asked:
        return f"it follows {question.followup_of}, which was left out"
    return None


async def _outcome(
    question: GoldQuestion, answer: Answer, pages: Sequence[FoundPage], page_text: PageText, seconds: float
) -> Outcome:
    there = [
        citation for citation in answer.citations if citation.proved and _is_gold_document(citation.document, question)
    ]
    on_page = False
    for page_id in dict.fromkeys(citation.page_id for citation in there):
        on_page = on_page or (question.quote is not None and holds_quote(await page_text(page_id), question.quote))
    return Outcome(
        question=question,
        status=answer.status.value,
        rank=_rank(question, pages),
        footnote_document=bool(there),
        footnote_page=on_page,
        holds_answer=holds_answer(answer.text, question),
        reveals=any(as_compared(words) in as_compared(answer.text) for words in question.forbidden),
        seconds=seconds,
    )


def _is_gold_document(document: str, question: GoldQuestion) -> bool:
    """A question that names none is content with any."""
    return question.document in (None, document)


def _rank(question: GoldQuestion, pages: Sequence[FoundPage]) -> int | None:
    if question.quote is None:
        return None
    places = (
        place
        for place, page in enumerate(pages[:SEARCHED], start=1)
        if _is_gold_document(page.document, question) and holds_quote(page.text, question.quote)
    )
    return next(places, None)
