from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import postgresql, sqlite

from storage.database.column_types import CompactJson, StorableText, UtcTime, from_compact_json, to_compact_json
from storage.text import to_storable_value

DIALECTS = [sqlite.dialect(), postgresql.dialect()]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON_VALUES)
def test_json_comes_back_with_its_strings_storable(value):
    assert from_compact_json(to_compact_json(value)) == to_storable_value(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([0, 35, 36, 90], "[0,35,36,90]"),
        ({"a": "é😀"}, '{"a":"é😀"}'),
        ("\\u0000", '"\\\\u0000"'),
        ("\x00", '"\ufffd"'),
        (("a", 1), '["a",1]'),
    ],
)
def test_json_is_written_without_spaces_or_needless_escapes(value, text):
    assert to_compact_json(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_json_does_not_have_are_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        to_compact_json({"score": value})


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(time=st.datetimes(timezones=st.timezones()))
def test_times_come_back_as_the_same_moment_in_utc(dialect, time):
    kind = UtcTime()
    stored = kind.process_bind_param(time, dialect)
    time = time.astimezone(UTC)  # local times that a clock change skipped equal nothing but themselves
    assert stored == time
    naive = stored.replace(tzinfo=None)  # as SQLite gives it back
    for returned in (stored, naive):
        assert kind.process_result_value(returned, dialect) == time
        assert kind.process_result_value(returned, dialect).tzinfo is UTC


def test_a_time_without_a_zone_is_a_bug_of_the_caller():
    with pytest.raises(ValueError, match="without a time zone"):
        UtcTime().process_bind_param(datetime(2026, 3, 1), DIALECTS[0])  # noqa: DTZ001


@pytest.mark.parametrize("kind", [UtcTime(), StorableText(), CompactJson()], ids=lambda kind: type(kind).__name__)
def test_nothing_is_stored_as_nothing(kind):
    assert kind.process_bind_param(None, DIALECTS[0]) is None


@pytest.mark.parametrize("kind", [UtcTime(), CompactJson()], ids=lambda kind: type(kind).__name__)
def test_nothing_is_read_as_nothing(kind):
    assert kind.process_result_value(None, DIALECTS[0]) is None
