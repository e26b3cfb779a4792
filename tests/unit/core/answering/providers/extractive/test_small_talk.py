import pytest

from core.answering.providers.extractive.small_talk import BYE, HELLO, THANKS, reply_to


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("hello", HELLO),
        ("Good morning, team!", None),  # a comma makes it talk among people
        ("Hi there!", HELLO),
        ("thanks!", THANKS),
        ("Thank you so much", THANKS),
        ("ok, thanks again", THANKS),
        ("bye", BYE),
        ("thanks, and what does it cost?", None),
        ("Who says hello?", None),
        ("hello world tutorial", None),
        ("Who wrote the thank you note?", None),
    ],
)
def test_only_words_that_ask_for_nothing_are_small_talk(text: str, reply: str | None) -> None:
    assert reply_to(text) == reply
