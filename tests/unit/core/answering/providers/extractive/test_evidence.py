"""Judgement of evidence: the kind of thing a question asks for, and when not to answer."""

import time

import pytest

from core.answering.providers.extractive.cues import AnswerKind
from core.answering.providers.extractive.evidence import (
    NOTHING_BELOW,
    SURE_FROM,
    Verdict,
    expected_kind,
    holds_count,
    holds_kind,
    judge_evidence,
    unknown_names,
    unknown_thing,
    unknown_years,
)
from tests.unit.core.answering.providers.extractive.small_library import passages_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who painted the cover?", AnswerKind.PERSON),
        ("And by whom was it built?", None),
        ("Who is Ann Tervo?", None),  # asks for more than a name
        ("When is the townhall?", AnswerKind.DATE),
        ("In which year was the keep abandoned?", AnswerKind.YEAR),
        ("How much does a spyglass cost?", AnswerKind.MONEY),
        ("What is the entrance fee of the museum?", AnswerKind.MONEY),
        ("In what order did they roll out the fee market change?", None),
        ("How long does the ritual take?", AnswerKind.DURATION),
        ("how long may a key go unused", AnswerKind.DURATION),
        ("How far ahead is it booked?", AnswerKind.DURATION),
        ("How high was the dividend?", AnswerKind.NUMBER),
        ("How far does blindsight reach?", AnswerKind.LENGTH),
        ("What does the galley weigh?", AnswerKind.WEIGHT),
        ("By what factor does the weight increase?", AnswerKind.NUMBER),
        ("What share of people answered?", AnswerKind.PERCENT),
        ("What part of the fare do I pay?", None),
        ("How many moons are there?", AnswerKind.NUMBER),
        ("What is the name of the pony?", AnswerKind.NAME),
        ("What is the home phone number of Hudson?", AnswerKind.PHONE),
        ("Which email address takes reports?", AnswerKind.EMAIL),
        ("How old is the miller?", AnswerKind.AGE),
        ("What is Mrs. Hill's first name?", AnswerKind.FIRST_NAME),
        ("What was the first name of Professor Hill?", AnswerKind.FIRST_NAME),
        ("What is the first name of Mrs. Hill's sister?", AnswerKind.PERSON),
        ("Why was the keep given up?", None),
    ],
)
def test_a_question_says_what_kind_of_thing_answers_it(question: str, kind: AnswerKind | None) -> None:
    assert expected_kind(question) is kind


@pytest.mark.parametrize(
    ("text", "kind", "held"),
    [
        ("The ticket is 12 gp.", AnswerKind.MONEY, True),
        ("The museum opens at ten.", AnswerKind.MONEY, False),
        ("The stove alone had cost eight hundred pounds.", AnswerKind.MONEY, True),
        ("He asked for fifty guineas.", AnswerKind.MONEY, True),
        ("He has three thousand a year.", AnswerKind.MONEY, True),
        ("She gave me a silver fourpenny.", AnswerKind.MONEY, True),
        ("Two doors and one window.", AnswerKind.MONEY, False),
        ("The fund still has 12k.", AnswerKind.MONEY, True),
        ("We can get some $ for it.", AnswerKind.MONEY, False),
        ("Release 20.18.1 is out.", AnswerKind.MONEY, False),
        ("A rope is 20.18 now.", AnswerKind.MONEY, True),
        ("2. Ring the bell.", AnswerKind.NUMBER, False),
        ("Write it as UTF-8, see #17.", AnswerKind.NUMBER, False),
        ("Senior mate (L3)", AnswerKind.NUMBER, True),
        ("She is about twenty-seven.", AnswerKind.AGE, True),
        ("She is older than the other parties.", AnswerKind.AGE, False),
        ("It opened on 3 May.", AnswerKind.DATE, True),
        ("It opened with a speech.", AnswerKind.DATE, False),
        ("Built by Alvar Aalto.", AnswerKind.PERSON, True),
        ("The dome was rebuilt.", AnswerKind.PERSON, False),
        ("It lasts ten minutes.", AnswerKind.DURATION, True),
        ("It is a long ritual.", AnswerKind.DURATION, False),
        ("Call +358 40 123 4567.", AnswerKind.PHONE, True),
        ("Write to us.", AnswerKind.EMAIL, False),
        ("Use `foam lint` for it.", AnswerKind.NAME, True),
        ("Bees are kept here.", AnswerKind.NAME, False),
        ("The dog is called Rex.", AnswerKind.NAME, True),
    ],
)
def test_a_text_holds_a_kind_or_not(text: str, kind: AnswerKind, held: bool) -> None:
    assert holds_kind(text, kind, "What is asked?") is held


