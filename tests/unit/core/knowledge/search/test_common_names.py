from dataclasses import replace

import pytest

from core.domain.corpus import Document, SourcedPassage
from core.knowledge.search.common_names import LEADING, LONG, common_names, leading_document, without_common
from tests.builders import build_document, build_pages, build_passages

NOVEL = build_document("books/ferry.txt", title="The Last Ferry", passages=LONG)
NOTE = build_document("ferry.md", title="Ferry", passages=3)
COMMON = frozenset({"Tapio", "Aino"})


def found_in(document: Document, count: int) -> list[SourcedPassage]:
    pages = build_pages(document, *(f"page {number}" for number in range(count)))
    return [SourcedPassage(passage=p, document=document, page_title="", score=1.0) for p in build_passages(pages)]


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("How much rent did Tapio pay for the mill?", "How much rent did pay for the mill?"),
        ("What colour was Aino's boat?", "What colour was boat?"),
        ("What did Mrs. Aino, of all people, sell?", "What did of all people, sell?"),
        ("Which ferry did Tapio and Ilmari build?", "Which ferry did and Ilmari build?"),
    ],
)
def test_names_that_stand_all_over_a_book_are_left_out(query: str, rest: str) -> None:
    assert without_common(query, COMMON) == rest


@pytest.mark.parametrize(
    "query",
    [
        "Who owns the mill?",  # no name
        "Who is Ilmari to the miller's family?",  # a name that is not common
        "Who is Tapio?",  # nothing else is asked
        "how much rent did tapio pay",  # no capital says that it is one
        "Tapio paid which rent?",  # the first word begins with a capital anyway
    ],
)
def test_other_queries_stay_as_they_are(query: str) -> None:
    assert without_common(query, COMMON) is None


def test_common_is_a_name_that_many_passages_use() -> None:
    chapters = ["Tapio rowed, then Tapio slept. " * 10, "Ilmari built the ferry. The tapio tree."]
    assert common_names(chapters, passages=100) == {"Tapio"}
    assert common_names(chapters, passages=1_000) == frozenset()


def test_a_long_document_leads_when_most_of_the_first_passages_are_its() -> None:
    others = found_in(NOTE, 3)
    assert leading_document([*others, *found_in(NOVEL, LEADING)]) is NOVEL
    assert leading_document([*others, *found_in(NOVEL, LEADING - 1)]) is None
    assert leading_document(found_in(replace(NOVEL, passages=LONG - 1), LEADING)) is None
    assert leading_document([]) is None
