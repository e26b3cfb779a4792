"""Questions that name the rows of a table by their dates."""

from core.knowledge.facts.table_grids import Grid
from core.knowledge.facts.table_questions import compute
from core.knowledge.facts.table_words import read_table_question


def rows_named(question: str, *days: str) -> tuple[int, ...] | None:
    """Return the rows that answer a question to a table of prices by day; None if nothing is computed."""
    asked = read_table_question(question)
    rows = [(day, str(place)) for place, day in enumerate(days, start=1)]
    found = compute(asked, Grid(title="Wool", columns=("Date", "Price"), rows=rows)) if asked is not None else None
    return found.rows if found is not None else None


def test_a_month_is_one_of_english_questions() -> None:
    assert rows_named("What was the price of wool in August?", "2024-07-01", "2024-08-01") == (1,)
    assert rows_named("What was the price of wool ago?", "2024-07-01", "2024-08-01") is None  # August in Portuguese


def test_days_of_one_month_are_told_apart() -> None:
    assert rows_named("What was the price of wool on 15 June 2024?", "2024-06-14", "2024-06-15") == (1,)
    assert rows_named("What was the price of wool in June 2024?", "2024-06-14", "2024-06-15") is None


def test_a_day_of_each_year_stands_for_the_year() -> None:
    assert rows_named("What was the price of wool in 2024?", "2023-06-30", "2024-06-30") == (1,)
    assert rows_named("What was the price of wool in June 2024?", "2023-06-30", "2024-06-30") is None
