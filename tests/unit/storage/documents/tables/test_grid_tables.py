import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.documents.tables.grid_tables import read_grid_tables

GRID = """\
Stock:
+------------+--------+
| Item       | Amount |
+============+========+
| Rope,      | 12     |
| thick      |        |
+------------+--------+
| Anchor     | 1      |
+------------+--------+
"""
PRINTED = """\
```
+--------+------+
| pier   | fare |
+--------+------+
| Linden |  4.5 |
| Voss   | 12.8 |
+--------+------+
```
"""


@pytest.mark.parametrize(
    ("text", "columns", "rows"),
    [
        (GRID, ("Item", "Amount"), (("Rope, thick", "12"), ("Anchor", "1"))),
        (PRINTED, ("pier", "fare"), (("Linden", "4.5"), ("Voss", "12.8"))),
        ("+---+---+\n| 1 | 2 |\n| 3 | 4 |\n+---+---+", ("", ""), (("1", "2"), ("3", "4"))),
    ],
)
def test_drawn_tables_have_cells(text: str, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> None:
    (table,) = read_grid_tables(text)
    assert (table.columns, table.rows) == (columns, rows)
    assert all(span.of(text).startswith("|") for span in table.row_spans)


@pytest.mark.parametrize("text", ["+----+\n| Ferry |\n+----+", "+---+---+\nrows", "a +-b\n", "+---+---+\n+---+---+"])
def test_a_box_or_a_rule_is_no_table(text: str) -> None:
    assert read_grid_tables(text) == []


@given(st.text(alphabet="+-=| a1\n", max_size=200))
def test_rows_stand_where_their_spans_say(text: str) -> None:
    for table in read_grid_tables(text):
        assert len(table.rows) == len(table.row_spans) > 0
        for row, span in zip(table.rows, table.row_spans, strict=True):
            assert len(row) == len(table.columns)
            assert all(word in span.of(text) for cell in row for word in cell.split())
