import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.corpus import ParsedDocument, ParsedPage
from storage.documents.chunking import chunk
from storage.documents.tables.space_tables import read_space_tables, row_starts

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
WORDS = """\
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
        (WORDS, ("Boat", "Home port", "Captain", "Remarks"), ("Pelican", "Hallow", "Tom Brae", "in the dock")),
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
def test_rows_stand_where_their_spans_say(rows: list[list[str]]) -> None:
    text = "\n".join("".join(cell.ljust(8) for cell in row) for row in rows)
    for table in read_space_tables(text):
        assert len(table.rows) == len(table.row_spans)
        for row, span in zip(table.rows, table.row_spans, strict=True):
            assert len(row) == len(table.columns)
            assert span.of(text).split() == " ".join(row).split()
