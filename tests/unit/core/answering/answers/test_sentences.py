"""Footnote's own sentences: whole in each language, and never taken for claims about the documents."""

import re
from collections import Counter
from pathlib import Path
from string import Formatter

import pytest

from core.answering.answers import sentences
from core.answering.answers.sentences import has_sentence, language_for, quoted, say, without_quotes_note
from core.answering.support.claims import only_says_not_found
from core.domain.chat import PagePart
from core.domain.turns import EVERYDAY
from core.text.language import Language
from tests.builders import build_incoming

ROOT = Path(sentences.__file__).parents[3]
ALL = sentences._SENTENCES
ANSWERED_ELSEWHERE = {"library"}  # everyday messages that are answered with `documents`


def values_of(text: str) -> Counter[str]:
    return Counter(name for _, name, _, _ in Formatter().parse(text) if name)


@pytest.mark.parametrize("name", sorted(ALL))
def test_each_sentence_is_there_in_each_language_with_the_same_values(name: str) -> None:
    texts = ALL[name]
    assert set(texts) == set(Language)
    assert len({frozenset(values_of(text)) for text in texts.values()}) == 1


def test_each_sentence_is_said_and_each_that_is_said_is_there() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for top in ("core", "bot") for path in (ROOT / top).rglob("*.py"))
    said = set(re.findall(r"""\b(?:say|has_sentence)\(\s*["'](\w+)["']""", code))
    by_kind = ({kind.value for kind in EVERYDAY} | {"first_question"}) - ANSWERED_ELSEWHERE
    by_part = {f"page_{part.name.lower()}" for part in PagePart}
    named = set(re.findall(r'_SENTENCES\["(\w+)"\]|"(partial|cut)": draft', code))
    assert said | by_kind | by_part | {name for pair in named for name in pair if name} == set(ALL)


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("name", ["not_found", "not_found_closest", "silent_document", "quotes_note", "nothing"])
def test_what_an_answer_without_a_model_says_itself_is_no_claim(name: str, language: Language) -> None:
    places = quoted(["House rules", "Council"], language)
    assert only_says_not_found(say(name, language, places=places, title=places))


def test_quotation_marks_and_links_are_those_of_the_language() -> None:
    assert [quoted(["a", "b"], one) for one in Language] == [
        "“a” and “b”",
        "„a“ und „b“",
        "“a” y “b”",
        "« a » et « b »",
    ]


@pytest.mark.parametrize("language", Language)
def test_the_note_about_quotes_is_known_and_left_out_in_each_language(language: Language) -> None:
    text = f"Under the mat.\n\n{say('quotes_note', language)}"
    assert has_sentence("quotes_note", text)
    assert without_quotes_note(text) == "Under the mat."


@pytest.mark.parametrize(
    ("text", "named", "expected"),
    [
        ("Where is the key?", None, Language.ENGLISH),
        ("Wo ist der Schlüssel?", None, Language.GERMAN),
        ("Wo ist der Schlüssel?", "fr", Language.FRENCH),
        ("Где ключ?", None, Language.ENGLISH),
        ("¿Dónde está la llave?", "klingon", Language.SPANISH),
    ],
)
def test_the_channels_language_goes_before_the_questions(text: str, named: str | None, expected: Language) -> None:
    assert language_for(build_incoming(text, language=named)) is expected
