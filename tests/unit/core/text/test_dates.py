from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.dates import YEARS_OF_HISTORY, find_date, find_date_in_name, find_dates, has_weekday, is_day_first


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("on 2024-05-03", "2024-05-03"),
        ("Thursday 2019/12/5 at 14:00", "2019-12-05"),
        ("Fri, September 14, 2018 14:00 UTC", "2018-09-14"),
        ("Friday 13 December 2019", "2019-12-13"),
        ("the 3rd of May 2024", "2024-05-03"),
        ("3-May-2024", "2024-05-03"),
        ("3. März 2025", "2025-03-03"),
        ("le 1er juin 2024", "2024-06-01"),
        ("8 de octubre de 2023", "2023-10-08"),
        ("5 giugno 2024", "2024-06-05"),
        ("21 november 2024", "2024-11-21"),
        ("2024年5月7日", "2024-05-07"),
        ("5.3.24", "2024-03-05"),
        ("18/10/2023", "2023-10-18"),
        ("10/18/2023", "2023-10-18"),
    ],
)
def test_dates_are_read_as_people_write_them(text: str, iso: str) -> None:
    found = find_date(text)

    assert found is not None
    assert found.iso() == iso


def test_years_before_1900_are_read_where_they_are_asked_for() -> None:
    (default,) = find_dates("signed on 9 October 1788")
    (asked,) = find_dates("signed on 9 October 1788", years=YEARS_OF_HISTORY)

    assert (default.year, default.month, default.day) == (None, 10, 9)
    assert (asked.year, asked.month, asked.day) == (1788, 10, 9)
    assert find_dates("1788-10-09") == []


@pytest.mark.parametrize(
    "text", ["version 1.2.3", "192.168.10.12", "31/31/2024", "2024-13-01", "30 February 2024", "12 people"]
)
def test_other_numbers_are_no_dates(text: str) -> None:
    assert find_date(text) is None


def test_an_ambiguous_date_is_read_by_its_weekday_then_as_the_document_writes_then_month_first() -> None:
    def read(text: str, *, day_first: bool | None = None) -> str | None:
        found = find_date(text, day_first=day_first)
        return found.iso() if found else None

    assert read("Friday 03/05/2024") == "2024-05-03"  # 5 March was a Tuesday
    assert read("03/05/2024", day_first=True) == "2024-05-03"
    assert read("03/05/2024") == "2024-03-05"


def test_a_document_tells_by_one_date_how_it_writes_them() -> None:
    assert is_day_first(iter(["01/02/2024", "13/02/2024"])) is True
    assert is_day_first(iter(["02/13/2024"])) is False
    assert is_day_first(iter(["01/02/2024"])) is None


def test_a_date_without_a_year_is_the_next_one() -> None:
    (written,) = find_dates("by 10 May")

    assert written.iso() is None
    assert written.iso(date(2024, 5, 3)) == "2024-05-10"
    assert written.iso(date(2024, 5, 11)) == "2025-05-10"


@pytest.mark.parametrize("name", ["2024-05-03-board", "board_2024_05_03", "20240503 sync", "sync 3 May 2024"])
def test_file_names_hold_dates(name: str) -> None:
    found = find_date_in_name(name)

    assert found is not None
    assert found.iso() == "2024-05-03"


def test_days_of_the_week_are_known() -> None:
    assert has_weekday("by Friday")
    assert not has_weekday("so we do it")


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)))
def test_every_day_is_read_from_its_usual_forms(day: date) -> None:
    for text in (day.isoformat(), f"{day:%B} {day.day}, {day.year}", f"{day.day} {day:%b} {day.year}"):
        found = find_date(f"held on {text}, at noon")
        assert found is not None
        assert found.iso() == day.isoformat()


@given(st.text(alphabet="0123456789/.-, Maydejun年月日", max_size=80))
def test_spans_lie_in_the_text_and_never_overlap(text: str) -> None:
    found = find_dates(text)

    assert all(0 <= item.span.start < item.span.end <= len(text) for item in found)
    assert all(one.span.end <= other.span.start for one, other in pairwise(found))
