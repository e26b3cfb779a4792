import pytest

from core.domain.corpus import Page
from storage.documents.meetings.labels import (
    Column,
    Role,
    find_columns,
    find_label,
    find_role,
    split_labels,
    without_number,
)
from storage.documents.meetings.lines import read_lines


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("Attendees", Role.ATTENDEES),
        ("PRESENT:", Role.ATTENDEES),
        ("👥 Who was there", Role.ATTENDEES),
        ("Board members present", Role.ATTENDEES),
        ("Not present", Role.ABSENT),
        ("3. Decisions made", Role.DECISIONS),
        ("Beschlüsse", Role.DECISIONS),
        ("Action Items as a result of this meeting:", Role.ACTIONS),
        ("Decisions and action items", Role.ACTIONS),
        ("Next steps (owners)", Role.ACTIONS),
        ("Actions/Agenda", Role.TOPICS),
        ("Previous action items", Role.PAST),
        ("Next meeting", Role.PAST),
        ("Meeting Date/Time", Role.DATE),
        ("Boats", None),
        ("Actions speak louder than any number of words ever could do here", None),
    ],
)
def test_titles_say_what_stands_under_them(title: str, role: Role | None) -> None:
    assert find_role(title) is role


@pytest.mark.parametrize(
    ("line", "role", "who", "rest"),
    [
        ("Decision: sell it", Role.DECISIONS, "", "sell it"),
        ("DECISIONS 77.1: sell it", Role.DECISIONS, "", "sell it"),
        ("Action item 4 (Ben): sell it", Role.ACTIONS, "Ben", "sell it"),
        ("ACTION-31: sell it", Role.ACTIONS, "", "sell it"),
        ("TODO @ann: sell it", Role.ACTIONS, "@ann", "sell it"),
        ("Présents : Ann", Role.ATTENDEES, "", "Ann"),
        ("参加者：田中", Role.ATTENDEES, "", "田中"),
        ("Agreed - sell it", Role.DECISIONS, "", "sell it"),
    ],
)
def test_labels_are_found_before_what_they_name(line: str, role: Role, who: str, rest: str) -> None:
    label = find_label(line)

    assert label is not None
    assert (label.role, label.who, line[label.rest_start :]) == (role, who, rest)


@pytest.mark.parametrize("line", ["Ann: hello", "We agreed to this: sell it", "12:30 lunch", "No colon here"])
def test_other_lines_have_no_label(line: str) -> None:
    assert find_label(line) is None


def test_numbers_before_titles_are_left_out() -> None:
    assert [without_number(title) for title in ("1. Boats", "2.3 Ropes", "IV. Nets", "Boats: 3. try")] == [
        "Boats", "Ropes", "Nets", "Boats: 3. try",
    ]  # fmt: skip


def split(text: str) -> list[str]:
    (line,) = read_lines([Page(id="p", document_id="d", revision="r", number=1, title="", text=text)])
    parts = split_labels(line)
    assert [text[part.span.start : part.span.end] for part in parts] == [part.raw for part in parts]
    return [part.raw for part in parts]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Chair: Ann. Present: Ben, Carla. Apologies: Dan", ["Chair: Ann.", "Present: Ben, Carla.", "Apologies: Dan"]),
        ("Date: 3 May 2024 | Present: Ann, Ben", ["Date: 3 May 2024", "Present: Ann, Ben"]),
        ("**Present:** Ann, Ben **Regrets:** Carla", ["**Present:** Ann, Ben", "Regrets:** Carla"]),
        ("Place: Pier 3; Attendees: Ann", ["Place: Pier 3", "Attendees: Ann"]),
        ("Present: Ann, Ben", ["Present: Ann, Ben"]),
        ("Ann: we met. Present: nobody", ["Ann: we met. Present: nobody"]),
        ("Decision: we keep it. Date: open", ["Decision: we keep it. Date: open"]),
    ],
)
def test_a_line_of_several_labels_is_several_lines(text: str, parts: list[str]) -> None:
    assert split(text) == parts


def test_headers_name_the_columns_of_tables_of_notes() -> None:
    assert find_columns(["#", "Action item", "Assigned to", "By when", "Erledigt"]) == (
        Column.NUMBER, Column.ACTION, Column.OWNER, Column.DUE, Column.STATUS,
    )  # fmt: skip
    assert find_columns(["Harbour", "Depth"]) == ()
