from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.domain.corpus import Page
from core.domain.extracts import ExtractorInput, Found, Unread
from storage.documents.deadline import deadline_handler
from storage.documents.extractors.tables import PdfTableExtractor
from storage.documents.pdf import found_tables as pdf_page_tables
from storage.documents.pdf.layout import FoundTable, Layout
from storage.documents.readers.pdf import PdfReader
from tests.builders import build_document, build_pages
from tests.unit.storage.documents.pdf_files import Piece, Stroke, build_pdf

ROWS = [
    ("Harbour", "2023", "2024"),
    ("Northern pier", "1,204", "1,310"),
    ("Southern pier", "88", "(12)"),
    ("All", "1,292", "1,298"),
]
COLUMNS = (60, 260, 400)


def place(rows: Sequence[Sequence[str]], top: int = 700, columns: Sequence[int] = COLUMNS) -> list[Piece]:
    cells = [(x, top - 20 * line, cell) for line, row in enumerate(rows) for x, cell in zip(columns, row, strict=True)]
    return [cell for cell in cells if cell[2]]


def frame(rows: int, top: int = 715, edges: Sequence[int] = (50, 250, 390, 520)) -> list[Stroke]:
    bottom = top - 20 * rows
    level: list[Stroke] = [(edges[0], top - 20 * row, edges[-1], top - 20 * row) for row in range(rows + 1)]
    return [*level, *((edge, bottom, edge, top) for edge in edges)]


def find(path: Path, pages: Sequence[Sequence[Piece]], strokes: Sequence[Stroke] = ()) -> tuple[list[Found], list[str]]:
    """What is found, and the texts of the pages."""
    path.write_bytes(build_pdf(pages, strokes=strokes))
    read = PdfReader().read(path, path.parent).pages
    stored = tuple(
        Page(id=f"p{page.number}", document_id="d1", revision="r1", number=page.number or 0, title="", text=page.text)
        for page in read
    )
    document = build_document("harbour.pdf", kind="pdf", title="Harbour")
    found = PdfTableExtractor().extract(ExtractorInput(document=document, pages=stored, path=path))
    return [item for item in found if isinstance(item, Found)], [page.text for page in stored]


def test_a_ruled_table_is_found_with_its_header_and_rows(tmp_path: Path) -> None:
    [found], [text] = find(tmp_path / "a.pdf", [[(60, 740, "Boats by pier"), *place(ROWS)]], frame(4))
    assert found.confidence > 0.8
    assert found.data["title"] == "Boats by pier"
    assert found.data["columns"] == ROWS[0]
    assert found.data["rows"] == tuple(ROWS[1:])
    spans = found.data["row_spans"]
    assert isinstance(spans, tuple)
    assert ["".join(text[start:end].split()) for start, end in spans] == [
        "".join(row).replace(" ", "") for row in ROWS[1:]
    ]


def test_cells_without_text_stay_empty(tmp_path: Path) -> None:
    rows = [*ROWS[:2], ("Southern pier", "", "(12)"), ROWS[3]]
    [found], _ = find(tmp_path / "a.pdf", [place(rows)], frame(4))
    assert found.data["rows"] == tuple(rows[1:])


def test_a_table_without_lines_is_found_by_its_columns(tmp_path: Path) -> None:
    prose = [(60, 780 - 14 * line, f"The board met on the pier and spoke of boats, line {line}.") for line in range(3)]
    [found], [text] = find(tmp_path / "a.pdf", [[*prose, *place(ROWS)]])
    assert found.confidence < 0.8
    assert found.data["columns"] == ROWS[0]
    assert found.data["rows"] == tuple(ROWS[1:])
    assert "spoke" not in found.span.of(text)


def test_prose_in_two_columns_is_no_table(tmp_path: Path) -> None:
    line = "the boats that came in from"
    page = [(x, 700 - 14 * row, f"{line} {row}") for row in range(20) for x in (60, 320)]
    assert find(tmp_path / "a.pdf", [page])[0] == []


