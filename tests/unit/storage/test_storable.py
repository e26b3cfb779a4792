from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.jobs import JobStatus
from core.domain.passages import Span
from storage.text import to_storable, to_storable_value
from tests.builders import build_job

ANY_TEXT = st.text(st.characters() | st.characters(categories=["Cs"]) | st.just("\x00"))


@given(ANY_TEXT)
def test_storable_text_is_utf8_without_nul_and_as_long_as_it_was(text):
    stored = to_storable(text)
    assert len(stored) == len(text)
    assert "\x00" not in stored
    assert stored.encode().decode() == stored
    assert to_storable(stored) == stored


@given(st.text(st.characters(exclude_characters="\x00", codec="utf-8")))
def test_text_that_can_be_stored_is_left_as_it_is(text):
    assert to_storable(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00", "a\ufffd"),
        ("é\x00", "é\ufffd"),
        ("\ud83d\x00", "\ufffd\ufffd"),
        ("\ud83d\ude00", "\ufffd\ufffd"),  # two halves kept apart by a sloppy decoder: two code points in, two out
        ("😀", "😀"),
    ],
)
def test_what_cannot_be_stored_is_replaced_one_for_one(text, expected):
    assert to_storable(text) == expected


def test_values_are_made_storable_at_any_depth():
    job = build_job(status=JobStatus.DONE, input={"a\x00": [("\ud800", 1), {"b": None}]}, error="\x00")
    stored = to_storable_value(job)
    assert stored.input == {"a\ufffd": [("\ufffd", 1), {"b": None}]}
    assert stored.error == "\ufffd"
    assert stored.status is JobStatus.DONE
    assert to_storable_value((Span(1, 2), Span)) == (Span(1, 2), Span)


def test_times_become_utc():
    tokyo = datetime(2026, 3, 1, 21, 0, tzinfo=timezone(timedelta(hours=9)))
    assert to_storable_value([tokyo])[0].isoformat() == datetime(2026, 3, 1, 12, 0, tzinfo=UTC).isoformat()
