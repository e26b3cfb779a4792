"""Tables in the source viewer: real cells, every character in its place, what is cited marked in them."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from bot.web.page_html import MOST_CHARACTERS, to_html
from bot.web.page_markup import Marker
from bot.web.table_html import cited_rows, delimited_table, table
from core.domain.passages import Span
from core.text.pipe_tables import to_cells
from storage.documents.tables.text import to_cell, to_table
from tests.unit.bot.web.test_page_html import marks_in, page_of

SHEET = """Fares of the sound

| Harbour | Fare |
| --- | --- |
| Linden | 4.50 |
| Voss \\| Quay | 7 <b>new</b> |

Prices in crowns."""


def show(text: str, quote: str = "", kind: str = "spreadsheet") -> str:
    start = text.index(quote)
    return to_html(page_of(text), kind, Span(start, start + len(quote)) if quote else None).body


def rows_in(body: str) -> list[list[str]]:
    return [[cell.text() for cell in row.css("td, th")] for row in LexborHTMLParser(body).css("tr")]


def test_a_markdown_table_is_shown_as_one_between_its_paragraphs() -> None:
    body = show(SHEET)
    assert rows_in(body) == [["Harbour", "Fare"], ["Linden", "4.50"], ["Voss | Quay", "7 <b>new</b>"]]
    assert [cell.text() for cell in LexborHTMLParser(body).css("thead th")] == ["Harbour", "Fare"]
    assert [p.text() for p in LexborHTMLParser(body).css("p")] == ["Fares of the sound", "Prices in crowns."]
    assert "---" not in body and "<b>" not in body


@pytest.mark.parametrize(
    ("quote", "marks"),
    [
        ("| Linden | 4.50 |", ["Linden", "4.50"]),
        ("Linden | 4", ["Linden", "4"]),
        ("Voss \\| Quay", ["Voss ", "| Quay"]),
        ("Fare |\n| --- | --- |\n| Linden", ["Fare", "Linden"]),
        ("sound", ["sound"]),
        ("| --- | --- |", ["| --- | --- |"]),
    ],
)
def test_what_is_cited_is_marked_in_its_cells(quote: str, marks: list[str]) -> None:
    assert marks_in(show(SHEET, quote)) == marks


def test_a_part_of_a_long_table_is_shown_under_its_head() -> None:
    rows = [f"| harbour {number} | {number} crowns of the realm |" for number in range(12_000)]
    text = "\n".join(["| Harbour | Fare |", "| --- | --- |", *rows, "", "The end."])
    start = text.index(rows[11_000])
    page = to_html(page_of(text), "spreadsheet", Span(start, start + len(rows[11_000])))
    shown = rows_in(page.body)
    assert page.cut_before and len(text) > 2 * MOST_CHARACTERS
    assert shown[0] == ["Harbour", "Fare"]
    assert shown[-1] == ["harbour 11999", "11999 crowns of the realm"]
    assert marks_in(page.body) == ["harbour 11000", "11000 crowns of the realm"]
    assert "The end." in page.body


CSV = '```\nHarbour;Fare;Note\nLinden;4,50;"calm; ""blue"" water"\nVoss;7;\n```'


@pytest.mark.parametrize(
    ("quote", "marks"),
    [("Linden;4,50", ["Linden", "4,50"]), ("Voss;7;", ["Voss", "7"]), ('calm; ""blue', ['calm; "', "blue"])],
)
def test_a_csv_file_is_shown_as_a_table(quote: str, marks: list[str]) -> None:
    body = show(CSV, quote, kind="csv")
    assert rows_in(body) == [["Harbour", "Fare", "Note"], ["Linden", "4,50", 'calm; "blue" water'], ["Voss", "7", ""]]
    assert [cell.text() for cell in LexborHTMLParser(body).css("thead th")] == ["Harbour", "Fare", "Note"]
    assert marks_in(body) == marks


def test_a_part_of_a_long_csv_file_is_shown_under_its_head() -> None:
    rows = [f"harbour {number},{number}" for number in range(20_000)]
    text = "\n".join(["```", "Harbour,Fare", *rows, "```"])
    start = text.index("harbour 17000,")
    page = to_html(page_of(text), "csv", Span(start, start + len("harbour 17000")))
    assert rows_in(page.body)[0] == ["Harbour", "Fare"]
    assert rows_in(page.body)[-1] == ["harbour 19999", "19999"]
    assert marks_in(page.body) == ["harbour 17000"]


def test_a_csv_file_without_cells_is_shown_as_lines() -> None:
    body = show("```\none line\nanother line\n```", "another line", kind="csv")
    assert rows_in(body) == [] and marks_in(body) == ["another line"]


WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=12)
TABLES = st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=2, max_size=6)


@given(TABLES)
def test_cells_are_shown_as_extractors_read_them(rows: list[list[str]]) -> None:
    text = to_table(rows)
    if not text or "```" in text or "~~~" in text:
        return
    expected = [to_cells(line) for place, line in enumerate(text.split("\n")) if place != 1]
    assert rows_in(show(text)) == expected


@given(TABLES)
def test_cells_of_csv_files_are_what_was_written(rows: list[list[str]]) -> None:
    # Without the other delimiters: which one a file has is a guess, and `||x,...` may be cut at either.
    rows = [["".join(sign for sign in to_cell(cell) if sign not in "\\;|:\t") + "x" for cell in row] for row in rows]
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    text = written.getvalue().rstrip("\n")
    body = delimited_table(text, Span(0, len(text)), Marker(None))
    if body:
        assert [len(row) for row in rows_in(body)] == [3] * len(rows)
        assert rows_in(body) == rows


def test_columns_of_numbers_are_aligned_to_the_right() -> None:
    rows = [[[(cell, 0)] for cell in row] for row in (("Fares", "1,284,000", "12 %", ""), ("3", "-4.5", "–", ""))]
    head = [[(cell, 0)] for cell in ("What", "2024", "Share", "Empty")]
    body = table(head, rows, Marker(None))

    assert [("right" in cell) for cell in re.findall(r"<t[hd]\b[^>]*>", body)] == [False, True, True, False] * 3


# ------------------------------------------------------------------------------------------- the rows of an answer

BOATS = """The boats:

