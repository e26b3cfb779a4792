"""Tables with tabs."""

from hypothesis import given
from hypothesis import strategies as st

from storage.documents.html.text import html_to_text
from storage.documents.tables.text_tables import read_tab_tables

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
