"""Headers of tables."""

import pytest

from core.domain.corpus import ParsedDocument, ParsedPage
from core.domain.passages import Passage, Span
from core.text.pipe_tables import TextTable, read_pipe_tables
from storage.documents.chunking import chunk
from storage.documents.tables.headers import MAX_HEADER, find_headers, with_one_header


def read(*rows: str) -> TextTable:
    width = rows[0].count("|") - 1
    (table,) = read_pipe_tables("\n".join((rows[0], "|" + " - |" * width, *rows[1:])))
    return with_one_header(table)


def test_names_over_several_columns_go_with_those_below() -> None:
    table = read(
        "| Pier | Boats | | Fares | |",
        "| | 2023 | 2024 | 2023 | 2024 |",
        "| North | 4 | 5 | 60.5 | 71 |",
        "| South | 2 | 2 | 9 | 11 |",
    )

    assert table.columns == ("Pier", "Boats 2023", "Boats 2024", "Fares 2023", "Fares 2024")
    assert [row[0] for row in table.rows] == ["North", "South"]
    assert len(table.row_spans) == 2


def test_a_merged_name_may_stand_in_each_of_its_cells() -> None:
    table = read("| Pier | Boats | Boats |", "| Pier | Sail | Motor |", "| North | 4 | 5 |")

    assert table.columns == ("Pier", "Boats Sail", "Boats Motor")


def test_a_head_of_one_cell_is_the_title() -> None:
    table = read("| Fares by pier | | |", "| | **March 2024** | **April 2024** |", "| North | 41.5 | 50 |")

    assert table.columns == ("", "**March 2024**", "**April 2024**")
    assert table.caption == "Fares by pier"


@pytest.mark.parametrize(
    "rows",
    [
        ("| Pier | Boats | |", "| North | 4 | 5 |", "| South | 4 | 5 |"),  # the row holds figures
        ("| Pier | Boats | Fares |", "| | 2023 | 2024 |", "| North | 4 | 5 |"),  # nothing spans two columns
        ("| Pier | Boats | |", "| | many | few |", "| North | sail | motor |"),  # words throughout
        ("| Pier | Boats | |", "| | same | same |", "| North | 4 | 5 |"),  # no name of its own
        ("| Pier | Boats | |", "| Ebb | Sail | Motor |", "| North | 4 | 5 |"),  # another name for the first column
        ("| Pier | Boats | |", "| | 2023 | 2024 |"),  # nothing below
        ("| Year | |", "| 2023 | 2024 |", "| 4 | 5 |"),  # too narrow
    ],
)
def test_other_tables_stay_as_they_are(rows: tuple[str, ...]) -> None:
    assert read(*rows).rows[0][1] == rows[1].split("|")[2].strip()


def test_signs_in_columns_of_their_own_go_with_their_figures() -> None:
    rows = (
        "| | 2024 | | | 2023 | | |",
        "| Fares | $ | 12,500 | | $ | 11,000 | |",
        "| Ropes | | (410 | ) | | (95 | ) |",
        "| Margin | | 32.1 | % | | 30.0 | % |",
    )

    table = read(*rows)

    assert table.columns == ("", "2024", "2023")
    assert table.rows == (
        ("Fares", "$12,500", "$11,000"),
        ("Ropes", "(410)", "(95)"),
        ("Margin", "32.1%", "30.0%"),
    )


def test_a_column_of_units_with_a_name_of_its_own_stays() -> None:
    table = read("| Fare | Unit | Price |", "| Adult | $ | 4 |", "| Child | $ | 2 |")

    assert table.columns == ("Fare", "Unit", "Price")


def test_rows_of_names_head_a_table_without_a_head() -> None:
    spans = tuple(Span(place, place + 1) for place in range(4))
    rows = (
        ("", "Year to March", ""),
        ("", "2024", "2023"),
        ("Fares", "12,500", "11,000"),
        ("Ropes", "410", "95"),
    )

    grid = with_one_header(TextTable(span=Span(0, 4), columns=("", "", ""), rows=rows, row_spans=spans))

    assert grid.columns == ("", "Year to March 2024", "Year to March 2023")
    assert grid.rows == rows[2:]
    assert grid.row_spans == spans[2:]


SHEET = """Fares

| Harbour | Fare \\| crowns |
| --- | --- |
| Linden | 4.50 |
| Voss | 7 |

Prices hold until May."""


def passages(text: str, title: str = "") -> tuple[Passage, ...]:
    page = ParsedPage(title=title, text=text)
    return chunk(ParsedDocument(title="fares", kind="spreadsheet", pages=(page,)), "local", "d").passages


def test_rows_stand_under_their_head_and_what_is_around_them_does_not() -> None:
    headers = find_headers(SHEET)
    assert headers.at(SHEET.index("| Linden")) == headers.at(SHEET.index("7 |")) == "| Harbour | Fare | crowns |"
    assert [headers.at(SHEET.index(words)) for words in ("Fares", "| Harbour", "Prices")] == [None, None, None]


def test_lines_with_tabs_have_heads_too() -> None:
    text = "Harbour\tFare\nLinden\t4.50\nVoss\t7.20"
    assert find_headers(text).at(text.index("Voss")) == "| Harbour | Fare |"


def test_code_has_no_head() -> None:
    text = "```\nHarbour\tFare\nLinden\t4.50\nVoss\t7.20\n```"
    assert find_headers(text).at(text.index("Voss")) is None


def test_a_wide_head_is_cut() -> None:
    text = (
        "| "
        + " | ".join(f"column {number}" for number in range(90))
        + " |\n|"
        + " --- |" * 90
        + "\n| "
        + " | ".join("abcdefghi")
        + " |"
    )
    header = find_headers(text).at(len(text) - 2)
    assert header is not None and header.startswith("| column 0 |") and len(header) <= MAX_HEADER


def test_passages_from_the_middle_of_a_table_have_its_head_beside_their_text() -> None:
    rows = "\n".join(f"| harbour number {number} | {number} crowns a crossing |" for number in range(60))
    text = f"All fares.\n\n| Harbour | Fare |\n| --- | --- |\n{rows}\n\n" + "And then a word about the weather. " * 60
    first, *others = passages(text, "Prices")
    assert first.heading_path == first.titles == ("Prices",)
    inside = [passage for passage in others if passage.text.startswith("| harbour")]
    assert len(inside) > 3
    assert {passage.heading_path for passage in inside} == {("Prices", "| Harbour | Fare |")}
    assert {passage.titles for passage in inside} == {("Prices",)}
    assert all(passage.text == passage.span.of(text) for passage in (first, *others))
    assert others[-1].heading_path == ("Prices",)