def test_a_frame_around_prose_is_no_table(tmp_path: Path) -> None:
    page = [(60, 700 - 14 * row, "the boats that came in from the north and lay there") for row in range(9)]
    strokes = [(50, 720, 540, 720), (50, 560, 540, 560), (50, 560, 50, 720), (540, 560, 540, 720)]
    assert find(tmp_path / "a.pdf", [page], strokes)[0] == []


def test_a_list_of_contents_is_no_table(tmp_path: Path) -> None:
    page = [
        piece
        for row in range(8)
        for piece in ((60, 700 - 20 * row, f"Chapter {row}"), (500, 700 - 20 * row, f"{row * 9}"))
    ]
    assert find(tmp_path / "a.pdf", [page])[0] == []


def test_a_table_that_goes_on_over_the_page_break_says_so_and_keeps_its_columns(tmp_path: Path) -> None:
    more = [("Eastern pier", "310", "320"), ("Western pier", "45", "51"), ("Old pier", "7", "9")]
    first, second = find(tmp_path / "a.pdf", [place(ROWS[:3] + more), place(more)])[0]
    assert (first.data["continued"], second.data["continued"]) == (False, True)
    assert second.data["columns"] == ROWS[0]
    assert second.page_number == 2


def test_a_table_that_goes_on_takes_the_names_of_one_with_columns_of_signs(tmp_path: Path) -> None:
    more = [("Eastern pier", "310", "320"), ("Western pier", "45", "51"), ("Old pier", "7", "9")]
    signs = [(name, "$", one, "$", other) for name, one, other in more]
    columns = (60, 250, 300, 380, 430)
    names = [("", "", "2024", "", "2023")]
    first, second = find(tmp_path / "a.pdf", [place(names + signs, columns=columns), place(signs, columns=columns)])[0]
    assert first.data["columns"] == second.data["columns"] == ("", "2024", "2023")
    assert second.data["rows"] == first.data["rows"]


def test_a_file_that_is_gone_gives_nothing(tmp_path: Path) -> None:
    page = Page(id="p1", document_id="d1", revision="r1", number=1, title="", text="Harbour")
    given_ = ExtractorInput(
        document=build_document("a.pdf", kind="pdf"), pages=(page,), path=tmp_path / "gone.pdf"
    )  # fmt: skip
    assert list(PdfTableExtractor().extract(given_)) == []


TEXTS = st.sampled_from(["12", "(3.5)", "Pier", "A long line of it", "-"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(
        st.tuples(st.integers(0, 590), st.integers(0, 790), TEXTS),
        min_size=1, max_size=60,
    ),
    strokes=st.lists(st.tuples(*[st.integers(0, 600)] * 4), max_size=12),
)  # fmt: skip
def test_whatever_stands_on_a_page_rows_have_as_many_cells_as_columns_and_places_in_its_text(
    pieces: list[Piece], strokes: list[Stroke], tmp_path: Path
) -> None:
    level = [(x0, y0, x1, y0) for x0, y0, x1, _ in strokes] + [(x0, y0, x0, y1) for x0, y0, _, y1 in strokes]
    found, texts = find(tmp_path / "a.pdf", [[*pieces, (10, 10, "Harbour board")]], level)
    for item in found:
        rows, columns, spans = (item.data[name] for name in ("rows", "columns", "row_spans"))
        assert isinstance(rows, tuple) and isinstance(columns, tuple) and isinstance(spans, tuple)
        assert all(len(row) == len(columns) for row in rows)
        assert all(item.span.start <= start < end <= item.span.end for start, end in spans)
        assert item.span.of(texts[0]).strip()


def test_a_header_over_several_columns_is_part_of_the_name_of_each(tmp_path: Path) -> None:
    rows = [("", "Boats", ""), *ROWS]
    strokes = frame(5)
    strokes[strokes.index((390, 615, 390, 715))] = (390, 615, 390, 695)
    [found], _ = find(tmp_path / "a.pdf", [place(rows)], strokes)
    assert found.data["columns"] == ("Harbour", "Boats 2023", "Boats 2024")
    assert found.data["rows"] == tuple(ROWS[1:])


def test_rows_with_no_lines_between_them_are_rows_all_the_same(tmp_path: Path) -> None:
    strokes = [stroke for stroke in frame(4) if stroke[1] != stroke[3] or stroke[1] in (715, 695, 635)]
    [found], _ = find(tmp_path / "a.pdf", [place(ROWS)], strokes)
    assert found.data["columns"] == ROWS[0]
    assert found.data["rows"] == tuple(ROWS[1:])


def test_each_page_asks_for_the_time_it_takes(tmp_path: Path) -> None:
    left = [True, True, False]
    with deadline_handler(lambda: left.pop(0)):
        found, texts = find(tmp_path / "a.pdf", [place(ROWS)] * 4)
    assert len(texts) == 4
    assert [item.page_number for item in found] == [1, 2]


def test_a_page_of_more_than_may_be_looked_at_ends_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_page_tables, "MAX_COST", 150)
    found, texts = find(tmp_path / "a.pdf", [place(ROWS)] * 3)
    assert len(texts) == 3
    assert [item.page_number for item in found] == [1, 2]


