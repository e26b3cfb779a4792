"""When not to answer."""

import time

from core.answering.providers.extractive.refusal import NOTHING_BELOW, SURE_FROM, Verdict, judge_evidence, unknown_names
from tests.unit.core.answering.providers.extractive.small_library import passages_of

FOUND = passages_of("museum.md", "The Kestrel Observatory opens at 10:00 in 2024. The dome was rebuilt by Aalto.")
DOCUMENT = FOUND[0].document.id


def verdict(question: str, quote: str, strength: float = 3.0) -> Verdict:
    return judge_evidence(question, quote, DOCUMENT, strength, FOUND)


def test_a_relevant_quote_of_the_right_kind_answers() -> None:
    assert (
        verdict("When does the Kestrel Observatory open?", "The Kestrel Observatory opens at 10:00.") is Verdict.ANSWERS
    )


def test_nothing_relevant_is_refused_whatever_else_fits() -> None:
    assert verdict("When does it open?", "It opens at 10:00.", NOTHING_BELOW - 0.1) is Verdict.NOTHING


def test_a_quote_without_the_kind_of_thing_asked_for_is_refused() -> None:
    assert verdict("What is the entrance fee?", "The Kestrel Observatory opens at 10:00.") is Verdict.WRONG_KIND


def test_a_name_that_nothing_found_mentions_is_refused_unless_the_judge_is_sure() -> None:
    question = "When does the Harrier Observatory open?"
    assert verdict(question, "It opens at 10:00.") is Verdict.UNKNOWN_NAME
    assert verdict(question, "It opens at 10:00.", SURE_FROM) is Verdict.ANSWERS


def test_a_year_that_the_document_does_not_speak_of_is_refused() -> None:
    assert verdict("When did it open in 2015?", "It opens at 10:00.") is Verdict.UNKNOWN_NAME
    assert verdict("When did it open in 2024?", "It opens at 10:00.") is Verdict.ANSWERS


def test_names_are_found_in_titles_and_without_their_endings() -> None:
    assert unknown_names("What of Kestrel's dome in May?", FOUND) == []
    assert unknown_names("What of the Museum?", FOUND) == []
    assert unknown_names("WHAT DOES THE LAMP COST?", FOUND) == []
    assert unknown_names("What does Evernote cost?", FOUND) == ["Evernote"]


def test_names_of_a_question_behind_a_row_of_dots_are_found_at_once() -> None:
    started = time.process_time()
    assert unknown_names(f"{'.' * 20_000} What did Aalto ask Marjatta?", FOUND) == ["Marjatta"]
    assert time.process_time() - started < 1.0
