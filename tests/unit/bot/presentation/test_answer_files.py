"""Tests of `bot.presentation.answer_files`."""

import pytest

from bot.presentation.answer_files import MOST_FILES, AnswerFile, fit_messages
from bot.presentation.markdown import split_markdown

LENGTH = 1_000
HEAD = "| Boat | Fare |\n|---|---:|"


def rows(count: int) -> str:
    return "\n".join([HEAD, *(f"| **Boat {number}** | {number} € [1] |" for number in range(count))])


def code(count: int) -> str:
    return "\n".join(["~~~python", *(f"print({number}) # {'-' * 60}" for number in range(count)), "~~~"])


def prose(words: int) -> str:
    return "It sails at noon. " * (words // 4)


def fitted(text: str, **settings: object) -> tuple[list[str], tuple[AnswerFile, ...]]:
    return fit_messages(text, LENGTH, lambda said: [part.text for part in split_markdown(said, LENGTH)], **settings)  # type: ignore[arg-type]  # by name


def test_an_answer_of_three_messages_has_no_files():
    parts, files = fitted(f"{rows(30)}\n\n{prose(400)}")
    assert (len(parts), files) == (3, ())


def test_a_long_table_is_a_file_and_its_first_rows_stay():
    parts, [file] = fitted(f"The boats:\n{rows(500)}\n\nThey sail at noon [2].")
    assert file.name == "table-1.csv"
    assert file.content.splitlines()[:3] == ["\ufeffBoat,Fare", "Boat 0,0 € [1]", "Boat 1,1 € [1]"]
    assert len(file.content.splitlines()) == 501
    [said] = parts
    assert "Boat 4 " in said
    assert "Boat 5 " not in said
    assert "The table goes on: all 500 rows and 2 columns are in the file `table-1.csv`." in said
    assert "They sail at noon [2]." in said


def test_footnotes_of_rows_that_are_only_in_the_file_are_named():
    table = "\n".join([HEAD, *(f"| Boat {number} | 1 € [{number % 9}] |" for number in range(500))])
    [said], [_] = fitted(f"Fares [7]:\n\n{table}", notes=range(1, 9))
    assert said.endswith("are in the file `table-1.csv`.\nIts other footnotes: [5] [6] [8]")


def test_long_code_is_a_file_and_its_first_lines_stay():
    [said], [file] = fitted(f"Do this:\n\n{code(60)}\n\nThen stop.")
    assert (file.name, file.content.count("\n")) == ("code-1.txt", 60)
    assert file.content.startswith("print(0) #")
    assert "print(4)" in said
    assert "print(5)" not in said
    assert "all 60 lines are in the file `code-1.txt`" in said
    assert said.count("```") == 2


def test_the_longest_become_files_first():
    parts, [file] = fitted(f"{rows(40)}\n\nand\n\n{rows(400)}")
    assert file.content.count("\n") == 401
    assert "Boat 39" in "".join(parts)


def test_files_are_numbered_in_the_order_of_the_text():
    _, files = fitted(f"{rows(200)}\n\nand\n\n{rows(400)}\n\n{code(80)}")
    assert [(file.name, file.content.count("\n")) for file in files] == [
        ("table-1.csv", 201),
        ("table-2.csv", 401),
        ("code-1.txt", 80),
    ]


def test_a_head_stays_only_where_it_has_room():
    wide = f"|{'|'.join(f' Name of the column {number} ' for number in range(30))}|"
    table = "\n".join([wide, "|---" * 30 + "|", *(wide for _ in range(40))])
    [said], [_] = fitted(table)
    assert said == "A table of 40 rows and 30 columns is in the file `table-1.csv`."


def test_no_more_files_than_a_message_takes():
    _, files = fitted("\n\n".join(rows(60) for _ in range(MOST_FILES + 2)))
    assert len(files) == MOST_FILES


def test_without_files_all_is_in_the_text():
    parts, files = fitted(rows(300), most_files=0)
    assert files == ()
    assert "Boat 299" in parts[-1]


def test_a_message_of_files_counts():
    text = f"{rows(100)}\n\n{code(24)}"
    assert [file.name for file in fitted(text)[1]] == ["table-1.csv"]
    assert [file.name for file in fitted(text, files_are_a_message=True)[1]] == ["table-1.csv", "code-1.txt"]


def test_long_prose_stays_in_messages():
    parts, files = fitted(prose(2_000))
    assert files == ()
    assert len(parts) > 3


@pytest.mark.parametrize(
    ("cell", "written"),
    [("=1+1", "'=1+1"), ("@SUM(A1)", "'@SUM(A1)"), ("-5", "-5"), ("+3.5%", "+3.5%"), ("-2+3", "'-2+3"), ("a", "a")],
)
def test_no_cell_is_a_formula(cell: str, written: str):
    _, [file] = fitted(f"{HEAD}\n| {cell} | 0 |\n{rows(200).split(chr(10), 2)[2]}")
    assert file.content.splitlines()[1] == f"{written},0"


def test_code_that_does_not_end_and_tables_in_code():
    _, [file] = fitted(f"```\n{rows(300)}")
    assert file.name == "code-1.txt"
    assert "Boat 299" in file.content
