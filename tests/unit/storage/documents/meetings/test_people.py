import pytest

from storage.documents.meetings.people import People, is_name, read_listed_name, read_names


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Ann Lee (chair), Ben Ruiz and @carla", ["Ann Lee", "Ben Ruiz", "@carla"]),
        ("Ann Lee, CEO; Ben Ruiz, CFO", ["Ann Lee", "Ben Ruiz"]),
        ("A. Smith & J. van den Berg; R. Roe (Acme)", ["A. Smith", "J. van den Berg", "R. Roe (Acme)"]),
        ("Ann Lee (a, b); Ben", ["Ann Lee (a, b)", "Ben"]),
        ("Inés, Luis y Ana", ["Inés", "Luis", "Ana"]),
        ("Ann <ann@example.org>, Ben (absent), and 3 others", ["Ann"]),
        ("田中、鈴木", ["田中", "鈴木"]),
        ("the plan was shown to everybody in the room at length", []),
        ("none", []),
    ],
)
def test_a_line_gives_the_people_it_lists(line: str, names: list[str]) -> None:
    assert read_names(line) == names


@pytest.mark.parametrize(
    ("item", "names"),
    [
        ("Ann Lee (@annlee)", ["Ann Lee (@annlee)"]),
        ("**Ann Lee** – Chair", ["Ann Lee"]),
        ("Ann Lee, Acme Corp", ["Ann Lee"]),
        ("[[people/ann|Ann Lee]]", ["Ann Lee"]),
        ("axolotl", ["axolotl"]),
        ("Ann, Ben, Cara", ["Ann", "Ben", "Cara"]),
        ("~~Ann Lee~~", []),
        ("Ann Lee (regrets)", []),
        ("[Name]", []),
        ("Minutes: https://example.org", []),
        ("We talked about boats. It was good.", []),
        ("Ann Lee @annlee1234 (crew)", ["Ann Lee @annlee1234 (crew)"]),
    ],
)
def test_an_item_gives_the_person_it_names(item: str, names: list[str]) -> None:
    assert read_listed_name(item) == names


def test_names_are_told_from_other_capitalised_words() -> None:
    assert all(is_name(text) for text in ("Ann", "Ben Ruiz", "J. van den Berg", "@ann", "Ben (Acme)"))
    assert not any(is_name(text) for text in ("Update", "The boat", "sell", "Action item", "Ann sells", "R2D2 12"))


def test_people_are_known_by_first_name_last_name_handle_and_initials() -> None:
    people = People(["Ann Lee (@annlee)", "Ben Ruiz"])

    assert all(people.knows(name) for name in ("Ann", "Lee", "@annlee", "annlee", "BR", "Ann L."))
    assert not any(people.knows(name) for name in ("Carla", "Ann sells", ""))
