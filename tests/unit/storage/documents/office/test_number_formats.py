"""What formats of spreadsheet cells say of a number."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storage.documents.office.sheets import MOST_DECIMALS, read_format


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("0%", 0.125, "12%"),
        ("0.00%", -0.125, "-12.50%"),
        ("0.0\\ %", 0.125, "12.5 %"),
        ("#,##0 %", 12.5, "1,250 %"),
        ("$#,##0.00", 1200, "$1,200.00"),
        ('"$"#,##0_);\\("$"#,##0\\)', -1200, "-$1,200"),
        ("[$€-407]\\ #,##0.00", 0.5, "€ 0.50"),
        ("#,##0.00\\ [$€-407];[Red]-#,##0.00\\ [$€-407]", 9.999, "10.00 €"),
        ("[$EUR] 0", 7, "EUR 7"),
        ('0.00" CHF"', 7, "7.00 CHF"),
        ('_-* #,##0.00\\ "zł"_-', 7, "7.00 zł"),
        ("0%", -0.001, "0%"),  # no minus before nothing
    ],
)
def test_shares_and_sums_are_shown_with_their_unit(code: str, value: float, shown: str) -> None:
    number_format = read_format(code)
    assert number_format is not None
    assert number_format.show(value) == shown


@pytest.mark.parametrize(
    "code", ["", "General", "0.00", "#,##0", "yyyy-mm-dd", "# ?/?", "0.00E+00", "@", '"€"', '0 "km"']
)
def test_other_formats_say_nothing_of_what_a_number_is(code: str) -> None:
    assert read_format(code) is None


@given(st.text(max_size=40), st.floats(allow_nan=False, allow_infinity=False, width=32))
@example("%0\\", 1.0)
def test_junk_is_no_format_or_shows_the_number(code: str, value: float) -> None:
    number_format = read_format(code)
    if number_format is not None:
        assert 0 <= number_format.decimals <= MOST_DECIMALS
        assert any(character.isdigit() for character in number_format.show(value))


@given(st.decimals(min_value=-100, max_value=100, places=3))
def test_a_share_with_enough_decimals_loses_nothing(share: object) -> None:
    number_format = read_format("0.000%")
    assert number_format is not None
    assert float(number_format.show(float(str(share))).rstrip("%")) == pytest.approx(float(str(share)) * 100)
