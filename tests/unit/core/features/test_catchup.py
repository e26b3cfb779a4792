"""Since when somebody catches up with a channel."""

from datetime import UTC, datetime

import pytest

from core.errors import BadInput
from core.features.catchup import read_since

NOW = datetime(2026, 6, 11, 15, 30, tzinfo=UTC)  # a Thursday


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("3 days", datetime(2026, 6, 8, 15, 30, tzinfo=UTC)),
        ("an hour", datetime(2026, 6, 11, 14, 30, tzinfo=UTC)),
        ("the last 2 hours", datetime(2026, 6, 11, 13, 30, tzinfo=UTC)),
        ("last week", datetime(2026, 6, 4, 15, 30, tzinfo=UTC)),
        ("since Monday", datetime(2026, 6, 8, tzinfo=UTC)),
        ("since yesterday", datetime(2026, 6, 10, tzinfo=UTC)),
        ("2026-06-01", datetime(2026, 6, 1, tzinfo=UTC)),
        ("Since 3 June", datetime(2026, 6, 3, tzinfo=UTC)),
    ],
)
def test_a_period_is_read_as_people_write_it(text: str, wanted: datetime) -> None:
    assert read_since(text, NOW) == wanted


def test_other_words_are_refused_with_examples() -> None:
    with pytest.raises(BadInput, match="'ages' is no time that I know"):
        read_since("ages", NOW)
