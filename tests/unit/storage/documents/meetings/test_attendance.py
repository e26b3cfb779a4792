import pytest

from storage.documents.meetings.attendance import find_present


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("Councillors Hale, Moor (in the chair) and Mrs Quill attended.", ["Hale", "Moor (in the chair)", "Mrs Quill"]),
        ("On the call were Ann, Ben Ruiz and me.", ["Ann", "Ben Ruiz"]),
        ("Present were Ann, Ben & Carla", ["Ann", "Ben", "Carla"]),
        ("Ann Lee and Ben Ruiz joined the call", ["Ann Lee", "Ben Ruiz"]),
        ("Ann and Ben joined the company.", []),
        ("Ann and Ben attended the conference in Oslo.", []),
        ("Ann and Ben were not present.", []),
        ("Ann, Ben and three guests attended.", []),
        ("The board and the staff attended.", []),
        ("Ann attended.", []),
    ],
)
def test_a_sentence_of_names_says_who_was_there(sentence: str, names: list[str]) -> None:
    assert find_present(sentence) == names
