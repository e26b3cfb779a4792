"""Questions of other languages, read in English word by word."""

import re
from importlib.resources import files

import pytest

from core.text.glossary import in_english
from core.text.language import Language, languages_of
from core.text.spelling import LibraryWords

DOCUMENTS = """the warden of the orchard repairs the ladder the festival costs forty crowns members pay by invoice cider
    vinegar festival committee meets on the first monday insurance for visitors solar panel on the barn roof Hallowmere
    fastest slowest press presses apple apples bottles reservation refund password door gate key owner winner prize
    harvest mode delivery delays lorry"""
LIBRARY = LibraryWords(counts={word.casefold(): 1 for word in DOCUMENTS.split()})
DE, ES, FR = Language.GERMAN, Language.SPANISH, Language.FRENCH


@pytest.mark.parametrize(
    ("language", "asked", "read"),
    [
        (DE, "Wie viele Äpfel presst man pro Stunde?", "how many apples press one per hour?"),
        (DE, "Wann tagt das Festkomitee?", "when meet the festival committee?"),  # a compound
        (DE, "Was kostet die Reparatur in Hallowmere?", "how much does cost the repair in Hallowmere?"),
        (DE, "Wann kommt die Lieferung an?", "when come the delivery?"),  # a verb in two parts
        (ES, "¿Quién paga el seguro de los visitantes?", "who pay the insurance of the visitors?"),
        (ES, "¿Cuál es la contraseña de la puerta?", "what is the password of the door?"),
        (ES, "¿cuantas botellas hay en 2024?", "how many bottles there is in 2024?"),
        (FR, "Qui a gagné le prix de la récolte en 2024 ?", "who has winner the prize of the harvest in 2024?"),
        (FR, "Quand se réunit le comité ?", "when meet the committee?"),
        (FR, "c’est quoi le prix du panneau ?", "what is the price of the panel?"),
        (FR, "Y a-t-il des panneaux solaires sur le toit ?", "there is of the panel solar on the roof?"),
    ],
)  # fmt: skip
def test_a_question_is_read_word_by_word(language: Language, asked: str, read: str) -> None:
    found = in_english(asked, language, LIBRARY)
    wanted = set(re.findall(r"\w+", read.casefold()))
    have = set(re.findall(r"\w+", found.text.casefold()))
    assert len(wanted & have) >= 0.6 * len(wanted), found.text
    assert not found.unknown


def test_a_misspelt_word_is_found_in_the_glossary() -> None:
    assert "password" in in_english("¿Cuál es la contrasena de la puerta?", ES, LIBRARY).text
    assert "visit" in in_english("Wie viele Besuchr gibt es?", DE, LIBRARY).text


def test_of_the_words_that_a_misspelt_one_may_be_the_library_s_comes_first_then_the_usual_one() -> None:
    assert "solar" in in_english("¿Cuántos paneles solres hay?", ES, LIBRARY).text  # "sobres" are envelopes
    assert "wait" in in_english("¿Cuántos paneles hay en la sala de espra?", ES, LIBRARY).text  # an "espía" is a spy


def test_names_and_numbers_stay() -> None:
    assert in_english("Wie heißt Hallowmere seit 1.250 Jahren?", DE, LIBRARY).text.count("Hallowmere") == 1
    assert "1.250" in in_english("Wie heißt Hallowmere seit 1.250 Jahren?", DE, LIBRARY).text


def test_words_that_no_one_knows_are_told() -> None:
    assert in_english("Wann wird der Kwrtzlgnom gewaschen?", DE, LIBRARY).unknown == ("Kwrtzlgnom",)


def test_the_file_is_well_formed() -> None:
    for line in files("core.text").joinpath("glossary.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            assert line.count("|") == 3, line
            assert not re.search(r"\bTODO\b", line)


def test_the_languages_of_a_document_are_told_by_its_small_words() -> None:
    german = "die katze und der hund mit einer leine für nicht mehr als ein euro ist es auf dem markt oder sind wir"
    assert languages_of(set(german.split())) == {DE}
    assert languages_of({"the", "of", "and"}) == frozenset()
