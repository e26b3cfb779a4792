"""Words that ask nothing, and the rest of a message that may."""

import pytest

from core.text.courtesies import Courtesy, has_words, read_courtesies


@pytest.mark.parametrize(
    "text",
    [
        "cheers mate!",
        "Okay great",
        "hahahaha",
        "Gracias a todos",
        "merci beaucoup tout le monde",
        "yeahhh",
        "gut gemacht",
        "👏👏",
        "ok ok ok",
        "morning all",
    ],
)
def test_a_message_of_courtesies_has_no_rest(text: str) -> None:
    assert read_courtesies(text).is_all


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("thx! how tall is the mast", "how tall is the mast"),
        ("Hallo, wie hoch ist der Mast?", "wie hoch ist der Mast?"),
        ("gracias, ¿y la vela?", "y la vela?"),
        ("how tall is the mast, thanks", "how tall is the mast"),
        ("fine print on page nine", "fine print on page nine"),  # no courtesy without a pause
        ("well water is tested in May", "well water is tested in May"),
        ("the mast is broken", "the mast is broken"),
        ("¿qué hay en la biblioteca?", "¿qué hay en la biblioteca?"),
        ("bis morgen muss alles fertig sein", "bis morgen muss alles fertig sein"),
        ("bon j'y vais, bonne soirée", "bon j'y vais"),
    ],
)
def test_what_stands_beside_courtesies_is_left(text: str, rest: str) -> None:
    assert read_courtesies(text).rest == rest


def test_the_kinds_are_told() -> None:
    assert read_courtesies("hi").kinds == (Courtesy.GREETING,)
    assert set(read_courtesies("lol ok danke").kinds) == {Courtesy.LAUGH, Courtesy.ACKNOWLEDGEMENT, Courtesy.THANKS}


def test_signs_and_links_are_no_words() -> None:
    assert not has_words("🤷 https://example.com/a-picture")
    assert has_words("see https://example.com")
