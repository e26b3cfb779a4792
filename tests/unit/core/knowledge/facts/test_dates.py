"""Dates as people write them, as the days they stand for."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.knowledge.facts.dates import MONTHS, WEEKDAYS, Lean, Period, read_iso, read_period, to_iso

TODAY = date(2026, 3, 4)  # a Wednesday
PIECES = st.sampled_from(
    [*MONTHS, *WEEKDAYS, "may", "12", "31", "0", "2026", "2026-02-30", "next", "last", "week", "of"]
)


@pytest.mark.parametrize(
    ("text", "coming", "past"),
    [
        ("2026-05-12", ("2026-05-12", 1), None),
        ("2026-05", ("2026-05-01", 31), None),
        ("2024", ("2024-01-01", 366), None),
        ("12 May 2026", ("2026-05-12", 1), None),
        ("May 12, 2026", ("2026-05-12", 1), None),
        ("the 3rd", None, None),
        ("3rd of March", ("2027-03-03", 1), ("2026-03-03", 1)),
        ("4 March", ("2026-03-04", 1), ("2026-03-04", 1)),
        ("march", ("2026-03-01", 31), ("2026-03-01", 31)),
        ("Dec.", ("2026-12-01", 31), ("2025-12-01", 31)),
        ("today", ("2026-03-04", 1), None),
        ("tomorrow", ("2026-03-05", 1), None),
        ("this week", ("2026-03-02", 7), None),
        ("next week", ("2026-03-09", 7), None),
        ("last month", ("2026-02-01", 28), None),
        ("next year", ("2027-01-01", 365), None),
        ("friday", ("2026-03-06", 1), ("2026-02-27", 1)),
        ("wednesday", ("2026-03-04", 1), ("2026-02-25", 1)),
        ("last friday", ("2026-02-27", 1), None),
        ("2026-02-30", None, None),
        ("31 February 2026", None, None),
        ("2026-13", None, None),
        ("soon", None, None),
        ("", None, None),
    ],
)
def test_a_date_stands_for_its_days(text: str, coming: tuple[str, int] | None, past: tuple[str, int] | None) -> None:
    assert read_period(text, TODAY) == _period(coming)
    assert read_period(text, TODAY, Lean.PAST) == _period(past if past is not None else coming)


def _period(said: tuple[str, int] | None) -> Period | None:
    if said is None:
        return None
    start = date.fromisoformat(said[0])
    return Period(start, start + timedelta(days=said[1]))


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_a_day_is_read_as_it_is_written(day: date) -> None:
    for text in (day.isoformat(), f"{day.day} {MONTHS[day.month - 1]} {day.year}"):
        period = read_period(text, TODAY)
        assert period == Period(day, day + timedelta(days=1))
        assert to_iso(period) == day.isoformat()


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_months_and_years_have_a_short_form_and_weeks_none(day: date) -> None:
    for text in (f"{day:%Y-%m}", f"{day:%Y}"):
        period = read_iso(text)
        assert period is not None and to_iso(period) == text and period.start <= day < period.end
    assert to_iso(Period(day, day + timedelta(days=7))) is None


@given(st.lists(PIECES, max_size=4).map(" ".join) | st.text(max_size=30), st.sampled_from(Lean))
def test_anything_else_is_no_date_or_days_in_their_order(text: str, lean: Lean) -> None:
    period = read_period(text, TODAY, lean)
    assert period is None or period.start < period.end
