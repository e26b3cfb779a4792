"""What a quote supports before its meaning is compared."""

from itertools import pairwise

import pytest

from core.answering.support.check import READ_AT_ONCE, Claim, SupportCheck, clauses_of, parts_to_read, support_of
from core.domain.support import Verdict


class Unlike:
    """A SupportModel to which no text says the same."""

    async def support(self, sentence: str, quotes: str) -> float:
        return 0.0


async def verdict_on(sentence: str, quote: str) -> Verdict:
    [judgement] = await SupportCheck(Unlike()).judge([Claim(sentence=sentence, quotes=[quote])])
    return judgement.verdict


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Ann keeps the key.", "Ann keeps the key under the stairs of the old mill."),
        ("The rope is 30 m long.", "Bring the rope. The rope is 30 m long and weighs 2 kg."),
        ("Der Laden öffnet um neun.", "Der Laden öffnet um neun, die Werkstatt um zehn."),
    ],
)
async def test_a_quote_supports_the_beginning_of_its_sentence(sentence: str, quote: str) -> None:
    assert await verdict_on(sentence, quote) is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Dogs may enter the garden.", "Dogs may enter the garden only on a lead."),
        ("The tower is open daily.", "The tower is open daily or by appointment."),
        ("We don't serve wine.", "We don't serve wine after ten."),
        ("Ann keeps the key.", "Nobody believes that Ann keeps the key."),
    ],
)
async def test_not_if_it_denies_or_is_taken_back(sentence: str, quote: str) -> None:
    assert await verdict_on(sentence, quote) is not Verdict.SUPPORTED


def test_short_quotes_are_read_at_once() -> None:
    assert parts_to_read(["The mill closed. It was old.", "| Ann | 3 |"]) == [
        "The mill closed. It was old.\n| Ann | 3 |"
    ]


def test_long_quotes_are_read_in_parts_that_share_sentences() -> None:
    sentences = [f"In year {year} the mill made {year} tons of flour." for year in range(1900, 2000)]
    parts = parts_to_read([" ".join(sentences)])

    assert all(len(part) <= READ_AT_ONCE for part in parts)
    assert all(any(f"{one} {two}" in part for part in parts) for one, two in pairwise(sentences))


def test_a_sentence_without_an_end_is_one_part() -> None:
    endless = "word " * READ_AT_ONCE

    assert parts_to_read([endless]) == [endless]


def test_a_sentence_that_joins_two_is_read_by_clause_too() -> None:
    joined = "Hold the button for eight seconds, then wait a full minute."

    assert clauses_of(joined) == ["Hold the button for eight seconds.", "Wait a full minute."]
    assert clauses_of("The gate is red, and cold.") == []


async def test_a_sentence_is_said_if_each_of_its_clauses_is() -> None:
    class Apart:
        """A SupportModel that knows single statements."""

        async def support(self, sentence: str, quotes: str) -> float:
            return 0.9 if sentence in quotes else 0.2

    quotes = ["The gate is red. It was painted in May."]

    assert await support_of(Apart(), "The gate is red, and it was painted in May.", quotes) == 0.9
    assert await support_of(Apart(), "The gate is red, and it was painted in June.", quotes) == 0.2
