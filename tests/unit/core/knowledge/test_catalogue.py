"""Documents by name, kind, source and day, and the note about them for a model."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from core.domain.corpus import Document, LibrarySummary
from core.knowledge.catalogue import (
    NEWEST_SHOWN,
    DocumentFilter,
    changed_since,
    describe_library,
    latest_of,
    named_in,
    newest_first,
    select_documents,
)
from tests.builders import NOON, build_document

JUNE = build_document("2026-06-09-council.md", title="Harbour council", dated="2026-06-09", crawled_at=NOON)
MAY = build_document("minutes/may.md", title="Council minutes", dated="2026-05-12", crawled_at=NOON)
GUIDE = build_document("guide.md", title="Guide", aliases=("Handbook",), crawled_at=NOON + timedelta(days=1))
BOOK = build_document("b.pdf", title="Tides", kind="pdf", crawled_at=NOON)
BROKEN = build_document("x.md", revision=None, title="Council x")
ALL = (BROKEN, BOOK, GUIDE, JUNE, MAY)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (DocumentFilter(), [BOOK, GUIDE, JUNE, MAY]),
        (DocumentFilter(words="the councils"), [JUNE, MAY]),
        (DocumentFilter(words="council meetings"), [MAY]),  # minutes are of a meeting
        (DocumentFilter(words="harbour council meetings"), [JUNE]),  # no name has that word
        (DocumentFilter(words="handbook"), [GUIDE]),
        (DocumentFilter(words="zeppelin meeting"), []),
        (DocumentFilter(kind="PDF"), [BOOK]),
        (DocumentFilter(source="handbook"), [BOOK, GUIDE, JUNE, MAY]),
        (DocumentFilter(source="other"), []),
        (DocumentFilter(since=date(2026, 6, 9)), [JUNE]),
        (DocumentFilter(until=date(2026, 6, 8)), [MAY]),
        (DocumentFilter(since=date(2026, 5, 12), until=date(2026, 6, 9)), [JUNE, MAY]),
    ],
)
def test_documents_are_selected(wanted: DocumentFilter, found: list[Document]) -> None:
    assert select_documents(ALL, wanted) == found


def test_documents_with_a_day_come_before_those_that_were_only_read_lately() -> None:
    assert newest_first([BOOK, GUIDE, MAY, JUNE]) == [JUNE, MAY, GUIDE, BOOK]


def test_the_latest_is_not_of_a_day_to_come() -> None:
    assert latest_of([JUNE, MAY, GUIDE], date(2026, 6, 1)) == [MAY]
    assert latest_of([BOOK, GUIDE], date(2026, 6, 1)) == [GUIDE, BOOK]


def test_a_change_counts_by_the_day_of_the_reader_s_zone() -> None:
    late = build_document("late.md", crawled_at=datetime(2026, 6, 8, 23, tzinfo=UTC))
    east = datetime(2026, 6, 9, tzinfo=timezone(timedelta(hours=2)))
    assert changed_since([late, BROKEN], date(2026, 6, 9), east) == [late]
    assert changed_since([late], date(2026, 6, 9), east.astimezone(UTC)) == []


def test_a_model_is_told_the_day_its_zone_and_the_newest_titles() -> None:
    summary = LibrarySummary(kinds={"pdf": 1, "markdown": 8}, sources={"handbook": 9}, newest=(JUNE, GUIDE))
    now = datetime(2026, 6, 16, 9, tzinfo=timezone(timedelta(hours=2), "CEST"))
    assert describe_library(summary, now) == (
        "Today is Tuesday, 16 June 2026 (CEST, UTC+02:00).\n"
        "The library holds 9 documents that can be read here (8 markdown, 1 pdf; by source: 9 handbook).\n"
        "The newest (list_documents has the others):\n"
        '- "Harbour council" (2026-06-09-council.md), dated 2026-06-09\n'
        '- "Guide" (guide.md)'
    )


def test_of_an_empty_library_only_the_day_is_told() -> None:
    empty = LibrarySummary(kinds={}, sources={}, newest=())
    assert describe_library(empty, NOON) == "Today is Sunday, 1 March 2026 (UTC, UTC+00:00)."


def test_the_note_is_bounded() -> None:
    long = tuple(build_document(f"{'p' * 60}/{number}.md", title="word " * 200) for number in range(NEWEST_SHOWN))
    summary = LibrarySummary(
        kinds={f"kind{number}": 900 - number for number in range(20)},
        sources={f"source {number}": 100 for number in range(500)},
        newest=long,
    )
    assert len(describe_library(summary, NOON)) < 2_500


def test_documents_are_recognised_in_an_answer() -> None:
    assert named_in("See the HARBOUR COUNCIL, or b.pdf.", ALL) == [BOOK, JUNE]
