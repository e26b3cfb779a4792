from hypothesis import given
from hypothesis import strategies as st

from core.domain.passages import Span
from core.text.pipe_tables import read_pipe_tables, to_cells
from core.text.words import collapse
from storage.documents.tables.text import to_table

CELLS = st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), max_size=12)


def test_a_table_is_read_with_its_place_and_that_of_each_row() -> None:
    text = "Fares:\n\n| Boat | Fare |\n| :--- | ---: |\n| Ebb | 4 |\n| Flood | 5 |\n\nAs of May."
    [table] = read_pipe_tables(text)
    assert table.columns == ("Boat", "Fare")
    assert table.rows == (("Ebb", "4"), ("Flood", "5"))
    assert [span.of(text) for span in table.row_spans] == ["| Ebb | 4 |", "| Flood | 5 |"]
    assert table.span.of(text) == text[text.index("| Boat") : text.index("\n\nAs")]


def test_pipes_may_be_missing_at_the_ends_and_quoted_tables_are_tables() -> None:
    assert read_pipe_tables("a | b\n--|--\n1 | 2")[0].rows == (("1", "2"),)
    assert read_pipe_tables("> | a | b |\n> |---|---|\n> | 1 | 2 |")[0].rows == (("1", "2"),)


def test_code_and_lines_with_a_pipe_are_no_tables() -> None:
    assert read_pipe_tables("```\n| a | b |\n|---|---|\n| 1 | 2 |\n```") == []
    assert read_pipe_tables("one | two\nthree | four") == []
    assert read_pipe_tables("| a | b | c |\n|---|---|\n| 1 | 2 |") == []


def test_rows_are_filled_up_and_a_cell_too_many_is_kept() -> None:
    [table] = read_pipe_tables("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |")
    assert table.columns == ("a", "b", "")
    assert table.rows == (("1", "", ""), ("1", "2", "3"))


def test_an_escaped_pipe_is_part_of_its_cell() -> None:
    assert to_cells(r"| a \| b | c\| |") == ["a | b", "c|"]


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=2, max_size=6))
def test_what_readers_write_is_read_back_cell_by_cell(rows: list[tuple[str, str, str]]) -> None:
    head = ("first", "second", "third")
    rows = [(f"x{row[0]}", *row[1:]) for row in rows]
    clean = [tuple(collapse(cell).replace("\\", "/") for cell in row) for row in rows]
    text = to_table([head, *clean])
    [table] = read_pipe_tables(text)
    columns = [place for place in range(3) if any(row[place] for row in [head, *clean])]
    assert table.rows == tuple(tuple(row[place] for place in columns) for row in clean)
    assert table.span == Span(0, len(text))
