"""Runs a question file through the app: searches as `footnote search`, answers as `footnote ask`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from bot.cli.ask import question_message
from bot.cli.question_files import read_lines
from core.domain.answer import Answer
from core.domain.corpus import SearchQuery
from core.errors import BadInput
from core.features.evaluation import (
    SEARCHED,
    EvaluationReport,
    FoundPage,
    GoldQuestion,
    PlayedCase,
    evaluate,
    read_questions,
)
from core.work.progress import SilentProgress
from core.work.question_lines import FORM

if TYPE_CHECKING:
    from bot.wiring.parts import Parts


def load_questions(file: Path) -> list[GoldQuestion]:
    """Raises BadInput for a file that can't be read, and for its first bad line."""
    return read_questions(read_lines(file))


def require_something(report: EvaluationReport, questions: Sequence[GoldQuestion], file: Path) -> None:
    """Raises BadInput where nothing was asked and no case played; a file without questions plays the cases alone."""
    if not questions and not report.cases:
        raise BadInput(f"The question file {str(file)!r} holds no question: {FORM}, one on each line.")


async def run_evaluation(app: "Parts", questions: Sequence[GoldQuestion], console: Console) -> EvaluationReport:
    """Search and ask every question, each chain of follow-ups in a conversation of its own; then play the kept cases.

    Progress goes to `console`.
    """
    scope = await app.scope()
    documents = await app.corpus.list_documents(app.workspace)
    readable = {document.path for document in documents if document.revision is not None}

    async def search(question: GoldQuestion) -> list[FoundPage]:
        hits = await app.library.search(SearchQuery(text=question.question, limit=SEARCHED), scope)
        pages = [(hit, await app.corpus.get_page(hit.page_id, scope)) for hit in hits]
        return [FoundPage(document=hit.document.path, text=page.text) for hit, page in pages]

    async def ask(question: GoldQuestion, conversation_id: str | None) -> Answer:
        position = f"{question.document}={question.position}" if question.position and question.document else None
        message = replace(
            question_message(app.workspace, question.question), conversation_id=conversation_id, position=position
        )
        return await app.answers.answer(message, SilentProgress())

    async def page_text(page_id: str) -> str:
        return (await app.corpus.get_page(page_id, scope)).text

    columns = ("Asking", BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("eval", total=len(questions))
        report = await evaluate(
            questions,
            search=search,
            ask=ask,
            page_text=page_text,
            documents=readable,
            on_question=lambda _: bar.advance(task),
        )
    played = await app.cassettes.play_cases(app.workspace)
    cases = [
        PlayedCase(message_id=case.message_id, question=case.question, difference=outcome.difference)
        for case, outcome in played
    ]
    return replace(report, cases=tuple(cases))
