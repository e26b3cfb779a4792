"""Comparisons and trends of a sentence against the figures of its quotes."""

import pytest

from core.answering.support.comparisons import check_comparisons
from core.answering.support.texts import Text

TABLE = (
    "| (in thousands) | 2024 | 2025 |\n|---|---|---|\n| Sales | 8,400 | 9,660 |\n| Operating profit | 1,932 | 1,260 |"
)
SITES = "Site A has 14 turbines and Site B has 22."


@pytest.mark.parametrize(
    ("sentence", "quotes", "is_fault"),
    [
        ("Site B has more turbines than Site A.", SITES, False),
        ("Site A has more turbines than Site B.", SITES, True),
        ("Sales were higher in 2025 than in 2024.", TABLE, False),
        ("Sales were lower in 2025 than in 2024.", TABLE, True),
        ("Operating profit fell from 2024 to 2025.", TABLE, False),
        ("Operating profit rose from 2024 to 2025.", TABLE, True),
        ("Site A has more than 12 turbines.", SITES, False),
    ],
)
def test_a_comparison_is_held_against_the_figures(sentence: str, quotes: str, is_fault: bool) -> None:
    assert bool(list(check_comparisons(Text(sentence), Text(quotes)))) is is_fault