def test_numbers_months_and_names_of_the_question_do_not_answer_it() -> None:
    assert not holds_kind("Level 21 is the last.", AnswerKind.NUMBER, "What does level 21 need? How many?")
    assert not holds_kind("The May meeting took place.", AnswerKind.YEAR, "In which year was the May meeting?")
    assert not holds_kind("The March issue.", AnswerKind.DATE, "When was the March issue due?")
    assert not holds_kind("Ann's pony ran.", AnswerKind.PERSON, "Who sold Ann's pony?")
    assert not holds_kind("They free the anchor.", AnswerKind.MONEY, "What is the price?")
    assert holds_kind("Children ride free.", AnswerKind.MONEY, "What is the price?")
    assert holds_kind("Ann sold 210 of 21.", AnswerKind.NUMBER, "How many of 21 did Ann sell?")


@pytest.mark.parametrize(
    ("question", "text", "held"),
    [
        ("How many boats does the harbour have?", "The harbour has three old boats and one crew.", True),
        (
            "How many boats does the harbour have?",
            "The harbour has one crew, which paints and mends the boats.",
            False,
        ),
        ("How many hit points does a heron have?", "A level 3 heron eats fish.", False),
        ("How many oars lie in the loft?", "The oars lie on the long beam below the roof: nine of them.", True),
        ("How many people work here?", "Twelve of us do.", True),  # often left unsaid
        ("How many kinds of rope are there?", "There are four ropes.", True),
        ("What is the level?", "The level is high.", True),  # nothing is counted
    ],
)
def test_a_count_is_near_what_it_counts(question: str, text: str, held: bool) -> None:
    assert holds_count(text, question) is held


def test_a_column_of_two_digit_years_has_the_years() -> None:
    found = passages_of("wrecks.csv", "wrecks_85_99,wrecks_00_14")
    document = found[0].document.id
    assert unknown_years("How many wrecks were there from 1985 to 1999?", document, found) == []
    assert unknown_years("How many wrecks were there in 1978?", document, found) == ["1978"]


def test_a_day_is_a_date_or_a_weekday() -> None:
    assert holds_kind("It opens before the fair.", AnswerKind.DATE, "When does it open?")
    assert not holds_kind("It opens before the fair.", AnswerKind.DATE, "On which day does it open?")
    assert holds_kind("It opens every Friday.", AnswerKind.DATE, "On which day does it open?")


def test_a_first_name_stands_beside_the_very_surname() -> None:
    question = "What is Mrs. Hill's first name?"
    assert holds_kind("Then Ann Hill rose.", AnswerKind.FIRST_NAME, question)
    assert holds_kind("Present: Hill, Ann", AnswerKind.FIRST_NAME, question)
    assert not holds_kind(
        "“A gentleman,” said Mrs. Hill to Peter Moss. The Hill house was dark.", AnswerKind.FIRST_NAME, question
    )


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


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("How many ushers does the theatre have?", "ushers"),
        ("What is the dress code of the theatre?", "code"),
        ("Who is the director of the theatre?", "director"),
        ("How many seats are there?", None),
        ("What is the price of a seat?", None),  # an amount tells it without the word
        ("What is the reason for the delay?", None),
        ("Who is responsible?", None),
        ("What is called the prompter of the theatre?", "prompter"),
        ("What is the name of the theatre?", None),
    ],
)
def test_a_thing_without_its_word_is_unknown(question: str, thing: str | None) -> None:
    assert unknown_thing(question, passages_of("theatre.md", "The theatre has forty seats.")) == thing
