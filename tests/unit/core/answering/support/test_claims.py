"""What is a claim, and what only speaks of the search or to the reader."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.support.claims import blocks, is_claim, only_says_not_found, sentences, to_last_sentence
from core.domain.replies import CitedText


@pytest.mark.parametrize(
    "text",
    [
        "What else would you like to know about ferries?",
        "Here is what the minutes say about the ferry:",
        "# Ferries of the northern harbour",
        "| --- | --- |",
        "Yes, indeed.",
        "I could not find the director's salary in the documents.",
        "The documents do not say who owns the northern ferry.",
        "There is no mention of a northern ferry company.",
        "His age isn't given.",
        "Nothing says how old the mayor was.",
        "Let me know if you need anything else.",
        "If you want, I can list the other rooms.",
        "Zur Abfahrt habe ich nichts gefunden.",
        "In den Dokumenten steht nichts dazu.",
        "No encontré nada sobre el alcalde.",
        "Sag Bescheid, falls du mehr brauchst.",
        "No such relation is known.",
        "There is no page 99.",
        "Nothing is said about his age.",
        "Her age is nowhere mentioned.",
        "There are no entries about ferries.",
        "Eine solche Beziehung ist nicht bekannt.",
        "Es gibt keine Seite 99.",
        "Über sein Alter wird nichts gesagt.",
        "Ein solches Dokument gibt es nicht.",
        "No se conoce tal relación.",
        "No hay ninguna página 99.",
        "No se dice nada sobre su edad.",
        "La página 99 no existe.",
    ],
)
def test_talk_and_words_about_the_search_are_no_claims(text: str) -> None:
    assert not is_claim(text)


@pytest.mark.parametrize(
    "text",
    [
        "Saxony is in Germany.",
        "There are 3 ferries.",
        "The police did not find fingerprints in the area.",
        "No effects were found for the older children.",
        "Die Fähre fährt nicht am Sonntag.",
        "The company has no debts.",
        "There is no page limit for applications.",
        "No dogs are allowed on board.",
        "The clerk said nothing about the theft.",
        "The thief is not known to the police.",
        "None of the four engines were replaced.",
        "A file of 60 GB is not backed up.",
        "Es gibt keinen Aufzug in der Hütte.",
        "No existe un límite de páginas.",
    ],
)
def test_statements_are_claims_even_if_they_deny_something(text: str) -> None:
    assert is_claim(text)


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("I found nothing in the documents that answers this. Shall I look elsewhere?", True),
        ("The documents do not say who owns it.", True),
        ("Dazu habe ich in den Dokumenten nichts gefunden.", True),
        ("Paris.", False),
        ("I found nothing about it. It is in Paris.", False),
        ("Is it?", False),
        ("", False),
    ],
)
def test_a_text_that_only_says_not_found_is_told_from_one_that_answers(text: str, only: bool) -> None:
    assert only_says_not_found(text) is only


def test_abbreviations_end_no_sentence_and_code_has_none() -> None:
    text = "Mr. Grol rules the keep. He is old.\n\n```\nx = 1. y\n```"

    assert [span.of(text) for span in sentences(text)] == ["Mr. Grol rules the keep.", "He is old."]


def test_a_block_is_a_paragraph_or_a_list_item() -> None:
    text = "One is here. Two is there.\n- Three is a list item.\n- Four too."

    assert [len(block) for block in blocks(text, list(sentences(text)))] == [2, 1, 1]


def test_a_cut_text_ends_at_its_last_whole_sentence() -> None:
    cut = to_last_sentence((CitedText(text="It was built in 1974. "), CitedText(text="It was rul")))

    assert "".join(segment.text for segment in cut) == "It was built in 1974."
    assert to_last_sentence((CitedText(text="It was rul"),)) == (CitedText(text="It was rul"),)


@given(st.text(alphabet="ab .!?\n|[1]`*", max_size=120))
def test_sentences_lie_apart_in_order_and_never_begin_or_end_with_blanks(text: str) -> None:
    spans = list(sentences(text))

    assert all(span.of(text) and span.of(text) == span.of(text).strip() for span in spans)
    assert all(before.end <= after.start for before, after in itertools.pairwise(spans))
