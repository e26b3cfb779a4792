import pytest

from core.documents import find_by_name, only_journals
from core.errors import BadInput, NotFound
from tests.builders import build_document, build_source

NOTES = build_source("notes")
BOOKS = build_source("books")
SHELF = [
    build_document("guide.md", NOTES, title="The Guide", aliases=("Handbook",)),
    build_document("sub/Festival Lanterns.md", NOTES, title="Festival of Lanterns"),
    build_document("guide.md", BOOKS, title="Another Guide"),
    build_document("minutes/2024-01.md", NOTES, title="Minutes of January"),
    build_document("minutes/2024-02.md", NOTES, title="Minutes of February"),
    build_document("report.pdf", BOOKS, title="Annual Report", revision=None, failed_reason="broken"),
]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (SHELF[0].id, 0),
        ("notes/guide.md", 0),
        ("books/guide.md", 2),
        ("minutes/2024-01.md", 3),
        ("./minutes/2024-01.md", 3),
        ("MINUTES/2024-01", 3),
        ("2024-02", 4),
        ("festival lanterns", 1),
        ("the guide", 0),
        ("handbook", 0),
        ("report", 5),
        ("festval of lantern", 1),
        ("anual report", 5),
        ("lanterns", 1),
    ],
)
def test_a_document_is_found_by_what_people_call_it(name: str, place: int) -> None:
    assert find_by_name(name, SHELF) is SHELF[place]


def test_a_name_that_fits_two_documents_lists_both() -> None:
    with pytest.raises(BadInput, match=r"'guide' may be any of 'notes/guide.md', 'books/guide.md': give the path"):
        find_by_name("guide", SHELF)


def test_a_name_close_to_two_documents_lists_both() -> None:
    with pytest.raises(BadInput, match=r"minutes/2024-01.md.*minutes/2024-02.md"):
        find_by_name("minutes 2024", [*SHELF])


def test_a_long_list_of_candidates_is_cut() -> None:
    many = [build_document(f"{number}/a.md", NOTES) for number in range(8)]

    with pytest.raises(BadInput, match="and 3 more"):
        find_by_name("a", many)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(NotFound, match=r"There is no document 'festival guide': the nearest are"):
        find_by_name("festival guide", SHELF)


def test_in_an_empty_library_the_error_says_where_to_look() -> None:
    with pytest.raises(NotFound, match="footnote documents"):
        find_by_name("anything", [])


@pytest.mark.parametrize("name", ["", "  ", "./"])
def test_an_empty_name_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="empty"):
        find_by_name(name, SHELF)


def test_odd_names_do_no_harm() -> None:
    for name in ("%", "\0", "🙂", "'; drop table", "x" * 10_000, "the guide to bridges and mills", "no such report"):
        with pytest.raises(NotFound):
            find_by_name(name, SHELF)


def test_kept_answers_are_a_journal_among_journals() -> None:
    kept, journal, note = (build_document(f"{kind}.x", kind=kind) for kind in ("kept", "foundry", "markdown"))
    assert only_journals([kept, journal, note]) == [kept, journal]
    assert only_journals([kept, note]) == [kept, note]
