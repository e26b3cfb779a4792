"""Common names and page words of long documents."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import Document, SourcedPassage
from core.knowledge.search.long_documents import (
    PageWords,
    common_names,
    count_words,
    without_common,
)
from core.knowledge.search.searching import LEADING, LONG, leading_document
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


# The ferry stands in every chapter, the mill in one, the rye in two.
BOOK = ["The ferry left. Rye bread.", "The ferry came back to the mill, with rye.", "A ferry in the night."]
TEXTS = st.lists(st.text(alphabet="abc ferry.\n", max_size=80), max_size=8)


def best(query: str, texts: list[str]) -> int:
    shares = count_words(texts).shares(query)
    return shares.index(max(shares))


def test_a_share_is_of_the_best_page_and_rare_words_count_more_than_common_ones() -> None:
    left, back, night = count_words(BOOK).shares("Which ferry brought rye to the mill?")
    assert back == 1.0
    assert 0 < night < left < 0.6


def test_where_all_pages_have_the_word_none_stands_out() -> None:
    chapters = ["The ferry left. " + "Oars and rope. " * (day % 7) for day in range(30)]
    assert max(count_words(chapters).shares("What did the ferry bring?")) < 0.1


def test_a_word_counts_by_how_rare_it_is_in_this_document_alone() -> None:
    pages = ["the miller of the mill", "the mill and the rope", "the mill by night"]
    assert best("Who tied the mill with a rope?", pages) == 1


@pytest.mark.parametrize("form", ["lantern", "lanterns", "Lantern", "LANTERNS"])
def test_forms_of_a_word_are_one(form: str) -> None:
    dark, lit = count_words(["no light", "two lanterns burned"]).shares(form)
    assert dark == 0.0
    assert lit > 0.5


@pytest.mark.parametrize(
    ("pages", "query"),
    [
        (
            ["第一章は東京の港で始まる。", "第二章で船長は灯台へ行く。"],
            "灯台へ行ったのは誰か",
        ),
        (["He ate at an inn.", "They sat in the café."], "cafe"),
        (["It cost 20 crowns.", "It cost 1,200 crowns."], "1200 crowns"),
        (["They played on.", "She carried a _violin_ home."], "violin"),  # marks of plain-text books
    ],
)
def test_words_are_those_of_the_index(pages: list[str], query: str) -> None:
    assert best(query, pages) == 1


def test_repeats_of_a_word_count_less_and_less() -> None:
    once, twice, often = count_words(["rope a b", "rope rope a", "rope rope rope", "other words"]).shares("rope")[:3]
    assert once < twice < often
    assert often - twice < twice - once


def test_a_long_page_needs_a_word_more_often() -> None:
    short, long = count_words(["rope and oars", "rope and " + "oars " * 50, "sail"]).shares("rope")[:2]
    assert short > long > 0


@pytest.mark.parametrize("query", ["", "the of and", "?!", "zeppelin"])
def test_where_no_word_is_found_no_page_is_better(query: str) -> None:
    assert count_words(BOOK).shares(query) == [0.0, 0.0, 0.0]


def test_no_pages_and_empty_pages_have_no_scores() -> None:
    assert count_words([]).shares("ferry") == []
    assert count_words(["", " \n"]).shares("ferry") == [0.0, 0.0]


def test_words_with_accents_and_other_scripts_are_found_as_they_are_written() -> None:
    assert count_words(["Ruuhi.", "A\u0308iti souti."]).shares("äiti")[1] > 0
    assert count_words(["паром", "мельница"]).shares("Мельница")[1] > 0


@given(texts=TEXTS, query=st.text(alphabet="abc ferry", max_size=30))
def test_every_page_has_a_share_from_0_to_1(texts: list[str], query: str) -> None:
    shares = count_words(texts).shares(query)
    assert len(shares) == len(texts)
    assert all(0 <= share <= 1 for share in shares)


@given(texts=TEXTS, query=st.text(alphabet="abc ferry", max_size=30))
def test_order_of_pages_and_repeats_in_the_query_change_nothing(texts: list[str], query: str) -> None:
    shares = count_words(texts).shares(query)
    assert count_words(texts[::-1]).shares(f"{query} {query}")[::-1] == pytest.approx(shares)


@given(texts=TEXTS)
def test_every_word_of_every_page_is_kept_with_its_count(texts: list[str]) -> None:
    words = count_words(texts)
    assert isinstance(words, PageWords)
    assert list(words.ids) == sorted(set(words.ids))
    assert sum(words.counts) == sum(words.lengths)
    assert words.starts[-1] == len(words.pages) == len(words.counts)