| Vessel | Passengers | Cars | Speed | Crew \\| cook |
| --- | --- | --- | --- | --- |
| Marigold | 96 | 8 | 11 knots | 4 |
| Pelican | 48 |

They sail."""


def rows_of(text: str, *quotes: str, kind: str = "", question: str = "") -> str | None:
    spans = [Span(text.index(quote), text.index(quote) + len(quote)) for quote in quotes]
    return cited_rows(page_of(text), kind, spans, range(1, len(quotes) + 1), question)


def test_cited_rows_are_shown_under_their_header_with_the_columns_asked_about() -> None:
    first = "| Marigold | 96 | 8 | 11 knots | 4 |"
    assert rows_of(BOATS, first) == (
        "1 row, 4 of 5 columns[1]:\n\n| Vessel | Passengers | Cars | Speed |\n| --- | --- | --- | --- |\n"
        "| Marigold | 96 | 8 | 11 knots |"
    )
    assert rows_of(BOATS, first, "| Pelican | 48 |", question="How large is the crew?") == (
        "2 rows, 4 of 5 columns[1][2]:\n\n| Vessel | Crew \\| cook | Passengers | Cars |\n| --- | --- | --- | --- |\n"
        "| Marigold | 4 | 96 | 8 |\n| Pelican |  | 48 |  |"
    )


def test_rows_of_a_csv_file_are_shown_under_its_header_at_most_eight() -> None:
    text = "```\nDay,Boats\n" + "\n".join(f'"{day}, early",{day}' for day in range(1, 12)) + "\n```"
    assert rows_of(text, '"2, early",2', kind="csv") == "1 row[1]:\n\n| Day | Boats |\n| --- | --- |\n| 2, early | 2 |"
    many = rows_of(text, text[text.index('"1, early') : text.index("\n```")], kind="csv")
    assert many is not None
    assert many.startswith("The first 8 of 11 rows[1]:")
    assert "9, early" not in many


@pytest.mark.parametrize("quotes", [("The boats:",), ("They sail.",), ("Vessel",), ("| Pelican | 48 |", "They sail.")])
def test_quotes_outside_the_rows_stay_as_they_are(quotes: tuple[str, ...]) -> None:
    assert rows_of(BOATS, *quotes) is None
