"""Tables in plain text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import ParsedDocument, ParsedPage
from storage.documents.chunking import chunk
from storage.documents.html.text import html_to_text
from storage.documents.tables.text_tables import read_grid_tables, read_space_tables, read_tab_tables, row_starts

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


WORDS = st.text("abcdeéß日", min_size=1, max_size=8)


def test_a_table_of_a_web_page_is_read_with_its_caption_and_the_place_of_each_row() -> None:
    page = html_to_text(
        "<p>It sails.</p><table><caption>Fares</caption><tr><th>Who<th>Fare<tr><td>adult<td>4<tr><td>child<td>2</table>"
    )
    [table] = read_tab_tables(page.text)
    assert table.caption == "Fares"
    assert table.columns == ("Who", "Fare")
    assert table.rows == (("adult", "4"), ("child", "2"))
    assert [span.of(page.text) for span in table.row_spans] == ["adult\t4", "child\t2"]
    assert table.span.of(page.text) == "Who\tFare\nadult\t4\nchild\t2"


def test_an_empty_first_cell_keeps_its_column() -> None:
    [table] = read_tab_tables("Tides\n\n\tNorth\tSouth\nEbb\t1\t2\n\t3\t4")
    assert table.columns == ("", "North", "South")
    assert table.rows == (("Ebb", "1", "2"), ("", "3", "4"))


def test_a_row_of_one_cell_between_rows_stays_and_short_rows_are_filled_up() -> None:
    [table] = read_tab_tables("Boat\tFare\tCrew\nBig ones\nEbb\t4\t3\nFlood\t5")
    assert table.rows == (("Big ones", "", ""), ("Ebb", "4", "3"), ("Flood", "5", ""))


def test_a_table_of_labels_has_no_header() -> None:
    [table] = read_tab_tables("Class:\tAves\nOrder:\tAnseriformes")
    assert table.columns == ("", "")
    assert table.rows == (("Class:", "Aves"), ("Order:", "Anseriformes"))
    [numbers] = read_tab_tables("Length\t12\nCrew\t3")
    assert numbers.rows == (("Length", "12"), ("Crew", "3"))


def test_stray_tabs_are_no_tables() -> None:
    assert read_tab_tables("It sails\tat seven.\nSee the pier.") == []
    assert read_tab_tables("one\ttwo\n\nthree\tfour") == []
    assert read_tab_tables("one\ttwo\nthree\tfour\tfive") == []
    assert read_tab_tables("\tindented\n\tcode") == []
    assert read_tab_tables("one\ttwo\na\nb\nc\nthree\tfour") == []


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=2, max_size=6))
def test_what_the_html_reader_writes_is_read_back_cell_by_cell(rows: list[tuple[str, str, str]]) -> None:
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    [table] = read_tab_tables(html_to_text(f"<p>x</p><table>{body}</table><p>y</p>").text)
    assert (table.columns, *table.rows) == tuple(rows)


FARES = """\
Fares of the ferry:

Pier          Adults   Children
Linden Quay   4.50     2.25
Voss          12.80    6.40
Aldmere       3.10     1.50
"""
RULED = """\
Name          Role
----------    ---------------
Ann Later     Harbour master
Bo            Engineer
Cy Marsh      Deck hand
"""
SPACED_WORDS = """\
  Boat      Home port   Captain     Remarks
  Marigold  Great Tern  Maren Holt
  Pelican   Hallow      Tom Brae    in the dock
  Brannoc   Little Tern Ines Okafor
"""
RIGHT = """\
Item               Qty     Price
Rope                12      4.00
Anchor, large        1    312.50
Paint               40     12.25
"""


@pytest.mark.parametrize(
    ("text", "columns", "row"),
    [
        (FARES, ("Pier", "Adults", "Children"), ("Voss", "12.80", "6.40")),
        (RULED, ("Name", "Role"), ("Bo", "Engineer")),
        (SPACED_WORDS, ("Boat", "Home port", "Captain", "Remarks"), ("Pelican", "Hallow", "Tom Brae", "in the dock")),
        (RIGHT, ("Item", "Qty", "Price"), ("Anchor, large", "1", "312.50")),
        ("2023    141,200\n2024    145,900\n2025    148,310\n", ("", ""), ("2024", "145,900")),
    ],
)
def test_columns_that_are_held_by_blanks_are_a_table(text: str, columns: tuple[str, ...], row: tuple[str, ...]) -> None:
    (table,) = read_space_tables(text)
    assert table.columns == columns
    assert table.rows[1] == row
    assert table.row_spans[1].of(text).split() == " ".join(row).split()


@pytest.mark.parametrize(
    "text",
    [
        "Date:     4 May\nPlace:    Oslo\nChair:    Ann Later\nMinutes:  Bo\n",
        "1.  Ask the council about it\n2.  Buy a rope\n3.  Paint the pier\n",
        "It rained.  The boat did not sail.\nNobody came.  The harbour was shut all\nday long.  At night it cleared.\n",
        "The ferry            3\nThe harbour          9\nThe storm            21\nThe end              40\n",
        "x    = 1;\nfoo  = 2;\nbarb = 3;\n",
        "ANN       Where is the boat tonight, and who has the key to the office?\nBO        It sank. Nobody was "
        "aboard, they say, but nobody knows it.\nCY        No it has not.\n",
        "  -h, --help       show help and leave\n  -v, --verbose    tell more of it all\n  --json           JSON\n",
        "Ann    Oslo\nBo     Bergen\nCy     Voss\n",
        "Item    Qty\nRope    12\n",
    ],
)
def test_what_only_looks_like_a_table_is_none(text: str) -> None:
    assert read_space_tables(text) == []
    assert row_starts(text) == set()


def test_each_row_is_a_passages_own_line_and_the_head_goes_along() -> None:
    rows = "".join(f"Pier {number:<6}   {number}.50     {number}.25\n" for number in range(10, 60))
    text = f"Pier          Adults   Children\n{rows}"
    document = chunk(ParsedDocument(title="fares", kind="text", pages=(ParsedPage(title="", text=text),)), "local", "d")
    sentences = [span.of(text) for passage in document.passages for span in passage.sentences]
    assert "Pier 12       12.50     12.25" in sentences
    assert document.passages[1].heading_path == ("| Pier | Adults | Children |",)


@given(st.lists(st.lists(st.sampled_from(["a", "bb 1", "12", "4.50", "", "--", "x:"]), max_size=4), max_size=8))
def test_rows_of_columns_stand_where_their_spans_say(rows: list[list[str]]) -> None:
    text = "\n".join("".join(cell.ljust(8) for cell in row) for row in rows)
    for table in read_space_tables(text):
        assert len(table.rows) == len(table.row_spans)
        for row, span in zip(table.rows, table.row_spans, strict=True):
            assert len(row) == len(table.columns)
            assert span.of(text).split() == " ".join(row).split()
