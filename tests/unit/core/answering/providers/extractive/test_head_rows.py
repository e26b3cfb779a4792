"""Rows that are quoted get the first row of their table with them, where the passage holds it."""

from dataclasses import replace

import pytest

from core.answering.providers.extractive.lists import header_rows
from core.answering.providers.extractive.quotes import Quote
from tests.unit.core.answering.providers.extractive.small_library import passages_of

ROWS = "| Linden | four |\n| Voss | seven |\n| Aldmere | nine |"


@pytest.mark.parametrize(("heading", "expected"), [("Section", ["| Linden | four |"]), ("| Harbour | Crossings |", [])])
def test_a_passage_from_the_middle_of_a_table_holds_no_head_row(heading: str, expected: list[str]) -> None:
    (source,) = passages_of("fares.xlsx", ROWS, heading=heading)
    quote = Quote(source=source, sentences=(source.passage.sentences[2],), logit=1.0, score=1.0)
    assert [span.of(ROWS) for span in header_rows(quote)] == expected


def test_a_table_further_down_in_such_a_passage_has_its_own_head_row() -> None:
    text = f"| the end | of one |\nBetween the two.\n{ROWS}"
    (source,) = passages_of("fares.xlsx", text)
    source = replace(source, passage=replace(source.passage, heading_path=("Fares", "| Harbour | Crossings |")))
    quote = Quote(source=source, sentences=(source.passage.sentences[-1],), logit=1.0, score=1.0)
    assert [span.of(text) for span in header_rows(quote)] == ["| Linden | four |"]
