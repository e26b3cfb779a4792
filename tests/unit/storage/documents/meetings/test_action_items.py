from datetime import date

import pytest

from storage.documents.meetings.action_items import read_action, read_due, read_state, split_tasks
from storage.documents.meetings.people import People

PEOPLE = People(["Ann Lee", "Ben Ruiz (@bruiz)", "Petra Holm"])
HELD_ON = date(2024, 5, 3)


@pytest.mark.parametrize(
    ("line", "owner", "what", "due"),
    [
        ("Ann to call the bank by 10 May", "Ann", "call the bank", "2024-05-10"),
        ("Ann will call the bank on Monday", "Ann", "Ann will call the bank", "Monday"),
        ("Ann Lee and Ben to call the bank", "Ann Lee and Ben", "call the bank", None),
        ("@ann call the bank by 2024-05-10", "ann", "call the bank", "2024-05-10"),
        ("**Ben**: call the bank - due Friday", "Ben", "call the bank", "Friday"),
        ("Ben to call the bank by EOD Friday", "Ben", "call the bank", "EOD Friday"),
        ("Ann: schreibt der Bank bis 13.05.", "Ann", "schreibt der Bank", "2024-05-13"),
        ("Ben - call the bank - Friday", "Ben", "call the bank", "Friday"),
        ("[Ben Ruiz] call the bank", "Ben Ruiz", "call the bank", None),
        ("Call the bank (Ben)", "Ben", "Call the bank", None),
        ("Call the bank — @bruiz", "bruiz", "Call the bank", None),
        ("Call the bank -> Petra", "Petra", "Call the bank", None),
        ("Call the bank (owner: Ben, due: next week)", "Ben", "Call the bank", "next week"),
        ("Call the bank (Ann Lee, by 1 June)", "Ann Lee", "Call the bank", "2024-06-01"),
        ("Call the bank (Ann, by end of June)", "Ann", "Call the bank", "end of June"),
        ("Ann (by Friday): call the bank", "Ann", "call the bank", "Friday"),
        ("Call the bank on May 9", None, "Call the bank", "2024-05-09"),
        ("Call the bank (this week)", None, "Call the bank", "this week"),
        ("Call the bank by Friday next week", None, "Call the bank", "Friday next week"),
        ("Call the bank within a week", None, "Call the bank within a week", None),
        ("Call the bank, due in two weeks", None, "Call the bank", "in two weeks"),
        ("Call the bank by Q2 2025", None, "Call the bank", "Q2 2025"),
        ("Bank anrufen bis Ende Mai", None, "Bank anrufen", "Ende Mai"),
        ("Call the bank - owner: Ben", "Ben", "Call the bank", None),
        ("Call the bank on Monday", None, "Call the bank", "Monday"),
        ("Call the bank, Friday", None, "Call the bank", "Friday"),
        ("Ann'll call the bank", "Ann", "Ann'll call the bank", None),
        ("Ben to call the bank (June)", "Ben", "call the bank", "June"),
        ("@b.ruiz call the bank", "b.ruiz", "call the bank", None),
        ("Send the lease of the pier to Ann Lee", None, "Send the lease of the pier to Ann Lee", None),
        ("Treasurer to call the bank", "Treasurer", "call the bank", None),
        ("Everyone: call the bank", "Everyone", "call the bank", None),
        ("Call the bank 📅 2024-05-12", None, "Call the bank", "2024-05-12"),
        ("Call the bank before the next meeting", None, "Call the bank", "next meeting"),
        ("Ann: prüft den Vertrag bis 12.5.2024", "Ann", "prüft den Vertrag", "2024-05-12"),
        ("Zora to call the bank", "Zora", "call the bank", None),
        ("IT send new keys", "IT", "send new keys", None),
        ("Eric to be contacted about the keys", None, "Eric to be contacted about the keys", None),
        ("Request to move the boat", None, "Request to move the boat", None),
        ("Move the boat to pier 2", None, "Move the boat to pier 2", None),
        ("Meet Ann at noon", None, "Meet Ann at noon", None),
    ],
)
def test_a_task_gives_its_owner_and_day(line: str, owner: str | None, what: str, due: str | None) -> None:
    action = read_action(line, PEOPLE, held_on=HELD_ON)

    assert action is not None
    assert (action.owner, action.description, action.due_date) == (owner, what, due)


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("Sell it [done]", True),
        ("Sell it ✅", True),
        ("~~Sell it~~", True),
        ("Sell it (in progress)", False),
        ("Sell it - open", False),
        ("Sell it", None),
    ],
)
def test_what_is_done_is_told_by_its_marks(line: str, done: bool | None) -> None:
    action = read_action(line, PEOPLE)

    assert action is not None
    assert (action.description, action.done) == ("Sell it", done)


def test_the_owner_that_was_named_before_stays() -> None:
    action = read_action("call Ben to the pier", PEOPLE, who="@ann")

    assert action is not None
    assert (action.owner, action.description) == ("ann", "call Ben to the pier")


@pytest.mark.parametrize(
    ("line", "tasks"),
    [
        ("Ann to call the printer and Ben to book the hall", ["Ann to call the printer", "Ben to book the hall"]),
        ("Ann will write the notes, and Ben will send them", ["Ann will write the notes", "Ben will send them"]),
        ("Ann and Ben to book the hall", ["Ann and Ben to book the hall"]),
        ("Ann to ask Ben and Cy to book the hall", ["Ann to ask Ben and Cy to book the hall"]),
        ("Ann to call Ben and print the plan", ["Ann to call Ben and print the plan"]),
    ],
)
def test_a_sentence_with_two_owners_is_two_tasks(line: str, tasks: list[str]) -> None:
    assert split_tasks(line, People(("Ann Reed", "Ben Cole", "Cy Dole"))) == tasks


def test_a_line_without_words_is_no_task() -> None:
    assert read_action("--- 12", PEOPLE) is None


def test_cells_of_tables_are_read() -> None:
    assert read_due("5 June", HELD_ON) == "2024-06-05"
    assert read_due("ASAP", HELD_ON) == "ASAP"
    assert read_due("TBD", HELD_ON) is None
    assert [read_state(cell) for cell in ("Done", "not started", "In progress", "?")] == [True, False, False, None]