def test_numbers_that_people_dial_are_one_cell(tmp_path: Path) -> None:
    people = [
        ("Name", "Part", "Telephone"),
        ("Ann Lee", "Skipper", "030 555 0114"),
        ("Ben Ruiz-Alvarez", "Cook", "030 555 0190"),
    ]
    people += [("Carla Moor", "Deck", "030 555 0100"), ("Dan", "Ropes and sails", "030 555 0121")]

    [found], _ = find(tmp_path / "a.pdf", [place(people)])

    assert found.data["rows"] == tuple(people[1:])


def test_signs_of_money_in_a_column_of_their_own_go_with_the_figures(tmp_path: Path) -> None:
    rows = [("", "", "2024", "", "2023"), ("Fares", "$", "12,500", "$", "11,000"), ("Ropes", "", "410", "", "95")]
    rows += [("Paint", "", "88", "", "79"), ("All", "$", "12,998", "$", "11,174")]

    [found], _ = find(tmp_path / "a.pdf", [place(rows, columns=(60, 240, 280, 380, 420))])

    assert found.data["columns"] == ("", "2024", "2023")
    assert dict(enumerate(found.data["rows"]))[0] == ("Fares", "$12,500", "$11,000")


def test_a_name_in_the_middle_of_two_columns_heads_both(tmp_path: Path) -> None:
    names = ("Pier", "Number", "Share", "Number", "Share")
    rows = [("North", "14", "41", "9", "30"), ("South", "20", "59", "21", "70"), ("All", "34", "100", "30", "100")]
    above = [(255, 720, "Boats"), (395, 720, "Ropes")]

    [found], _ = find(tmp_path / "a.pdf", [[*above, *place([names, *rows], columns=(60, 220, 290, 360, 430))]])

    assert found.data["columns"] == ("Pier", "Boats Number", "Boats Share", "Ropes Number", "Ropes Share")


def test_a_page_at_whose_tables_the_reader_fails_costs_no_other_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_tables, looked_at = pdf_page_tables.find_tables, list[Layout]()

    def fail_once(layout: Layout) -> list[FoundTable]:
        looked_at.append(layout)
        return [min(())] if len(looked_at) == 1 else find_tables(layout)

    monkeypatch.setattr(pdf_page_tables, "find_tables", fail_once)
    path = tmp_path / "a.pdf"
    path.write_bytes(build_pdf([place(ROWS), place(ROWS)], strokes=frame(4)))
    document = build_document("harbour.pdf", kind="pdf", title="Harbour")
    pages = tuple(build_pages(document, *(page.text for page in PdfReader().read(path, tmp_path).pages)))

    found, unread = list(PdfTableExtractor().extract(ExtractorInput(document=document, pages=pages, path=path)))

    assert isinstance(unread, Unread) and unread.page_number == 1
    assert unread.reason.startswith("tables of this page are left out: its reader failed (ValueError: min()")
    assert isinstance(found, Found) and found.page_number == 2


