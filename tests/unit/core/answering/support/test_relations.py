"""Relations of people, and comparisons that figures bear out, in a sentence against its quotes."""

import pytest

from core.answering.support.relations import check_comparisons, check_people
from core.answering.support.texts import Text

WILL = "Edmund Crale left the mill to his daughter Judith and the house to his younger brother Silas."
HOLT = "Captain Ines Holt retired on 12 June. Her deputy, Joran Beck, took over the next day."
CHAIR = "The members elected Petra Lindgren as chair. She replaced Olaf Brandt, who did not stand again."
TABLE = (
    "| (in thousands) | 2024 | 2025 |\n|---|---|---|\n| Sales | 8,400 | 9,660 |\n| Operating profit | 1,932 | 1,260 |"
)
SITES = "Site A has 14 turbines and Site B has 22."


@pytest.mark.parametrize(
    ("sentence", "quotes", "is_fault"),
    [
        ("Edmund was the father of Judith.", WILL, False),
        ("Silas was the brother of Edmund Crale.", WILL, False),
        ("Edmund was Judith's brother.", WILL, True),
        ("Silas was Edmund's son.", WILL, True),
        ("Joran Beck was Ines Holt's deputy.", HOLT, False),
        ("Joran Beck succeeded Ines Holt.", HOLT, False),
        ("Ines Holt was Joran Beck's deputy.", HOLT, True),
        ("Petra Lindgren was Olaf Brandt's successor.", CHAIR, False),
        ("Olaf Brandt succeeded Petra Lindgren.", CHAIR, True),
    ],
)
def test_a_relation_is_held_against_that_of_the_quotes(sentence: str, quotes: str, is_fault: bool) -> None:
    assert bool(list(check_people(sentence, quotes))) is is_fault


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
