"""Which questions are about the library itself, and which documents "the last two" are."""

from datetime import date

import pytest

from core.knowledge.library_questions import (
    LatestDocuments,
    LibraryQuestion,
    ListQuestion,
    NewQuestion,
    PageQuestion,
    latest_asked,
    read_library_question,
)

TODAY = date(2026, 6, 16)  # a Tuesday


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which documents do you have?", ListQuestion()),
        ("what files can you read", ListQuestion()),
        ("Please list all documents", ListQuestion()),
        ("What's in the library?", ListQuestion()),
        ("how many documents are there?", ListQuestion()),
        ("Which documents do you have, from 21 on?", ListQuestion(first=21)),
        ("Which journals do you know?", ListQuestion(kind="foundry")),
        ("Which council minutes do you have?", ListQuestion(words="council minutes")),
        ("What's new?", NewQuestion()),
        ("what is new since Monday?", NewQuestion(since=date(2026, 6, 15))),
        ("What has changed since last week?", NewQuestion(since=date(2026, 6, 8))),
        ("Which documents were added since 2026-06-01?", NewQuestion(since=date(2026, 6, 1))),
        ("What is new in the last 7 days?", NewQuestion(since=date(2026, 6, 9))),
        ("anything new this month", NewQuestion(since=date(2026, 6, 1))),
        ("is there a page 99?", PageQuestion(number=99)),
        ("Is there a page 99 in the Handbook?", PageQuestion(number=99, document="Handbook")),
        ("Does the document have a page 4?", PageQuestion(number=4)),
        ("Does “Straße” have a page 4?", PageQuestion(number=4, document="Straße")),
        ("How many pages are there?", PageQuestion(number=None)),
        ("How many pages does Lost Mine have?", PageQuestion(number=None, document="Lost Mine")),
    ],
)
def test_a_question_about_the_library_is_read(question: str, expected: LibraryQuestion) -> None:
    assert read_library_question(question, TODAY) == expected


@pytest.mark.parametrize(
    "question",
    [
        "",
        "What documents does the ferry need?",
        "Which documents do you have about ferries?",
        "What is new in the harbour rules?",
        "What is new since the last meeting?",
        "What books does Tapio read?",
        "Is there a page about ferries?",
        "What is on page 99?",
        "Who has the list of documents?",
        "Which documents do you have? " * 10,
    ],
)
def test_other_questions_are_left_to_the_search(question: str) -> None:
    assert read_library_question(question, TODAY) is None


@pytest.mark.parametrize(
    ("question", "count", "words"),
    [
        ("summarise the last two council meetings", 2, "council meetings"),
        ("Summarise the last 3 meetings", 3, "meetings"),
        ("Who came to the last council meeting?", 1, "council meeting"),
        ("What was decided at the last meeting of the harbour board?", 1, "meeting harbour board"),
        ("What does the latest report say?", 1, "report"),
        ("What do the latest minutes say?", 1, "minutes"),
        ("Sum up the newest document", 1, ""),
    ],
)
def test_the_last_documents_are_counted_and_named(question: str, count: int, words: str) -> None:
    assert latest_asked(question) == LatestDocuments(count=count, words=words)


@pytest.mark.parametrize("question", ["What is the last page?", "the last night", "What do the latest reports say?"])
def test_no_number_of_last_documents_is_guessed(question: str) -> None:
    assert latest_asked(question) is None
