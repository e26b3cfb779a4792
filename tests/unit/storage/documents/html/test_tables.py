"""Cells of HTML tables over several rows and columns: what stands below and beside them stays in its column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.documents.html.text import MAX_REPEATED, MAX_SPAN, html_to_text, to_span


def lines(rows: str) -> list[list[str]]:
    return [line.split("\t") for line in html_to_text(f"<table>{rows}</table>").text.split("\n")]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            "<tr><th>Coast</th><th>Harbour</th><th>Fare</th></tr>"
            "<tr><td rowspan=2>North</td><td>Linden</td><td>4</td></tr><tr><td>Voss</td><td>7</td></tr>"
            "<tr><td>South</td><td>Aldmere</td><td>9</td></tr>",
            [
                ["Coast", "Harbour", "Fare"], ["North", "Linden", "4"], ["North", "Voss", "7"],
                ["South", "Aldmere", "9"],
            ],
        ),
        (
            "<tr><td>Harbour</td><td colspan=2>Crossings</td><td>Fare</td></tr>"
            "<tr><td>Linden</td><td>12</td><td>14</td><td>4</td></tr>",
            [["Harbour", "Crossings", "", "Fare"], ["Linden", "12", "14", "4"]],
        ),
        (
            "<tr><td>Linden</td><td>12</td><td rowspan=2>daily</td></tr><tr><td>Voss</td><td>9</td></tr>",
            [["Linden", "12", "daily"], ["Voss", "9", "daily"]],
        ),
        (
            "<tr><td rowspan=2 colspan=2>Both</td><td>1</td></tr><tr><td>2</td></tr>",
            [["Both", "", "1"], ["Both", "", "2"]],
        ),
        (
            "<tbody><tr><td rowspan=9>North</td><td>Linden</td></tr></tbody>"
            "<tbody><tr><td>South</td><td>Voss</td></tr></tbody>",
            [["North", "Linden"], ["South", "Voss"]],
        ),
        ("<tr><td colspan=3>Ferries of the sound</td></tr><tr><td>a</td><td>b</td><td>c</td></tr>",
            [["Ferries of the sound"], ["a", "b", "c"]]),
        ("<tr><td rowspan=2>One</td><td>two</td></tr><tr></tr>", [["One", "two"]]),
    ],
    ids=["rows", "columns", "last column", "both", "groups", "title", "empty row"],
)  # fmt: skip
def test_columns_stay_in_line(rows: str, expected: list[list[str]]) -> None:
    assert lines(rows) == expected


def test_a_long_cell_is_not_repeated_but_keeps_its_place() -> None:
    long = "word " * (MAX_REPEATED // 5) + "more"
    assert lines(f"<tr><td rowspan=2>{long}</td><td>1</td></tr><tr><td>2</td></tr>") == [[long, "1"], ["", "2"]]


def test_a_table_in_a_cell_has_columns_of_its_own() -> None:
    inner = "<table><tr><td rowspan=2>x</td><td>1</td></tr><tr><td>2</td></tr></table>"
    text = html_to_text(f"<table><tr><td>{inner}</td></tr><tr><td>a</td><td>b</td></tr></table>").text
    assert [line.split("\t") for line in text.split("\n") if line] == [["x", "1"], ["x", "2"], ["a", "b"]]


@pytest.mark.parametrize(
    ("value", "expected"), [(None, 1), ("3", 3), (" 2 ", 2), ("0", 1), ("-4", 1), ("many", 1), ("9" * 12, 1)]
)
def test_a_span_that_says_nothing_is_one(value: str | None, expected: int) -> None:
    assert to_span(value) == expected


def test_what_a_file_claims_is_bounded() -> None:
    text = html_to_text("<table><tr>" + "<td colspan=99999999>a</td>" * 40 + "</tr></table>").text
    assert len(text) < 40 * (MAX_SPAN + 2)


@st.composite
def grids(draw: st.DrawFn) -> tuple[str, list[list[str]]]:
    """A table of cells that cover each other's places, and what every place of it says."""
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    says: list[list[str | None]] = [[None] * width for _ in range(height)]
    rows = []
    for row in range(height):
        cells = ""
        for column in range(width):
            if says[row][column] is not None:
                continue
            free = next((place for place in range(column, width) if says[row][place] is not None), width) - column
            wide, high = draw(st.integers(1, free)), draw(st.integers(1, height - row))
            while any(
                says[below][place] is not None
                for below in range(row, row + high)
                for place in range(column, column + wide)
            ):
                high -= 1
            name = f"c{row}.{column}"
            for below in range(row, row + high):
                for place in range(column, column + wide):
                    says[below][place] = name if place == column else ""
            cells += f"<td rowspan={high} colspan={wide}>{name}</td>"
        rows.append((cells, bool(cells)))
    written = "".join(f"<tr>{cells}</tr>" for cells, _ in rows)
    shown = [[cell or "" for cell in line] for line, (_, is_own) in zip(says, rows, strict=True) if is_own]
    return written, shown


@given(grids())
def test_every_cell_stands_in_its_column(grid: tuple[str, list[list[str]]]) -> None:
    written, shown = grid
    expected = ["\t".join(line).rstrip("\t") for line in shown]
    assert [line.rstrip("\t") for line in html_to_text(f"<table>{written}</table>").text.split("\n")] == expected