ACCOUNTS = [
    ("", "2024", "2023"),
    ("", "$m", "$m"),
    ("Berth fees", "1,204", "1,310"),
    ("Crane hire", "88", "(12)"),
    ("Ice sales", "41", "39"),
    ("Repairs", "(7)", "(8)"),
    ("Surplus", "1,326", "1,329"),
]
NAMES = ("", "2024 $m", "2023 $m")


def test_boxes_that_shade_one_column_part_no_rows(tmp_path: Path) -> None:
    tops = [715 - 20 * row for row in range(2, len(ACCOUNTS) + 1)]
    shade: list[Stroke] = [(250, top, 390, top) for top in tops]
    sides: list[Stroke] = [(x, tops[-1], x, tops[0]) for x in (250, 390)]
    outside: list[Stroke] = [(50, tops[0], 250, tops[0]), (390, tops[0], 520, tops[0])]
    [found], _ = find(tmp_path / "a.pdf", [place(ACCOUNTS)], [*shade, *sides, *outside])
    assert found.data["columns"] == NAMES
    assert found.data["rows"] == tuple(ACCOUNTS[2:])


def test_boxes_around_figures_part_the_labels_beside_them(tmp_path: Path) -> None:
    tops = [715 - 20 * row for row in range(2, len(ACCOUNTS) + 1)]
    boxes: list[Stroke] = [(250, top, 520, top) for top in tops]
    sides: list[Stroke] = [(x, tops[-1], x, tops[0]) for x in (50, 250, 390, 520)]
    ends: list[Stroke] = [(50, top, 250, top) for top in (tops[0], tops[-1])]
    [found], _ = find(tmp_path / "a.pdf", [place(ACCOUNTS)], [*boxes, *sides, *ends])
    assert (found.data["columns"], found.data["rows"]) == (NAMES, tuple(ACCOUNTS[2:]))


def test_years_and_units_above_figures_name_their_columns(tmp_path: Path) -> None:
    [found], _ = find(tmp_path / "a.pdf", [place(ACCOUNTS)])
    assert (found.data["columns"], found.data["rows"]) == (NAMES, tuple(ACCOUNTS[2:]))
    [found], _ = find(tmp_path / "a.pdf", [place([("", "As at May", "As at May"), *ACCOUNTS])])
    assert found.data["columns"] == ("", "As at May 2024 $m", "As at May 2023 $m")
    assert found.data["rows"] == tuple(ACCOUNTS[2:])
    [found], _ = find(tmp_path / "a.pdf", [place([("", "May 3,", "May 4,"), ACCOUNTS[0], *ACCOUNTS[2:]])])
    assert (found.data["columns"], found.data["rows"]) == (("", "May 3, 2024", "May 4, 2023"), tuple(ACCOUNTS[2:]))
    rows = [(*row, "4%") for row in ACCOUNTS[2:]]
    names = [("", "As at May", "As at May", "2023 to 2024"), ("", "2024", "2023", "Change")]
    [found], _ = find(tmp_path / "a.pdf", [place([*names, *rows], columns=(60, 200, 320, 440))])
    assert found.data["columns"] == ("", "As at May 2024", "As at May 2023", "2023 to 2024 Change")


def test_dates_close_to_each_other_name_the_columns_far_below_them(tmp_path: Path) -> None:
    above = (230, 700, "May 31, 2024 May 31, 2023")
    [found], _ = find(tmp_path / "a.pdf", [[above, *place(ACCOUNTS[2:], top=640, columns=(60, 255, 315))]])
    assert found.data["columns"] == ("", "May 31, 2024", "May 31, 2023")


