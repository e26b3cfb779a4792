import pytest

from storage.documents.meetings.record import is_decision


@pytest.mark.parametrize(
    ("sentence", "decides"),
    [
        ("We decided to sell the boat.", True),
        ("Agreed to wait for the report", True),
        ("Unanimously resolved that the pier stays open", True),
        ("Pause the work until the report is there", True),
        ("Agreed to it", False),
        ("Agreed to wait for the report?", False),
        ("It will be decided to sell in spring.", False),
        ("Ann agreed with Ben on that.", False),
        ("Pause the work for some weeks", False),
    ],
)
def test_a_sentence_that_opens_with_a_decision_is_one(sentence: str, decides: bool) -> None:
    assert is_decision(sentence) is decides
