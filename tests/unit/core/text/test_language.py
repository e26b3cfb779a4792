"""The language of short messages, and languages by their names."""

import pytest

from core.text.language import Language, language_named, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("where is the boathouse?", Language.ENGLISH),
        ("any rules on dogs", Language.ENGLISH),
        ("wo ist der Schlüssel?", Language.GERMAN),
        ("werden meine Nachrichten gespeichert?", Language.GERMAN),
        ("spät geworden gestern Nacht", Language.GERMAN),
        ("¿dónde está la llave?", Language.SPANISH),
        ("repite la respuesta, porfa", Language.SPANISH),
        ("où est la clé ?", Language.FRENCH),
        ("tu peux me montrer un exemple de question ?", Language.FRENCH),
        ("liste tes documents", Language.FRENCH),
    ],
)
def test_the_language_is_told_by_words_or_by_letters(text: str, language: Language) -> None:
    assert language_of(text) is language


@pytest.mark.parametrize("text", ["", "1963", "👍", "Pelican", "tokyo", "ok"])
def test_names_and_signs_are_of_no_language(text: str) -> None:
    assert language_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "quanto costa il biglietto per Hallow?",
        "quem construiu a torre?",
        "wie heeft de toren gebouwd?",
        "var är nyckeln?",
        "gdzie jest klucz?",
        "Где ключ?",
        "鍵はどこですか",
    ],
)
def test_other_languages_are_taken_for_none_of_these(text: str) -> None:
    assert language_of(text) is None


def test_languages_have_names() -> None:
    assert language_named("Deutsch") is language_named("de") is Language.GERMAN
    assert language_named("Klingon") is language_named(None) is None