def test_a_part_without_names_takes_those_of_the_part_above_it(tmp_path: Path) -> None:
    upper, lower = ACCOUNTS[2:5], [("Loans", "310", "320"), ("Wages owed", "45", "51"), ("Bills owed", "7", "9")]
    page = [*place([ACCOUNTS[0], *upper]), (60, 600, "Owed to others"), *place(lower, top=540)]
    first, second = find(tmp_path / "a.pdf", [page])[0]
    assert first.data["columns"] == second.data["columns"] == ("", "2024", "2023")
    assert second.data["rows"] == tuple(lower)


def test_a_border_in_pieces_is_the_upper_one_of_a_table(tmp_path: Path) -> None:
    names = [("", "Budget", "Actual"), ("", "2024", "2024")]
    strokes: list[Stroke] = [(50, 715, 180, 715), (180, 715, 330, 715), (330, 715, 520, 715), (50, 675, 520, 675)]
    [found], _ = find(tmp_path / "a.pdf", [place([*names, *ACCOUNTS[2:]])], strokes)
    assert found.data["columns"] == ("", "Budget 2024", "Actual 2024")


def test_a_line_below_dates_parts_them_from_the_figures_that_they_name(tmp_path: Path) -> None:
    strokes: list[Stroke] = [(50, 695, 520, 695), (50, 675, 520, 675), (50, 655, 520, 655)]
    [found], _ = find(tmp_path / "a.pdf", [place([ACCOUNTS[0], *ACCOUNTS[2:]])], strokes)
    assert found.data["columns"] == ACCOUNTS[0]
    names = ("", "Budget", "Spent")
    [found], _ = find(tmp_path / "b.pdf", [place([names, *ACCOUNTS[2:]])], strokes)
    assert found.data["columns"] == names


def test_names_above_a_frame_name_its_columns(tmp_path: Path) -> None:
    [found], _ = find(tmp_path / "a.pdf", [place([ACCOUNTS[0], *ACCOUNTS[2:]])], frame(5, top=695))
    assert (found.data["columns"], found.data["rows"]) == (ACCOUNTS[0], tuple(ACCOUNTS[2:]))


def test_lines_around_figures_alone_leave_them_their_labels(tmp_path: Path) -> None:
    names = ("", "2024", "20231")  # with the mark of a note
    strokes = frame(6, top=715, edges=(250, 390, 520))
    [found], _ = find(tmp_path / "a.pdf", [place([names, *ACCOUNTS[2:]])], strokes)
    assert (found.data["columns"], found.data["rows"]) == (ACCOUNTS[0], tuple(ACCOUNTS[2:]))


def test_a_name_that_reaches_into_the_column_before_its_own_names_its_own(tmp_path: Path) -> None:
    names: list[Piece] = [(250, 700, "May 31, 2024"), (342, 700, "May 31, 2023")]
    rows = [(row[0], "$", row[1], "$", row[2]) for row in ACCOUNTS[2:]]
    [found], _ = find(tmp_path / "a.pdf", [[*names, *place(rows, top=680, columns=(60, 250, 300, 338, 390))]])
    assert found.data["columns"] == ("", "May 31, 2024", "May 31, 2023")


def test_names_that_come_again_below_figures_begin_a_table(tmp_path: Path) -> None:
    lower = [("Loans", "310", "320"), ("Wages owed", "45", "51"), ("Bills owed", "7", "9")]
    years = ("", "2022", "2021")
    first, second = find(tmp_path / "a.pdf", [place([ACCOUNTS[0], *ACCOUNTS[2:], years, *lower])])[0]
    assert (first.data["columns"], first.data["rows"]) == (ACCOUNTS[0], tuple(ACCOUNTS[2:]))
    assert (second.data["columns"], second.data["rows"]) == (years, tuple(lower))
    names = ("Boats", "North", "South", "Total")
    rows = [(row[0], row[1], row[2], row[1]) for row in ACCOUNTS[2:]]
    places = (60, 200, 320, 440)
    found, _ = find(tmp_path / "b.pdf", [place([names, *rows, names, *rows], columns=places)])
    assert [(each.data["columns"], each.data["rows"]) for each in found] == [(names, tuple(rows))] * 2
