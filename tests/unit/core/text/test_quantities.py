"""Quantities in running text, by their readings and units."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.quantities import find_quantities


@pytest.mark.parametrize(
    ("text", "values", "dimension"),
    [
        ("about $35.5 million", (35_500_000.0,), "$"),
        ("51,262 million", (51_262_000_000.0, 51_262_000.0), ""),  # German would read the comma as a point
        ("12,3 Millionen Euro", (12_300_000.0,), "€"),
        ("35.196.581 Dollar", (35_196_581.0,), "$"),
        ("thirty-two wolves", (32.0,), ""),
        ("two and a half hours", (2.5,), "time"),
        ("zweieinhalb Stunden", (2.5,), "time"),
        ("dos horas y media", (2.5,), "time"),
        ("a depth of 12 m", (12.0,), "length"),
        ("£21m", (21_000_000.0,), "£"),
        ("11,900 square kilometres", (11_900.0, 11.9), "area"),
        ("12 km²", (12.0,), "area"),
        ("24 cents", (24.0,), "cent"),
        ("2021 (kg)", (2021.0,), ""),
        ("two hundred and five men", (205.0,), ""),
        ("fünfunddreißig Tage", (35.0,), "time"),
        ("treinta y dos pies", (32.0,), "length"),
        ("4.4 per cent", (4.4,), "%"),
        ("at 6 pm", (1080.0,), "clock"),
        ("um 18:30", (1110.0,), "clock"),
    ],
)
def test_a_quantity_has_its_readings_and_its_dimension(text: str, values: tuple[float, ...], dimension: str) -> None:
    (quantity,) = find_quantities(text)

    assert (quantity.values, quantity.dimension) == (values, dimension)


@pytest.mark.parametrize("text", ["on December 31, 2025", "one of them", "the ein and the uno"])
def test_dates_and_articles_are_no_quantities(text: str) -> None:
    assert find_quantities(text) == []


@pytest.mark.parametrize(
    ("text", "share"), [("half of them", None), ("one in eight", 12.5), ("two thirds of it", 200 / 3)]
)
def test_fractions_in_words_are_shares(text: str, share: float | None) -> None:
    found = [item.values[0] for item in find_quantities(text) if item.dimension == "%"]

    assert found == ([pytest.approx(share)] if share is not None else [])


@given(st.text(max_size=200))
def test_spans_lie_in_the_text_in_order_and_apart(text: str) -> None:
    spans = [item.span for item in find_quantities(text)]

    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(before.end <= after.start for before, after in itertools.pairwise(spans))
