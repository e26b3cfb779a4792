"""Rows of cells become Markdown tables that can be read back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.delimited import find_header, is_data
from core.text.words import collapse
from storage.documents.tables.text import Merge, fill_merged, to_cell, to_table

cells = st.text(alphabet="ab1 .|\n\\é", max_size=8)
grids = st.lists(st.lists(cells, max_size=4), max_size=6)


def test_the_first_row_is_the_header_and_pipes_are_escaped() -> None:
    assert to_table([["who", "fare"], ["a|b", "4\n5"]]) == "| who | fare |\n| --- | --- |\n| a\\|b | 4 5 |"


def test_rows_without_a_header_get_the_one_that_is_given() -> None:
    assert to_table([["1", "", "2"]], columns=["A", "B", "C"]) == "| A | C |\n| --- | --- |\n| 1 | 2 |"


def test_a_table_without_text_is_nothing() -> None:
    assert to_table([["", " "], ["\n"]]) == ""


@given(grids)
def test_every_line_has_as_many_cells_and_every_text_stays(rows: list[list[str]]) -> None:
    lines = to_table(rows).splitlines()
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) <= 1
    kept = [[collapse(cell) for cell in row if cell.strip()] for row in rows if any(cell.strip() for cell in row)]
    read = [[cell for cell in _cells(line) if cell] for place, line in enumerate(lines) if place != 1]
    assert read == kept


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_a_merged_cell_is_said_in_every_row_it_covers() -> None:
    rows = [["who", "fare", ""], ["adult", "4", "5"], ["", "6", "7"]]
    assert fill_merged(rows, [Merge(1, 0, 2, 1), Merge(0, 1, 1, 2)]) == [
        ["who", "fare", "fare"],
        ["adult", "4", "5"],
        ["adult", "6", "7"],
    ]


def test_a_title_over_the_whole_width_stays_once() -> None:
    assert fill_merged([["Fares", ""], ["a", "b"]], [Merge(0, 0, 1, 2)]) == [["Fares", ""], ["a", "b"]]


@given(grids, st.lists(st.builds(Merge, *[st.integers(-2, 9)] * 4), max_size=4))
def test_merges_that_no_table_has_do_no_harm(rows: list[list[str]], merges: list[Merge]) -> None:
    assert len(fill_merged(rows, merges)) == len(rows)


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["who", "fare"], ["adult", "4"]], 0),
        ([["who", "role"], ["Ann", "pilot"]], 0),
        ([["1", "2"], ["3", "4"]], None),
        ([["adult", "4"], ["child", "2"]], None),
        ([["item", "2023", "2024"], ["rent", "10.5", "11"]], 0),
        ([["", "Q1", "Q2"], ["rent", "10", "11"]], 0),
        ([["year", "2023"], ["2024", "5"]], 0),
        ([["2021", "5"], ["2022", "6"]], None),
        ([["Fares", "of 2024"], ["day", "price"], ["2024-01-02", "4"], ["2024-01-03", "5"]], 1),
        ([["item", "note", "price"], ["rent", "monthly", "n/a"], ["food", "weekly", "300"], ["fuel", "", "20"]], 0),
        ([["a"]], None),
        ([], None),
    ],
)
def test_the_header_is_the_last_row_of_words_above_the_numbers(rows: list[list[str]], header: int | None) -> None:
    assert find_header(rows) == header


@pytest.mark.parametrize(
    "text", ["4", "-4.5", "1,234.50", "$5", "5 %", "(12)", "1e-05", "2024-01-31", "31.1.2024", "9:30", "EUR 5", "5 €"]
)
def test_numbers_amounts_and_dates_are_data(text: str) -> None:
    assert is_data(text)


@pytest.mark.parametrize("text", ["", "four", "Q1", "pier 4", "4 boats", "v1.2", "-"])
def test_words_are_no_data(text: str) -> None:
    assert not is_data(text)


@given(st.text())
def test_a_cell_stays_on_its_line(text: str) -> None:
    assert "\n" not in to_cell(text)
