import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.documents.tables.accounts import Amount, Scale, find_ticker, read_amount, read_scale


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1,048,192.92", Amount(1048192.92)),
        ("(200,297.08)", Amount(-200297.08)),
        ("$(12)", Amount(-12, "USD")),
        ("($1,234)", Amount(-1234, "USD")),
        ("-3", Amount(-3)),
        ("−3.5", Amount(-3.5)),
        ("6.6%", Amount(6.6, "%")),
        ("(6.6%)", Amount(-6.6, "%")),
        ("1.234,5 €", Amount(1234.5, "EUR")),
        ("1.234.567", Amount(1234567)),
        ("1 234 567", Amount(1234567)),
        ("12,5", Amount(12.5)),
        ("12,500", Amount(12500)),
        ("$1.2 billion", Amount(1.2e9, "USD", is_scaled=True)),
        ("EUR 40", Amount(40, "EUR")),
        ("18.3x", Amount(18.3)),
        ("£4.5m", Amount(4.5e6, "GBP", is_scaled=True)),
    ],
)
def test_amounts_are_read_as_people_write_them(text: str, amount: Amount) -> None:
    read = read_amount(text)
    assert read is not None
    assert read.value == pytest.approx(amount.value)
    assert (read.unit, read.is_scaled) == (amount.unit, amount.is_scaled)


@pytest.mark.parametrize(
    "text", ["", "-", "n/a", "Q1", "12 boats", "1-2", "(12", "10 gp", "1.2.3,4,5 x", "10:30", "1 2"]
)
def test_what_is_no_single_amount_is_none(text: str) -> None:
    assert read_amount(text) is None


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("Income statement (in millions of dollars)", Scale(1e6, "USD")),
        ("Amounts in USD thousands", Scale(1e3, "USD")),
        ("Sales (€m), in EUR millions", Scale(1e6, "EUR")),
        ("In thousands, except per share data", Scale(1e3)),
        ("Price, USD per barrel", Scale(1.0, "USD")),
        ("Boats by pier", Scale()),
    ],
)
def test_a_title_says_the_scale_and_unit_of_its_figures(text: str, scale: Scale) -> None:
    assert read_scale(text) == scale


@given(st.integers(0, 10**12), st.integers(0, 99), st.booleans())
def test_a_number_is_read_back_however_its_thousands_are_parted(whole: int, cents: int, negative: bool) -> None:
    value = (whole + cents / 100) * (-1 if negative else 1)
    english = f"{whole:,}.{cents:02}"
    for written in (english, english.translate(str.maketrans(",.", ".,")), f"{whole}.{cents:02}"):
        read = read_amount(f"({written})" if negative else written)
        assert read is not None
        assert read.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "ticker"),
    [
        ("BHP Group (ASX: BHP)", "BHP"),
        ("Coca-Cola (NYSE: KO)", "KO"),
        ("ASX code BHP", "BHP"),
        ("(ASX: A2M)", "A2M"),
        ("(Nasdaq: GOOGL)", "GOOGL"),
        ("(NYSE: BRK.B)", "BRK.B"),
        ("ASX: 360", None),
        ("NYSE: The market opened", None),
        ("NASDAQ: MSFT, NYSE: KO", None),
    ],
)
def test_the_only_ticker_of_a_document_is_found(text: str, ticker: str | None) -> None:
    assert find_ticker([text]) == ticker
