"""How the library is used, as the terminal says it."""

from datetime import UTC, datetime

import pytest
from rich.console import Console

from bot.terminal.statistics import statistics_view
from core.domain.answer import AnswerStatus, Usage
from core.domain.features import Statistics


def told(count: int) -> str:
    found = Statistics(
        since=datetime(2026, 1, 2, tzinfo=UTC),
        questions=count,
        by_status={AnswerStatus.ANSWERED: count} if count else {},
        helpful=0,
        not_helpful=0,
        usage=Usage(),
        documents=0,
        most_cited=(),
        never_cited=(),
        never_cited_count=0,
        gaps=(),
    )
    console = Console(width=100)
    with console.capture() as capture:
        console.print(statistics_view(found))
    return capture.get().splitlines()[0]


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 questions"), (1, "1 question (1 answered)"), (2, "2 questions (2 answered)")]
)
def test_one_question_is_not_many(count: int, said: str) -> None:
    assert told(count) == f"Since 2026-01-02: {said}"
