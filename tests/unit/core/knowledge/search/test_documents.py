"""Documents by their names."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import Document
from core.errors import BadInput, NotFound
from core.knowledge.search.documents import KEPT, DocumentNames, NamesOfWorkspaces, find_by_name, only_journals
from storage.database.repositories.corpus import SqlCorpusRepository
from tests.builders import build_document, build_pages, build_passages, build_source
from tests.stores import InMemoryDatabase

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


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("guide.md", None),  # two sources have one
        ("notes/guide.md", 0),
        ("Handbook", 0),
        ("festival-lanterns", 1),
        ("Festival of_Lanterns", 1),
        ("minutes/2024-01", 3),
        ("festval of lantern", None),  # only close: proposed, not taken
        ("anual report", None),
        ("", None),
    ],
)
def test_a_link_leads_to_what_it_names(target: str, place: int | None) -> None:
    found = DocumentNames(SHELF).linked(target).document

    assert found is (None if place is None else SHELF[place])


def test_a_link_may_be_the_end_of_a_path() -> None:
    deep = build_document("team/2024/plans.md", NOTES, title="Goals")
    names = DocumentNames([*SHELF, deep, build_document("plans.md", BOOKS, title="Other plans")])

    assert [names.linked(target).document for target in ("2024/plans", "2024/plans.md")] == [deep, deep]


def test_a_link_to_nothing_proposes_the_nearest_and_one_to_several_all_of_them() -> None:
    names = DocumentNames(SHELF)

    assert [item.path for item in names.linked("Festival of Lantern").near][:1] == ["sub/Festival Lanterns.md"]
    assert [item.source for item in names.linked("guide").near] == ["notes", "books"]
    assert names.linked("zzzzzz").near == ()


def test_only_what_is_accepted_is_found_or_proposed() -> None:
    names = DocumentNames(SHELF)

    def in_notes(document: Document) -> bool:
        return document.source == "notes"

    assert names.linked("guide", in_notes).document is SHELF[0]
    assert all(in_notes(document) for document in names.linked("Another Guid", in_notes).near)
    with pytest.raises(NotFound):
        names.find("annual report", in_notes)


NAME = st.text(st.sampled_from("ab- c"), min_size=1, max_size=6)


@given(titles=st.lists(NAME, max_size=6), name=NAME)
def test_a_lasting_table_finds_what_a_table_for_one_look_up_finds(titles: list[str], name: str) -> None:
    documents = [build_document(f"{place}.md", NOTES, title=title) for place, title in enumerate(titles)]
    once, lasting = DocumentNames(documents), DocumentNames(documents, is_lasting=True)

    assert lasting.linked(name) == once.linked(name)


class CountingCorpus(SqlCorpusRepository):
    """Counts how often all documents were read."""

    reads = 0

    async def list_documents(self, workspace: str, source_ids: frozenset[str] | None = None) -> list[Document]:
        self.reads += 1
        return await super().list_documents(workspace, source_ids)

    async def put(self, document: Document) -> None:
        pages = build_pages(document, "Text.")
        await self.switch_revision(document, pages, build_passages(pages))


@pytest.fixture
async def corpus() -> CountingCorpus:
    corpus = CountingCorpus(InMemoryDatabase())
    await corpus.save_source(build_source())
    await corpus.put(build_document())
    return corpus


async def test_documents_are_read_again_only_after_a_change(corpus: CountingCorpus) -> None:
    names = NamesOfWorkspaces(corpus)
    for _ in range(3):
        assert [document.path for document in (await names.of("local")).documents] == ["guide.md"]
    assert corpus.reads == 1
    await corpus.put(replace(build_document(), title="Renamed"))

    assert (await names.of("local")).find("renamed").path == "guide.md"
    assert corpus.reads == 2


async def test_only_so_many_workspaces_are_kept(corpus: CountingCorpus) -> None:
    names = NamesOfWorkspaces(corpus)
    for number in range(KEPT + 1):
        await names.of(f"w{number}")
    await names.of(f"w{KEPT}")
    assert corpus.reads == KEPT + 1
    await names.of("w0")

    assert corpus.reads == KEPT + 2
