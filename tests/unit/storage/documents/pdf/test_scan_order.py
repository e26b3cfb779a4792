"""Reading order of recognised lines: one column, two, a table; properties of all."""

from hypothesis import given
from hypothesis import strategies as st

from storage.documents.pdf.rows import Line, to_page_text

HEIGHT = 10.0


def line(text: str, left: float, top: float, width: float | None = None) -> Line:
    """A line whose letters are half as wide as high; `top` is counted downwards from the page's head."""
    wide = len(text) * HEIGHT / 2 if width is None else width
    return Line(text=text, left=left, right=left + wide, bottom=1000 - top - HEIGHT, top=1000 - top)


def column(name: str, left: float, count: int = 6, top: float = 50) -> list[Line]:
    return [line(f"{name} line {place}", left, top + 12 * place, 200) for place in range(count)]


def test_lines_come_from_top_to_bottom_with_room_between_paragraphs() -> None:
    lines = [line("Third, after a gap.", 10, 60), line("First line", 10, 10), line("and its second.", 10, 22)]
    assert to_page_text(lines) == "First line\nand its second.\n\nThird, after a gap."


def test_two_columns_of_prose_are_read_one_after_the_other() -> None:
    text = to_page_text([*column("right", 250), *column("left", 10)])
    assert text == "\n".join(f"left line {n}" for n in range(6)) + "\n\n" + "\n".join(
        f"right line {n}" for n in range(6)
    )


def test_a_title_over_both_columns_stands_before_them_and_a_note_behind() -> None:
    title, note = line("Ferries of the sound", 100, 10, 250), line("Printed in the harbour", 100, 200, 250)
    text = to_page_text([note, *column("right", 250), title, *column("left", 10)])
    assert [block.split("\n")[0] for block in text.split("\n\n")] == [
        "Ferries of the sound", "left line 0", "right line 0", "Printed in the harbour",
    ]  # fmt: skip


def test_three_columns_are_read_in_their_order() -> None:
    text = to_page_text([*column("b", 250), *column("c", 490), *column("a", 10)])
    assert [block[0] for block in text.split("\n\n")] == ["a", "b", "c"]


def test_cells_of_a_table_stay_on_their_row() -> None:
    rows = [("Harbour", "Ferries", "Fare"), ("Linden", "12", "4.50"), ("Aldmere", "7", "3.20"), ("Voss", "9", "2.80")]
    lines = [
        line(cell, 10 + 100 * place, 20 + 12 * number)
        for number, row in enumerate(rows)
        for place, cell in enumerate(row)
    ]
    assert to_page_text(lines) == "\n".join("\t".join(row) for row in rows)


def test_a_narrow_gap_is_a_space() -> None:
    assert to_page_text([line("Name:", 10, 10, 25), line("Ann", 40, 11, 15)]) == "Name: Ann"


def test_no_lines_are_no_text() -> None:
    assert to_page_text([]) == ""


PLACES = st.floats(min_value=0, max_value=600)


@given(st.lists(st.tuples(PLACES, PLACES, st.floats(min_value=1, max_value=300)), max_size=40))
def test_every_line_is_in_the_text_once(places: list[tuple[float, float, float]]) -> None:
    lines = [line(f"<{number}>", left, top, width) for number, (left, top, width) in enumerate(places)]
    text = to_page_text(lines)
    assert sorted(text.split()) == sorted(one.text for one in lines)
